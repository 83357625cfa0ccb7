package awsauth

import (
	"cmp"
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

func inContainer(env map[string]string) bool {
	return env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] != "" || env["AWS_CONTAINER_CREDENTIALS_FULL_URI"] != ""
}

// metadata returns the provider for what this runs on.
func (c *chain) metadata() (aws.CredentialsProvider, error) {
	if inContainer(c.a.deps.Env) {
		return c.container()
	}
	return c.instance(), nil
}

func (c *chain) container() (aws.CredentialsProvider, error) {
	env := c.a.deps.Env
	at := "http://169.254.170.2" + env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"]
	if env["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] == "" {
		at = env["AWS_CONTAINER_CREDENTIALS_FULL_URI"]
		u, err := url.Parse(at)
		if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !nearby(u.Hostname())) {
			return nil, &ErrConfig{Profile: c.label(), Why: "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this computer or its container service"}
		}
	}
	return blamed{c.label(), "ask the container service", endpointcreds.New(at, func(o *endpointcreds.Options) {
		o.HTTPClient = plainly(c.client)
		o.AuthorizationToken = env["AWS_CONTAINER_AUTHORIZATION_TOKEN"]
		if file := env["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"]; file != "" {
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
				b, err := readFile(file)
				return string(b), err
			})
		}
	})}, nil
}

// nearby reports whether credentials may be asked for at host without TLS, as
// the SDK has it.
func nearby(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && (ip.IsLoopback() || slices.Contains([]string{"169.254.170.2", "169.254.170.23", "fd00:ec2::23"}, ip.String()))
}

func (c *chain) instance() aws.CredentialsProvider {
	env, sc := c.a.deps.Env, c.shared
	o := imds.Options{
		HTTPClient:        plainly(c.client),
		ClientEnableState: imds.ClientEnabled, // said, so that this process' variables are not asked
		Endpoint:          cmp.Or(env["AWS_EC2_METADATA_SERVICE_ENDPOINT"], "http://169.254.169.254"),
		EnableFallback:    aws.FalseTernary, // version 1 answers anyone who can make this computer send a GET
	}
	if strings.EqualFold(env["AWS_EC2_METADATA_DISABLED"], "true") {
		o.ClientEnableState = imds.ClientDisabled
	}
	if sc != nil && env["AWS_EC2_METADATA_SERVICE_ENDPOINT"] == "" {
		switch {
		case sc.EC2IMDSEndpoint != "":
			o.Endpoint = sc.EC2IMDSEndpoint
		case sc.EC2IMDSEndpointMode == imds.EndpointModeStateIPv6:
			o.Endpoint = "http://[fd00:ec2::254]"
		}
	}
	return blamed{c.label(), "ask the instance metadata service", ec2rolecreds.New(func(e *ec2rolecreds.Options) { e.Client = imds.New(o) })}
}
