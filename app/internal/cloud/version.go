package cloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

const kindVersion = "MicroVMImageVersion"

// findVersion finds a version that is not gone.
func (s *Server) findVersion(img *image, number string) (*version, error) {
	v := img.find(number)
	if v == nil {
		return nil, notFound(kindVersion, s.ImageARN(img.Name)+":"+printable(number))
	}
	return v, nil
}

// summary is a version as reads show it. The reason of a failure stands with
// its builds, not here.
func (s *Server) summary(img *image, v *version) wire.MicrovmImageVersionSummary {
	now := s.cfg.Clock.Now()
	updated := v.UpdatedAt
	if updated == nil && !now.Before(v.DoneAt) {
		updated = new(v.DoneAt)
	}
	c := v.Config
	return wire.MicrovmImageVersionSummary{
		ImageArn:                 new(s.ImageARN(img.Name)),
		ImageVersion:             new(v.Number),
		State:                    v.state(now),
		Status:                   v.status(now),
		CreatedAt:                new(v.CreatedAt),
		UpdatedAt:                updated,
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
		EnvironmentVariables:     maps.Clone(c.EnvironmentVariables),
		Tags:                     maps.Clone(img.Tags),
	}
}

func (s *Server) getVersion(_ context.Context, in *wire.GetMicrovmImageVersionInput) (*wire.GetMicrovmImageVersionOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	img, err := s.imageLocked(*in.ImageIdentifier)
	if err != nil {
		return nil, err
	}
	v, err := s.findVersion(img, *in.ImageVersion)
	if err != nil {
		return nil, err
	}
	return new(wire.GetMicrovmImageVersionOutput(s.summary(img, v))), nil
}

func (s *Server) listVersions(_ context.Context, in *wire.ListMicrovmImageVersionsInput) (*wire.ListMicrovmImageVersionsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	img, err := s.imageLocked(*in.ImageIdentifier)
	if err != nil {
		return nil, err
	}
	scope := scopeOf("ListMicrovmImageVersions", in.ImageIdentifier)
	page, next, err := paginate(s.cursors, scope, in.MaxResults, in.NextToken, newestFirst(img.Versions), descending)
	if err != nil {
		return nil, err
	}
	out := &wire.ListMicrovmImageVersionsOutput{Items: []wire.MicrovmImageVersionSummary{}, NextToken: next}
	for _, v := range page {
		item := s.summary(img, v)
		item.EnvironmentVariables = nil // left out of lists, in practice
		out.Items = append(out.Items, item)
	}
	return out, nil
}

func newestFirst(all []*version) []*version {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b *version) int { return b.major() - a.major() })
	return all
}

// descending is a key that grows as versions get older.
func descending(v *version) string {
	const top = 1 << 30
	return fmt.Sprintf("%010d", top-v.major())
}

func (s *Server) updateVersion(_ context.Context, in *wire.UpdateMicrovmImageVersionInput) (*wire.UpdateMicrovmImageVersionOutput, error) {
	var changed *version
	img, err := s.changeImage(*in.ImageIdentifier, func(img *image, now time.Time) error {
		v, err := s.findVersion(img, *in.ImageVersion)
		if err != nil {
			return err
		}
		switch state := v.state(now); {
		case img.Builtin:
			return img.changeable(s, now)
		case state == wire.MicrovmImageVersionStateFailed:
			return invalid("%s can't become %s in state: %s", kindVersion, in.Status, state)
		case state != wire.MicrovmImageVersionStateSuccessful:
			return conflict(kindVersion, s.ImageARN(img.Name)+":"+v.Number, string(state))
		}
		v.Status = in.Status
		v.UpdatedAt = new(now.UTC().Truncate(time.Millisecond))
		changed = v
		return nil
	})
	if err != nil {
		return nil, err
	}
	return new(wire.UpdateMicrovmImageVersionOutput(s.summary(img, changed))), nil
}

