package microvm

import (
	"context"
	"os"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// What the sources of a configuration may know; the SDK asks them the same.
type (
	endpointSource interface {
		GetServiceBaseEndpoint(ctx context.Context, sdkID string) (string, bool, error)
	}
	ignoreSource interface {
		GetIgnoreConfiguredEndpoints(ctx context.Context) (bool, bool, error)
	}
	dualStackSource interface {
		GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error)
	}
	fipsSource interface {
		GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error)
	}
)

func fromConfig(cfg aws.Config) Options {
	o := Options{
		Region:           cfg.Region,
		Credentials:      cfg.Credentials,
		BaseEndpoint:     baseEndpoint(cfg),
		RetryMode:        cfg.RetryMode,
		RetryMaxAttempts: cfg.RetryMaxAttempts,
		AppID:            cfg.AppID,
		APIOptions:       cfg.APIOptions,
		Logger:           cfg.Logger,
		ClientLogMode:    cfg.ClientLogMode,
	}
	if cfg.HTTPClient != nil {
		o.HTTPClient = cfg.HTTPClient
	}
	if cfg.Retryer != nil {
		o.Retryer = cfg.Retryer()
	}
	for _, src := range cfg.ConfigSources {
		if s, ok := src.(dualStackSource); ok && o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateUnset {
			if v, found, err := s.GetUseDualStackEndpoint(context.Background()); found && err == nil {
				o.EndpointOptions.UseDualStackEndpoint = v
			}
		}
		if s, ok := src.(fipsSource); ok && o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateUnset {
			if v, found, err := s.GetUseFIPSEndpoint(context.Background()); found && err == nil {
				o.EndpointOptions.UseFIPSEndpoint = v
			}
		}
	}
	return o
}

// baseEndpoint finds the endpoint that the user configured. The variables are
// read here too, since a configuration that was put together by hand has no
// sources.
func baseEndpoint(cfg aws.Config) *string {
	if ignoresEndpoints(cfg) {
		return cfg.BaseEndpoint
	}
	if v := os.Getenv("AWS_ENDPOINT_URL_LAMBDA_MICROVMS"); v != "" {
		return &v
	}
	if v := os.Getenv("AWS_ENDPOINT_URL"); v != "" {
		return &v
	}
	for _, src := range cfg.ConfigSources {
		if s, ok := src.(endpointSource); ok {
			if v, found, err := s.GetServiceBaseEndpoint(context.Background(), ServiceID); found && err == nil {
				return &v
			}
		}
	}
	return cfg.BaseEndpoint
}

func ignoresEndpoints(cfg aws.Config) bool {
	for _, src := range cfg.ConfigSources {
		if s, ok := src.(ignoreSource); ok {
			if v, found, err := s.GetIgnoreConfiguredEndpoints(context.Background()); found && err == nil {
				return v
			}
		}
	}
	v, _ := strconv.ParseBool(os.Getenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"))
	return v
}
