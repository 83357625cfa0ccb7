package wire

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Validate checks the members.
func (in *CreateMicrovmImageInput) Validate() error {
	var c checker
	if c.require("name", in.Name != nil) {
		c.text("name", in.Name, 1, MaxImageName)
		if !chars(*in.Name, "-_") {
			c.add("name", "Member must satisfy regular expression pattern: [a-zA-Z0-9-_]+")
		}
	}
	c.tags("tags", in.Tags)
	c.build(buildMembers{
		in.BaseImageArn, in.BaseImageVersion, in.BuildRoleArn, in.CodeArtifact, in.Logging, in.EgressNetworkConnectors,
		in.CpuConfigurations, in.Resources, in.AdditionalOsCapabilities, in.Hooks, in.EnvironmentVariables, in.ClientToken,
	})
	return c.err()
}

// Validate checks the members.
func (in *UpdateMicrovmImageInput) Validate() error {
	var c checker
	c.identifier("imageIdentifier", in.ImageIdentifier)
	c.build(buildMembers{
		in.BaseImageArn, in.BaseImageVersion, in.BuildRoleArn, in.CodeArtifact, in.Logging, in.EgressNetworkConnectors,
		in.CpuConfigurations, in.Resources, in.AdditionalOsCapabilities, in.Hooks, in.EnvironmentVariables, in.ClientToken,
	})
	return c.err()
}

// buildMembers are the members that making and updating an image share.
type buildMembers struct {
	baseImageArn, baseImageVersion, buildRoleArn *string
	codeArtifact                                 *CodeArtifact
	logging                                      *Logging
	egress                                       []string
	cpus                                         []CpuConfiguration
	resources                                    []Resources
	capabilities                                 []Capability
	hooks                                        *Hooks
	env                                          Secrets
	clientToken                                  *string
}

func (c *checker) build(b buildMembers) {
	if c.require("baseImageArn", b.baseImageArn != nil) {
		c.text("baseImageArn", b.baseImageArn, 1, MaxVersion)
	}
	c.version("baseImageVersion", b.baseImageVersion)
	if c.require("buildRoleArn", b.buildRoleArn != nil) {
		c.text("buildRoleArn", b.buildRoleArn, MinRoleArn, MaxRoleArn)
	}
	if c.require("codeArtifact", b.codeArtifact != nil) && c.union("codeArtifact", "uri", b.codeArtifact.URI != nil) {
		c.text("codeArtifact.uri", b.codeArtifact.URI, 1, MaxURI)
	}
	c.logging(b.logging)
	c.connectors("egressNetworkConnectors", b.egress, MaxEgressConnectors)
	for i, cpu := range b.cpus {
		member := fmt.Sprintf("cpuConfigurations.%d.member.architecture", i+1)
		c.require(member, cpu.Architecture != "")
		oneOf(c, member, cpu.Architecture, ArchitectureArm64)
	}
	c.length("resources", len(b.resources), 0, 1)
	for i, r := range b.resources {
		member := fmt.Sprintf("resources.%d.member.minimumMemoryInMiB", i+1)
		if c.require(member, r.MinimumMemoryInMiB != nil) && !slices.Contains(MemorySizes(), *r.MinimumMemoryInMiB) {
			c.add(member, "Member must be one of 512, 1024, 2048, 4096, 8192")
		}
	}
	for i, capability := range b.capabilities {
		oneOf(c, fmt.Sprintf("additionalOsCapabilities.%d.member", i+1), capability, CapabilityAll)
	}
	c.hooks(b.hooks)
	c.environment(b.env)
	c.text("clientToken", b.clientToken, 1, MaxClientToken)
}

func (c *checker) hooks(h *Hooks) {
	if h == nil {
		return
	}
	c.number("hooks.port", h.Port, 1, MaxPort)
	enabled := false
	check := func(member string, state HookState, timeout *int32, max int32) {
		oneOf(c, member, state, HookStateDisabled, HookStateEnabled)
		c.number(member+"TimeoutInSeconds", timeout, 1, max)
		enabled = enabled || state == HookStateEnabled
	}
	if m := h.MicrovmHooks; m != nil {
		check("hooks.microvmHooks.run", m.Run, m.RunTimeoutInSeconds, MaxHookSeconds)
		check("hooks.microvmHooks.resume", m.Resume, m.ResumeTimeoutInSeconds, MaxHookSeconds)
		check("hooks.microvmHooks.suspend", m.Suspend, m.SuspendTimeoutInSeconds, MaxHookSeconds)
		check("hooks.microvmHooks.terminate", m.Terminate, m.TerminateTimeoutInSeconds, MaxHookSeconds)
	}
	runtime := enabled
	ready := false
	if m := h.MicrovmImageHooks; m != nil {
		check("hooks.microvmImageHooks.ready", m.Ready, m.ReadyTimeoutInSeconds, MaxImageHookSeconds)
		check("hooks.microvmImageHooks.validate", m.Validate, m.ValidateTimeoutInSeconds, MaxImageHookSeconds)
		ready = m.Ready == HookStateEnabled
	}
	if enabled {
		c.require("hooks.port", h.Port != nil)
	}
	if runtime && !ready {
		c.add("hooks.microvmImageHooks.ready", "The ready hook must be enabled when any of run, resume, suspend and terminate is")
	}
}

