package cloud

import (
	"maps"
	"strings"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// baseVersions are those of the managed base image, newest first.
var baseVersions = []string{"1", "0"}

// checkConfig checks what the shapes alone do not say, and fills in what AWS
// would.
func (s *Server) checkConfig(c versionConfig) (versionConfig, error) {
	base, err := s.parseImageArn(*c.BaseImageArn, "Invalid ARN format")
	if err != nil {
		return c, err
	}
	switch {
	case base.account != "aws":
		return c, invalid("baseImageArn must be a managed base MicroVM image: %s", printable(*c.BaseImageArn))
	case base.name != ManagedImage:
		return c, notFound(kindImage, *c.BaseImageArn)
	}
	number := baseVersions[0]
	if c.BaseImageVersion != nil {
		number = *c.BaseImageVersion
		known := false
		for _, v := range baseVersions {
			known = known || v == number
		}
		if !known {
			return c, invalid("Invalid baseMicroVMImageVersion: %s", printable(number))
		}
	}
	c.BaseImageVersion = new(number + ".0")
	if err := checkRole("buildRoleArn", *c.BuildRoleArn); err != nil {
		return c, err
	}
	if !s3URI().MatchString(*c.CodeArtifact.URI) {
		return c, invalid("codeArtifact.uri must be a valid S3 URI of the form s3://bucket/key")
	}
	if err := s.checkConnectors("egress", c.EgressNetworkConnectors); err != nil {
		return c, err
	}
	for key := range c.EnvironmentVariables {
		if strings.ContainsAny(key, "=\x00") {
			return c, invalid("1 validation error detected: Value at 'environmentVariables.key' failed to satisfy constraint: Member must not contain '='")
		}
	}
	c.EnvironmentVariables = maps.Clone(c.EnvironmentVariables)
	return c, nil
}

// describeNew is the answer to a call that made img.
func (s *Server) describeNew(img *image) wire.CreateMicrovmImageOutput {
	now := s.cfg.Clock.Now()
	v := img.Versions[len(img.Versions)-1]
	active, failed := img.latest(now)
	c := v.Config
	return wire.CreateMicrovmImageOutput{
		ImageArn:                 new(s.ImageARN(img.Name)),
		Name:                     new(img.Name),
		State:                    wire.MicrovmImageStateCreating,
		ImageVersion:             new(v.Number),
		CreatedAt:                new(img.CreatedAt),
		LatestActiveImageVersion: active.number(),
		LatestFailedImageVersion: failed.number(),
		BaseImageArn:             c.BaseImageArn,
		BaseImageVersion:         c.BaseImageVersion,
		BuildRoleArn:             c.BuildRoleArn,
		CodeArtifact:             c.CodeArtifact,
		Description:              c.Description,
		Logging:                  c.Logging,
		EgressNetworkConnectors:  c.EgressNetworkConnectors,
		CpuConfigurations:        c.CPUConfigurations,
		Resources:                c.Resources,
		AdditionalOsCapabilities: c.AdditionalOsCapabilities,
		Hooks:                    c.Hooks,
		EnvironmentVariables:     c.EnvironmentVariables,
		Tags:                     maps.Clone(img.Tags),
	}
}

// describeUpdated is the answer to a call that made another version of img.
func (s *Server) describeUpdated(img *image) wire.UpdateMicrovmImageOutput {
	now := s.cfg.Clock.Now()
	v := img.Versions[len(img.Versions)-1]
	active, failed := img.latest(now)
	c := v.Config
	return wire.UpdateMicrovmImageOutput{
		ImageArn:                 new(s.ImageARN(img.Name)),
		Name:                     new(img.Name),
		State:                    wire.MicrovmImageStateUpdating,
		ImageVersion:             new(v.Number),
		CreatedAt:                new(img.CreatedAt),
		UpdatedAt:                img.UpdatedAt,
		LatestActiveImageVersion: active.number(),
		LatestFailedImageVersion: failed.number(),
		BaseImageArn:             c.BaseImageArn,
		BaseImageVersion:         c.BaseImageVersion,
		BuildRoleArn:             c.BuildRoleArn,
		CodeArtifact:             c.CodeArtifact,
		Description:              c.Description,
		Logging:                  c.Logging,
		EgressNetworkConnectors:  c.EgressNetworkConnectors,
		CpuConfigurations:        c.CPUConfigurations,
		Resources:                c.Resources,
		AdditionalOsCapabilities: c.AdditionalOsCapabilities,
		Hooks:                    c.Hooks,
		EnvironmentVariables:     c.EnvironmentVariables,
	}
}
