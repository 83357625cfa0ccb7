package cloud

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

const kindImage = "MicroVMImage"

var s3URI = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/.+$`) })

// chipsets are the generations that every version is built for.
var chipsets = []string{"3", "4"}

// imageLocked finds an image of this account that is not gone.
func (s *Server) imageLocked(id string) (*image, error) {
	arn, err := s.parseImageArn(id, "Invalid ARN format")
	if err != nil {
		return nil, err
	}
	img := s.images[arn.name]
	if img == nil || arn.account == "aws" {
		return nil, notFound(kindImage, id)
	}
	if img.settle(s.cfg.Clock.Now()) {
		s.dropImageLocked(img)
		return nil, notFound(kindImage, id)
	}
	return img, nil
}

func (s *Server) dropImageLocked(img *image) {
	delete(s.images, img.Name)
	if err := s.store.remove(dirImages, img.Name); err != nil {
		s.cfg.Log.Error("record of a deleted image stays behind", "image", img.Name, "err", err)
	}
}

// changeImage finds an image, lets f change a copy of it, and keeps the copy
// if that went well and could be written down.
func (s *Server) changeImage(id string, f func(img *image, now time.Time) error) (*image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.imageLocked(id)
	if err != nil {
		return nil, err
	}
	img := old.clone()
	if err := f(img, s.cfg.Clock.Now()); err != nil {
		return nil, err
	}
	return img, s.keepImageLocked(img)
}

// keepImageLocked writes an image down and makes it the one in force. The disk
// is waited for under the lock: changes of images are rare, and must not be
// written in another order than they were made in.
func (s *Server) keepImageLocked(img *image) error {
	if err := s.store.put(dirImages, img.Name, img); err != nil {
		return err
	}
	s.images[img.Name] = img
	return nil
}

func (i *image) clone() *image {
	c := *i
	c.Tags = maps.Clone(i.Tags)
	c.Versions = make([]*version, len(i.Versions))
	for n, v := range i.Versions {
		c.Versions[n] = new(*v)
	}
	return &c
}

func (s *Server) createImage(_ context.Context, in *wire.CreateMicrovmImageInput) (*wire.CreateMicrovmImageOutput, error) {
	plain := *in
	plain.ClientToken = nil
	out := &wire.CreateMicrovmImageOutput{}
	err := s.once.do("CreateMicrovmImage", in.ClientToken, plain, out, func() error {
		cfg, err := s.checkConfig(versionConfig{
			in.BaseImageArn, in.BaseImageVersion, in.BuildRoleArn, in.CodeArtifact, in.Description, in.Logging, in.EgressNetworkConnectors,
			in.CpuConfigurations, in.Resources, in.AdditionalOsCapabilities, in.Hooks, in.EnvironmentVariables,
		})
		if err != nil {
			return err
		}
		img, err := s.addImage(*in.Name, in.Tags, cfg)
		if err != nil {
			return err
		}
		*out = s.describeNew(img)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (s *Server) addImage(name string, tags map[string]string, cfg versionConfig) (*image, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.imageLocked(s.ImageARN(name)); err == nil {
		return nil, invalid("%s already exists: %s", kindImage, s.ImageARN(name))
	}
	if s.ownImagesLocked() >= s.cfg.Policy.Quotas.Images {
		return nil, overQuota("L-942E56BE", "The number of MicroVM images would exceed the account's quota.")
	}
	now := s.cfg.Clock.Now().UTC().Truncate(time.Millisecond)
	img := &image{Name: name, CreatedAt: now, Tags: maps.Clone(tags)}
	if err := s.addVersionLocked(img, cfg, now); err != nil {
		return nil, err
	}
	return img, s.keepImageLocked(img)
}

func (s *Server) ownImagesLocked() int {
	n := 0
	for _, img := range s.images {
		if img.settle(s.cfg.Clock.Now()) {
			s.dropImageLocked(img)
		} else if !img.Builtin {
			n++
		}
	}
	return n
}

// addVersionLocked starts the build of another version of img.
func (s *Server) addVersionLocked(img *image, cfg versionConfig, now time.Time) error {
	if len(img.Versions) >= s.cfg.Policy.Quotas.Versions {
		return overQuota("L-F8BECE9C", "The number of versions of the MicroVM image would exceed the quota.")
	}
	building := 0
	for _, other := range s.images {
		for _, v := range other.Versions {
			if v.building(now) {
				building++
			}
		}
	}
	if building >= s.cfg.Policy.Quotas.Builds {
		return overQuota("L-72E0D058", "The number of concurrent builds would exceed the account's quota.")
	}
	img.Made++
	v := &version{
		Number:    strconv.Itoa(img.Made) + ".0",
		CreatedAt: now,
		DoneAt:    now.Add(s.lags().Build),
		Reason:    s.saboteur.meet(FaultBuild).reason,
		Config:    cfg,
	}
	if l, ok := s.cfg.Launcher.(TemplateLister); ok && v.Reason == "" && !l.HasTemplate(v.template()) {
		v.Reason = "No template is named " + printable(v.template()) + ": arenero cloud --templates FILE reads templates."
	}
	for _, generation := range chipsets {
		v.Builds = append(v.Builds, build{uuid.NewString(), generation})
	}
	img.Versions = append(img.Versions, v)
	return nil
}

func (s *Server) updateImage(_ context.Context, in *wire.UpdateMicrovmImageInput) (*wire.UpdateMicrovmImageOutput, error) {
	plain := struct {
		wire.UpdateMicrovmImageInput
		Image string
	}{*in, *in.ImageIdentifier}
	plain.ClientToken = nil
	out := &wire.UpdateMicrovmImageOutput{}
	err := s.once.do("UpdateMicrovmImage", in.ClientToken, plain, out, func() error {
		if _, err := s.parseImageArn(*in.ImageIdentifier, "Invalid ARN format"); err != nil {
			return err
		}
		cfg, err := s.checkConfig(versionConfig{
			in.BaseImageArn, in.BaseImageVersion, in.BuildRoleArn, in.CodeArtifact, in.Description, in.Logging, in.EgressNetworkConnectors,
			in.CpuConfigurations, in.Resources, in.AdditionalOsCapabilities, in.Hooks, in.EnvironmentVariables,
		})
		if err != nil {
			return err
		}
		img, err := s.changeImage(*in.ImageIdentifier, func(img *image, now time.Time) error {
			if err := img.changeable(s, now); err != nil {
				return err
			}
			img.UpdatedAt = new(now.UTC().Truncate(time.Millisecond))
			return s.addVersionLocked(img, cfg, *img.UpdatedAt)
		})
		if err != nil {
			return err
		}
		*out = s.describeUpdated(img)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// changeable refuses changes of an image that is changing already, and of the
// built-in one.
func (i *image) changeable(s *Server, now time.Time) error {
	if i.Builtin {
		return invalid("%s is built in and can't be changed: %s", kindImage, s.ImageARN(i.Name))
	}
	switch state := i.state(now); state {
	case wire.MicrovmImageStateCreating, wire.MicrovmImageStateUpdating, wire.MicrovmImageStateDeleting:
		return conflict(kindImage, s.ImageARN(i.Name), string(state))
	}
	return nil
}

func (s *Server) deleteImage(_ context.Context, in *wire.DeleteMicrovmImageInput) (*wire.DeleteMicrovmImageOutput, error) {
	_, err := s.changeImage(*in.ImageIdentifier, func(img *image, now time.Time) error {
		switch state := img.state(now); {
		case img.Builtin:
			return invalid("%s is built in and can't be deleted: %s", kindImage, s.ImageARN(img.Name))
		case state == wire.MicrovmImageStateDeleting:
			return nil
		case state == wire.MicrovmImageStateCreating || state == wire.MicrovmImageStateUpdating:
			return invalid("%s can't be deleted in state: %s", kindImage, state)
		}
		img.GoneAt = new(now.Add(s.lags().Delete))
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &wire.DeleteMicrovmImageOutput{ImageIdentifier: in.ImageIdentifier, State: wire.MicrovmImageStateDeleting}, nil
}

func (s *Server) getImage(_ context.Context, in *wire.GetMicrovmImageInput) (*wire.GetMicrovmImageOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	img, err := s.imageLocked(*in.ImageIdentifier)
	if err != nil {
		return nil, err
	}
	now := s.cfg.Clock.Now()
	active, failed := img.latest(now)
	return &wire.GetMicrovmImageOutput{
		ImageArn: new(s.ImageARN(img.Name)), Name: new(img.Name), State: img.state(now), CreatedAt: new(img.CreatedAt),
		UpdatedAt: img.updatedAt(now), LatestActiveImageVersion: active.number(), LatestFailedImageVersion: failed.number(),
		Tags: maps.Clone(img.Tags),
	}, nil
}

// number is nil for no version.
func (v *version) number() *string {
	if v == nil {
		return nil
	}
	return new(v.Number)
}

func (s *Server) listImages(_ context.Context, in *wire.ListMicrovmImagesInput) (*wire.ListMicrovmImagesOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ownImagesLocked() // drops what is gone
	names := slices.Sorted(maps.Keys(s.images))
	page, next, err := paginate(s.cursors, scopeOf("ListMicrovmImages", in.NameFilter), in.MaxResults, in.NextToken, names, func(n string) string { return n })
	if err != nil {
		return nil, err
	}
	out := &wire.ListMicrovmImagesOutput{Items: []wire.MicrovmImageSummary{}, NextToken: next}
	now := s.cfg.Clock.Now()
	for _, name := range page { // filtered after the page is cut, as AWS does it
		if in.NameFilter != nil && !strings.Contains(name, *in.NameFilter) {
			continue
		}
		img := s.images[name]
		active, failed := img.latest(now)
		out.Items = append(out.Items, wire.MicrovmImageSummary{
			ImageArn: new(s.ImageARN(name)), Name: new(name), State: img.state(now), CreatedAt: new(img.CreatedAt),
			LatestActiveImageVersion: active.number(), LatestFailedImageVersion: failed.number(),
		})
	}
	return out, nil
}

// launchable finds the version that a VM is to be started from. AWS does not
// tell an unknown image from one without an active version.
func (s *Server) launchable(arn imageArn, number *string) (*version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.ImageARN(arn.name)
	none := &apiError{class: wire.ResourceNotFound, message: "No active version found for " + kindImage + ": " + id, resourceType: kindImage, resourceID: id}
	img, err := s.imageLocked(id)
	if err != nil || arn.account == "aws" || img.GoneAt != nil {
		return nil, none
	}
	now := s.cfg.Clock.Now()
	ver, _ := img.latest(now)
	if number != nil {
		ver = img.find(*number)
	}
	if ver == nil || ver.status(now) != wire.MicrovmImageVersionStatusActive {
		return nil, none
	}
	return new(*ver), nil
}