// environment names no keys in its problems: they are as sensitive as values.
func (c *checker) environment(env Secrets) {
	c.length("environmentVariables", len(env), 0, MaxEnvironment)
	for k, v := range env {
		before := len(c.problems)
		c.text("environmentVariables.key", &k, 1, MaxEnvironmentKey)
		if strings.ContainsFunc(k, unicode.IsSpace) {
			c.add("environmentVariables.key", "Member must not contain spaces")
		}
		if k == "AWS_REGION" {
			c.add("environmentVariables.key", "AWS_REGION is a reserved key")
		}
		c.text("environmentVariables.value", &v, 0, MaxEnvironmentValue)
		if len(c.problems) > before {
			return // one bad entry is enough, and the order of the map is none
		}
	}
}

func (c *checker) tags(member string, tags map[string]string) {
	bad := func(s string) bool {
		return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsSpace(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_.:/=+-@", r)
		})
	}
	for k, v := range tags {
		before := len(c.problems)
		c.text(member+".key", &k, 1, MaxTagKey)
		c.text(member+".value", &v, 0, MaxTagValue)
		if bad(k) || bad(v) {
			c.add(member, "Member must satisfy regular expression pattern: [\\p{L}\\p{Z}\\p{N}_.:/=+\\-@]*")
		}
		if len(c.problems) > before {
			return
		}
	}
}

// Validate checks the members.
func (in *GetMicrovmImageInput) Validate() error { return oneImageOf(in.ImageIdentifier) }

// Validate checks the members.
func (in *DeleteMicrovmImageInput) Validate() error { return oneImageOf(in.ImageIdentifier) }

func oneImageOf(id *string) error {
	var c checker
	c.identifier("imageIdentifier", id)
	return c.err()
}

// Validate checks the members.
func (in *ListMicrovmImagesInput) Validate() error {
	var c checker
	c.page(in.MaxResults, in.NextToken)
	return c.err()
}

// Validate checks the members.
func (in *GetMicrovmImageVersionInput) Validate() error {
	return oneVersion(in.ImageIdentifier, in.ImageVersion).err()
}

// Validate checks the members.
func (in *DeleteMicrovmImageVersionInput) Validate() error {
	return oneVersion(in.ImageIdentifier, in.ImageVersion).err()
}

// Validate checks the members.
func (in *UpdateMicrovmImageVersionInput) Validate() error {
	c := oneVersion(in.ImageIdentifier, in.ImageVersion)
	c.require("status", in.Status != "")
	oneOf(c, "status", in.Status, MicrovmImageVersionStatusActive, MicrovmImageVersionStatusInactive)
	return c.err()
}

func oneVersion(image, version *string) *checker {
	c := new(checker)
	c.identifier("imageIdentifier", image)
	if c.require("imageVersion", version != nil) {
		c.version("imageVersion", version)
	}
	return c
}

// Validate checks the members.
func (in *ListMicrovmImageVersionsInput) Validate() error {
	return imagePage(in.ImageIdentifier, in.MaxResults, in.NextToken)
}

// Validate checks the members.
func (in *ListManagedMicrovmImageVersionsInput) Validate() error {
	return imagePage(in.ImageIdentifier, in.MaxResults, in.NextToken)
}

func imagePage(image *string, maxResults *int32, nextToken *string) error {
	var c checker
	c.identifier("imageIdentifier", image)
	c.page(maxResults, nextToken)
	return c.err()
}

// Validate checks the members.
func (in *ListManagedMicrovmImagesInput) Validate() error {
	var c checker
	c.page(in.MaxResults, in.NextToken)
	return c.err()
}

// Validate checks the members.
func (in *GetMicrovmImageBuildInput) Validate() error {
	c := oneVersion(in.ImageIdentifier, in.ImageVersion)
	c.identifier("buildId", in.BuildId)
	return c.err()
}

// Validate checks the members.
func (in *ListMicrovmImageBuildsInput) Validate() error {
	c := oneVersion(in.ImageIdentifier, in.ImageVersion)
	oneOf(c, "architecture", in.Architecture, ArchitectureArm64)
	oneOf(c, "chipset", in.Chipset, ChipsetGraviton)
	c.page(in.MaxResults, in.NextToken)
	return c.err()
}

// Validate checks the members.
func (in *ListTagsInput) Validate() error {
	var c checker
	c.resource(in.Resource)
	return c.err()
}

// Validate checks the members.
func (in *TagResourceInput) Validate() error {
	var c checker
	c.resource(in.Resource)
	c.require("Tags", in.Tags != nil)
	c.tags("Tags", in.Tags)
	return c.err()
}

// Validate checks the members.
func (in *UntagResourceInput) Validate() error {
	var c checker
	c.resource(in.Resource)
	c.require("tagKeys", in.TagKeys != nil)
	for _, k := range in.TagKeys {
		c.text("tagKeys.member", &k, 1, MaxTagKey)
	}
	return c.err()
}

func (c *checker) resource(arn *string) {
	if c.require("Resource", arn != nil) {
		c.text("Resource", arn, 1, MaxIdentifier)
	}
}
