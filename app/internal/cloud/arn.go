package cloud

import (
	"regexp"
	"strings"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// ManagedImage is the name of the base image that AWS itself would keep.
const ManagedImage = "al2023-1"

// connectorManaged are the connectors that every account has, by direction.
var connectorManaged = map[string]string{
	"HTTP_INGRESS":    "ingress",
	"SHELL_INGRESS":   "ingress",
	"ALL_INGRESS":     "ingress",
	"NO_INGRESS":      "ingress",
	"INTERNET_EGRESS": "egress",
}

var (
	imageName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	accountID = regexp.MustCompile(`^([0-9]{12}|aws)$`)
	roleArn   = regexp.MustCompile(`^arn:aws[a-zA-Z-]*:iam::[0-9]{12}:role/?[a-zA-Z0-9_+=,.@/-]+$`)
)

// An imageArn is an image ARN taken apart.
type imageArn struct {
	region, account, name string
}

// ImageARN is the identifier of an image of this account.
func (s *Server) ImageARN(name string) string {
	return "arn:aws:lambda:" + s.cfg.Region + ":" + s.cfg.Account + ":microvm-image:" + name
}

func (s *Server) managedArn() string {
	return "arn:aws:lambda:" + s.cfg.Region + ":aws:microvm-image:" + ManagedImage
}

func (s *Server) connectorArn(suffix string) string {
	return "arn:aws:lambda:" + s.cfg.Region + ":aws:network-connector:aws-network-connector:" + suffix
}

// parseImageArn takes an ARN apart. Everything but an ARN of an image is
// refused, and so is one of another region or account: those are denied, as
// nobody granted them.
func (s *Server) parseImageArn(text, complaint string) (imageArn, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 6 && parts[0] == "arn" && strings.HasPrefix(parts[5], "microvm-image/") {
		return imageArn{}, denied() // what AWS says of a slash in the place of the last colon
	}
	if len(parts) != 7 || parts[0] != "arn" || !strings.HasPrefix(parts[1], "aws") || parts[2] != "lambda" ||
		parts[5] != "microvm-image" || !accountID.MatchString(parts[4]) || !imageName.MatchString(parts[6]) {
		return imageArn{}, invalid("%s: %s", complaint, printable(text))
	}
	arn := imageArn{parts[3], parts[4], parts[6]}
	if arn.region != s.cfg.Region || arn.account != s.cfg.Account && arn.account != "aws" {
		return imageArn{}, denied()
	}
	return arn, nil
}

func denied() error {
	return newError(wire.AccessDenied, "User is not authorized to perform this operation on the resource.")
}

// checkConnectors refuses lists that AWS refuses. direction is "ingress" or
// "egress".
func (s *Server) checkConnectors(direction string, list []string) error {
	seen := map[string]bool{}
	for _, arn := range list {
		parts := strings.Split(arn, ":")
		if len(parts) < 7 || parts[0] != "arn" || parts[2] != "lambda" || parts[5] != "network-connector" || !accountID.MatchString(parts[4]) {
			return invalid("Malformed network connector ARN: %s", printable(arn))
		}
		if parts[4] != "aws" {
			continue
		}
		name := parts[len(parts)-1]
		if len(parts) != 8 || parts[3] != s.cfg.Region || parts[6] != "aws-network-connector" || connectorManaged[name] != direction {
			return invalid("Unrecognized managed network connector: %s", printable(arn))
		}
		seen[name] = true
	}
	if seen["NO_INGRESS"] && len(list) > 1 {
		return invalid("NO_INGRESS cannot be combined with other ingress network connectors.")
	}
	return nil
}

// connectorName is the suffix of a managed connector, or nothing.
func connectorName(arn string) string {
	parts := strings.Split(arn, ":")
	if len(parts) == 8 && parts[4] == "aws" {
		return parts[7]
	}
	return ""
}

func checkRole(member, arn string) error {
	if !roleArn.MatchString(arn) {
		return invalid("1 validation error detected: Value at '%s' failed to satisfy constraint: Member must be the ARN of an IAM role", member)
	}
	return nil
}
