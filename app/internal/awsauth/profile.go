package awsauth

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// A Kind is where the credentials of a profile come from.
type Kind string

// The kinds.
const (
	KindKeys        Kind = "keys"         // a key in the keychain
	KindSSO         Kind = "sso"          // IAM Identity Center
	KindRole        Kind = "role"         // a role, with the credentials of another profile
	KindWebIdentity Kind = "web-identity" // a role, with a token in a file
	KindProcess     Kind = "process"      // a command that prints credentials
	KindShared      Kind = "shared"       // a profile of ~/.aws, as it is
	KindMetadata    Kind = "metadata"     // the container or the machine that this runs on
	KindEnvironment Kind = "environment"  // variables, then ~/.aws, then metadata
)

// Kinds are all kinds.
var Kinds = []Kind{KindKeys, KindSSO, KindRole, KindWebIdentity, KindProcess, KindShared, KindMetadata, KindEnvironment}

// The ways to log in to IAM Identity Center.
const (
	FlowCode   = "code"   // in the browser of this computer, which comes back to us
	FlowDevice = "device" // in any browser, with a code to compare
)

// A Profile is an account, as whom to use it, and where its sandboxes run. It
// holds no secret.
type Profile struct {
	Name   string `json:"name"`
	Kind   Kind   `json:"kind"`
	Region string `json:"region,omitempty"` // may come from ~/.aws or the environment

	// Keys and roles.
	MFASerial       string `json:"mfa_serial,omitempty"`
	DurationSeconds int    `json:"duration_seconds,omitempty"` // of a session; 0 is an hour, 12 with MFA
	NoSession       bool   `json:"no_session,omitempty"`       // sign with the key itself: some calls to IAM want that

	// IAM Identity Center. Logins are shared with the AWS CLI by the name of the
	// session or, without one, by the start URL.
	StartURL   string `json:"sso_start_url,omitempty"`
	SSORegion  string `json:"sso_region,omitempty"`
	SSOSession string `json:"sso_session,omitempty"`
	SSOAccount string `json:"sso_account_id,omitempty"`
	SSORole    string `json:"sso_role_name,omitempty"`
	SSOFlow    string `json:"sso_flow,omitempty"` // "" is what can be done here

	// Roles.
	RoleARN     string `json:"role_arn,omitempty"`
	Source      string `json:"source_profile,omitempty"` // one of our profiles, perhaps a role itself
	ExternalID  string `json:"external_id,omitempty"`
	SessionName string `json:"role_session_name,omitempty"`
	TokenFile   string `json:"web_identity_token_file,omitempty"`

	Command       string `json:"credential_process,omitempty"`
	SharedProfile string `json:"shared_profile,omitempty"` // of ~/.aws; "" is default

	// Where sandboxes run.
	Template string `json:"template,omitempty"` // image, by name or ARN
	Version  string `json:"version,omitempty"`  // of the image; "" is the newest that is active
	Role     string `json:"role,omitempty"`     // ARN of the execution role
	Endpoint string `json:"endpoint,omitempty"` // of the MicroVMs API, in place of that of the region
}

// Validate checks that a profile says what its kind needs. It looks at nothing
// else: files and accounts may be missing still.
func (p Profile) Validate() error {
	var need map[string]string
	switch p.Kind {
	case KindKeys, KindShared, KindMetadata, KindEnvironment:
	case KindSSO:
		need = map[string]string{"sso_start_url": p.StartURL, "sso_region": p.SSORegion, "sso_account_id": p.SSOAccount, "sso_role_name": p.SSORole}
	case KindRole:
		need = map[string]string{"role_arn": p.RoleARN, "source_profile": p.Source}
	case KindWebIdentity:
		need = map[string]string{"role_arn": p.RoleARN, "web_identity_token_file": p.TokenFile}
	case KindProcess:
		need = map[string]string{"credential_process": p.Command}
	default:
		return &ErrConfig{Profile: p.Name, Why: "there is no kind " + string(p.Kind)}
	}
	if missing := blank(need); missing != "" {
		return &ErrConfig{Profile: p.Name, Why: "it lacks " + missing}
	}
	for _, region := range []string{p.Region, p.SSORegion} {
		if region != "" && !isRegion(region) {
			return &ErrConfig{Profile: p.Name, Why: noRegion(region)}
		}
	}
	switch {
	case p.SSOFlow != "" && p.SSOFlow != FlowCode && p.SSOFlow != FlowDevice:
		return &ErrConfig{Profile: p.Name, Why: "sso_flow is neither " + FlowCode + " nor " + FlowDevice}
	case p.DurationSeconds != 0 && (p.DurationSeconds < 900 || p.DurationSeconds > 129600):
		return &ErrConfig{Profile: p.Name, Why: "duration_seconds is not between 900 and 129600"}
	case strings.ContainsAny(p.Name, "\r\n\x00"):
		return &ErrConfig{Why: "the name of a profile holds a line break"}
	}
	return nil
}

var regionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9](-?[a-z0-9]+){0,15}$`) })

// isRegion reports whether text may be the name of a region. It becomes a part of
// the names of hosts that get signed requests.
func isRegion(text string) bool { return len(text) <= 63 && regionForm().MatchString(text) }

func noRegion(text string) string {
	return fmt.Sprintf("%q is no region", text)
}

// label is what messages call a profile.
func (p Profile) label() string {
	switch {
	case p.Name != "":
		return p.Name
	case p.SharedProfile != "":
		return p.SharedProfile
	case p.Kind == KindShared:
		return defaultProfile
	}
	return string(p.Kind)
}

// defaultProfile is the one of ~/.aws that is meant when none is named.
const defaultProfile = "default"
