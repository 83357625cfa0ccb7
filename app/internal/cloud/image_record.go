package cloud

import (
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// LocalImage is the image that is always there.
const LocalImage = "arenero-local"

// templateBucket makes the artifact s3://arenero-templates/NAME stand for the
// jail template NAME. Any other artifact is taken for the standard template:
// nothing is built here.
const templateBucket = "s3://arenero-templates/"

// An image is the record of an image. How far its versions are follows from
// the clock alone, so a restart of the cloud changes nothing.
type image struct {
	Name      string            `json:"name"`
	Builtin   bool              `json:"builtin,omitempty"`
	CreatedAt time.Time         `json:"createdAt"`
	UpdatedAt *time.Time        `json:"updatedAt,omitempty"`
	Tags      map[string]string `json:"tags,omitempty"`
	Made      int               `json:"made"` // versions ever made, which is also the highest number
	Versions  []*version        `json:"versions"`
	GoneAt    *time.Time        `json:"goneAt,omitempty"` // when its removal is complete
}

// A version is the record of a version of an image.
type version struct {
	Number    string                         `json:"number"` // "3.0"
	CreatedAt time.Time                      `json:"createdAt"`
	UpdatedAt *time.Time                     `json:"updatedAt,omitempty"`
	DoneAt    time.Time                      `json:"doneAt"`           // when its builds end
	Reason    string                         `json:"reason,omitempty"` // of their failure; empty if they succeed
	Status    wire.MicrovmImageVersionStatus `json:"status,omitempty"` // as set by a call; empty until then
	GoneAt    *time.Time                     `json:"goneAt,omitempty"` // when its removal is complete
	Builds    []build                        `json:"builds"`
	Config    versionConfig                  `json:"config"`
}

// A build is one of the builds of a version; there is one for each generation
// of the chipset.
type build struct {
	ID         string `json:"id"`
	Generation string `json:"generation"`
}

// versionConfig is what making and updating an image share.
type versionConfig struct {
	BaseImageArn             *string                 `json:"baseImageArn,omitempty"`
	BaseImageVersion         *string                 `json:"baseImageVersion,omitempty"`
	BuildRoleArn             *string                 `json:"buildRoleArn,omitempty"`
	CodeArtifact             *wire.CodeArtifact      `json:"codeArtifact,omitempty"`
	Description              *string                 `json:"description,omitempty"`
	Logging                  *wire.Logging           `json:"logging,omitempty"`
	EgressNetworkConnectors  []string                `json:"egressNetworkConnectors,omitzero"`
	CPUConfigurations        []wire.CpuConfiguration `json:"cpuConfigurations,omitzero"`
	Resources                []wire.Resources        `json:"resources,omitzero"`
	AdditionalOsCapabilities []wire.Capability       `json:"additionalOsCapabilities,omitzero"`
	Hooks                    *wire.Hooks             `json:"hooks,omitempty"`
	EnvironmentVariables     wire.Secrets            `json:"environmentVariables,omitzero"`
}

// state is how far the version is.
func (v *version) state(now time.Time) wire.MicrovmImageVersionState {
	switch {
	case v.GoneAt != nil:
		return wire.MicrovmImageVersionStateDeleting
	case !now.Before(v.DoneAt) && v.Reason != "":
		return wire.MicrovmImageVersionStateFailed
	case !now.Before(v.DoneAt):
		return wire.MicrovmImageVersionStateSuccessful
	case now.Sub(v.CreatedAt) < v.DoneAt.Sub(v.CreatedAt)/10:
		return wire.MicrovmImageVersionStatePending
	default:
		return wire.MicrovmImageVersionStateInProgress
	}
}

// status is whether VMs may be started from the version: a new one becomes
// ACTIVE by itself when it is built.
func (v *version) status(now time.Time) wire.MicrovmImageVersionStatus {
	if v.state(now) == wire.MicrovmImageVersionStateSuccessful {
		return orDefault(v.Status, wire.MicrovmImageVersionStatusActive)
	}
	return wire.MicrovmImageVersionStatusInactive
}

func (v *version) buildState(now time.Time) wire.BuildState {
	switch v.state(now) {
	case wire.MicrovmImageVersionStatePending:
		return wire.BuildStatePending
	case wire.MicrovmImageVersionStateInProgress:
		return wire.BuildStateInProgress
	case wire.MicrovmImageVersionStateFailed:
		return wire.BuildStateFailed
	}
	if v.Reason != "" {
		return wire.BuildStateFailed
	}
	return wire.BuildStateSuccessful
}

func (v *version) building(now time.Time) bool {
	s := v.state(now)
	return s == wire.MicrovmImageVersionStatePending || s == wire.MicrovmImageVersionStateInProgress
}

// major is the number of the version, for comparing.
func (v *version) major() int {
	n, _ := strconv.Atoi(strings.TrimSuffix(v.Number, ".0"))
	return n
}

func (v *version) memory() int {
	if len(v.Config.Resources) > 0 {
		return int(*v.Config.Resources[0].MinimumMemoryInMiB)
	}
	return wire.DefaultMemory
}

func (v *version) hooks() wire.Hooks {
	if v.Config.Hooks == nil {
		return wire.Hooks{}
	}
	return *v.Config.Hooks
}

// template is the name of the jail template that VMs of the version are made
// from.
func (v *version) template() string {
	if v.Config.CodeArtifact != nil && v.Config.CodeArtifact.URI != nil {
		if name, ok := strings.CutPrefix(*v.Config.CodeArtifact.URI, templateBucket); ok {
			return name
		}
	}
	return LocalImage
}

// settle drops versions whose removal is complete, and reports whether the
// image itself is gone.
func (i *image) settle(now time.Time) (gone bool) {
	kept := i.Versions[:0]
	for _, v := range i.Versions {
		if v.GoneAt == nil || now.Before(*v.GoneAt) {
			kept = append(kept, v)
		}
	}
	i.Versions = kept
	return i.GoneAt != nil && !now.Before(*i.GoneAt)
}

// state is the image's own, which follows from its versions.
func (i *image) state(now time.Time) wire.MicrovmImageState {
	busy, done, failed := wire.MicrovmImageStateUpdating, wire.MicrovmImageStateUpdated, wire.MicrovmImageStateUpdateFailed
	if i.Made == 1 {
		done, failed = wire.MicrovmImageStateCreated, wire.MicrovmImageStateCreateFailed
	}
	if i.GoneAt != nil {
		return wire.MicrovmImageStateDeleting
	}
	result := done
	for _, v := range i.Versions {
		switch {
		case v.building(now) && i.Made == 1:
			return wire.MicrovmImageStateCreating
		case v.building(now), v.GoneAt != nil:
			return busy
		case v.major() == i.Made && v.Reason != "":
			result = failed
		}
	}
	return result
}

// latest returns the highest version that is active, and the highest that
// failed.
func (i *image) latest(now time.Time) (active, failed *version) {
	for _, v := range i.Versions { // lowest first
		if v.status(now) == wire.MicrovmImageVersionStatusActive {
			active = v
		}
		if v.state(now) == wire.MicrovmImageVersionStateFailed {
			failed = v
		}
	}
	return active, failed
}

// find returns a version by its number, with or without ".0".
func (i *image) find(number string) *version {
	for _, v := range i.Versions {
		if sameVersion(v.Number, number) {
			return v
		}
	}
	return nil
}

// updatedAt is when the image last changed.
func (i *image) updatedAt(now time.Time) *time.Time {
	at := i.UpdatedAt
	for _, v := range i.Versions {
		if done := v.DoneAt; !now.Before(done) && (at == nil || done.After(*at)) {
			at = &done
		}
	}
	return at
}

func sameVersion(a, b string) bool {
	return strings.TrimSuffix(a, ".0") == strings.TrimSuffix(b, ".0")
}

// builtin is the image that is always there: the standard template, with the
// agent and its hooks.
func (s *Server) builtin() *image {
	const agentHooks = 9000
	born := time.Date(2026, time.June, 22, 0, 0, 0, 0, time.UTC)
	on := wire.HookStateEnabled
	return &image{
		Name:      LocalImage,
		Builtin:   true,
		CreatedAt: born,
		Made:      1,
		Versions: []*version{{
			Number:    "1.0",
			CreatedAt: born,
			DoneAt:    born,
			Builds:    []build{{"arenero-local-3", "3"}, {"arenero-local-4", "4"}},
			Config: versionConfig{
				BaseImageArn:      new(s.managedArn()),
				BaseImageVersion:  new("1.0"),
				BuildRoleArn:      new("arn:aws:iam::" + s.cfg.Account + ":role/arenero"),
				CodeArtifact:      &wire.CodeArtifact{URI: new(templateBucket + LocalImage)},
				Description:       new("The standard sandbox of this computer."),
				CPUConfigurations: []wire.CpuConfiguration{{Architecture: wire.ArchitectureArm64}},
				Resources:         []wire.Resources{{MinimumMemoryInMiB: new(int32(wire.DefaultMemory))}},
				Hooks: &wire.Hooks{
					Port: new(int32(agentHooks)),
					MicrovmHooks: &wire.MicrovmHooks{
						Run: on, RunTimeoutInSeconds: new(int32(30)),
						Resume: on, ResumeTimeoutInSeconds: new(int32(30)),
						Suspend: on, SuspendTimeoutInSeconds: new(int32(30)),
						Terminate: on, TerminateTimeoutInSeconds: new(int32(10)),
					},
					MicrovmImageHooks: &wire.MicrovmImageHooks{Ready: on, ReadyTimeoutInSeconds: new(int32(600))},
				},
			},
		}},
	}
}