func (s *Server) deleteVersion(_ context.Context, in *wire.DeleteMicrovmImageVersionInput) (*wire.DeleteMicrovmImageVersionOutput, error) {
	var number string
	_, err := s.changeImage(*in.ImageIdentifier, func(img *image, now time.Time) error {
		v, err := s.findVersion(img, *in.ImageVersion)
		if err != nil {
			return err
		}
		number = v.Number
		if v.GoneAt != nil {
			return nil
		}
		if err := img.changeable(s, now); err != nil {
			return err
		}
		if len(img.Versions) == 1 {
			return invalid("The last version of a %s can't be deleted; delete the image instead.", kindImage)
		}
		v.GoneAt = new(now.Add(s.lags().Delete))
		img.UpdatedAt = new(now.UTC().Truncate(time.Millisecond))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &wire.DeleteMicrovmImageVersionOutput{
		ImageIdentifier: in.ImageIdentifier, ImageVersion: &number, State: wire.MicrovmImageVersionStateDeleting,
	}, nil
}

// builtAt is where in its image a build stands.
type builtAt struct {
	img *image
	ver *version
	build
}

func (s *Server) buildsLocked(imageID, number string) ([]builtAt, error) {
	img, err := s.imageLocked(imageID)
	if err != nil {
		return nil, err
	}
	v, err := s.findVersion(img, number)
	if err != nil {
		return nil, err
	}
	var all []builtAt
	for _, b := range v.Builds {
		all = append(all, builtAt{img, v, b})
	}
	return all, nil
}

func (s *Server) buildSummary(b builtAt) wire.MicrovmImageBuildSummary {
	now := s.cfg.Clock.Now()
	out := wire.MicrovmImageBuildSummary{
		ImageArn: new(s.ImageARN(b.img.Name)), ImageVersion: new(b.ver.Number), BuildId: new(b.ID), BuildState: b.ver.buildState(now),
		Architecture: wire.ArchitectureArm64, Chipset: wire.ChipsetGraviton, ChipsetGeneration: new(b.Generation), CreatedAt: new(b.ver.CreatedAt),
	}
	if out.BuildState == wire.BuildStateFailed {
		out.StateReason = new(b.ver.Reason)
	}
	return out
}

func (s *Server) getBuild(_ context.Context, in *wire.GetMicrovmImageBuildInput) (*wire.GetMicrovmImageBuildOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.buildsLocked(*in.ImageIdentifier, *in.ImageVersion)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(b builtAt) bool { return b.ID == *in.BuildId })
	if i < 0 {
		return nil, notFound("MicroVMImageBuild", printable(*in.BuildId))
	}
	b := s.buildSummary(all[i])
	out := &wire.GetMicrovmImageBuildOutput{
		ImageArn: b.ImageArn, ImageVersion: b.ImageVersion, BuildId: b.BuildId, BuildState: b.BuildState, StateReason: b.StateReason,
		Architecture: b.Architecture, Chipset: b.Chipset, ChipsetGeneration: b.ChipsetGeneration, CreatedAt: b.CreatedAt,
	}
	if b.BuildState == wire.BuildStateSuccessful {
		// Sizes of the order seen in AWS: there is no snapshot to measure.
		const mib = 1 << 20
		memory := int64(400+all[i].ver.memory()/10) * mib
		out.SnapshotBuild = &wire.SnapshotBuild{
			MemorySnapshotSizeInBytes: &memory,
			CodeInstallSizeInBytes:    new(int64(300 * mib)),
			DiskSnapshotSizeInBytes:   new(int64(100 * mib)),
		}
	}
	return out, nil
}

func (s *Server) listBuilds(_ context.Context, in *wire.ListMicrovmImageBuildsInput) (*wire.ListMicrovmImageBuildsOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := s.buildsLocked(*in.ImageIdentifier, *in.ImageVersion)
	if err != nil {
		return nil, err
	}
	// There is but one architecture and one chipset, and wire checked both.
	if in.ChipsetGeneration != nil {
		all = slices.DeleteFunc(all, func(b builtAt) bool { return b.Generation != *in.ChipsetGeneration })
	}
	scope := scopeOf("ListMicrovmImageBuilds", in.ImageIdentifier, in.ImageVersion, in.ChipsetGeneration)
	page, next, err := paginate(s.cursors, scope, in.MaxResults, in.NextToken, all, func(b builtAt) string { return b.Generation })
	if err != nil {
		return nil, err
	}
	out := &wire.ListMicrovmImageBuildsOutput{Items: []wire.MicrovmImageBuildSummary{}, NextToken: next}
	for _, b := range page {
		out.Items = append(out.Items, s.buildSummary(b))
	}
	return out, nil
}
