package app

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
	"github.com/arenero/arenero/app/sandbox"
)

// newestFor is how long the newest version of an image is taken to be so. One
// that is named by its name is looked up each time anyway.
const newestFor = time.Minute

// kindImage is the kind of records of images in the store.
const kindImage = "image"

// images remember how large the versions of images are. A version never changes,
// so each is asked for once, by any engine.
type images struct {
	store fleet.Store
	clock clockwork.Clock
	log   *slog.Logger

	mu     sync.Mutex // guards what follows
	sizes  map[string]fleet.Image
	newest map[string]newest // by ARN
}

type newest struct {
	version string
	at      time.Time
}

func newImages(store fleet.Store, clock clockwork.Clock, log *slog.Logger) *images {
	m := &images{store: store, clock: clock, log: log, sizes: map[string]fleet.Image{}, newest: map[string]newest{}}
	for key, text := range store.All(kindImage) {
		var i fleet.Image
		if err := json.Unmarshal(text, &i); err != nil || imageKey(i.ARN, i.Version) != key {
			log.Error("record of an image makes no sense", "key", key, "err", err)
			continue
		}
		m.sizes[key] = i
	}
	return m
}

func imageKey(arn, version string) string { return arn + "@" + version }

func (m *images) size(arn, version string) (fleet.Image, bool) {
	if m == nil {
		return fleet.Image{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	i, ok := m.sizes[imageKey(arn, version)]
	return i, ok
}

func (m *images) keep(i fleet.Image) {
	if m == nil {
		return
	}
	m.mu.Lock()
	m.sizes[imageKey(i.ARN, i.Version)] = i
	m.mu.Unlock()
	text, err := json.Marshal(i)
	if err == nil {
		err = m.store.Put(kindImage, imageKey(i.ARN, i.Version), text, false)
	}
	if err != nil { // it is asked for again, no more
		m.log.Warn("size of an image not written down", "err", err)
	}
}

func (m *images) newestOf(arn string) string {
	if m == nil {
		return ""
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.newest[arn]; m.clock.Since(n.at).Abs() < newestFor {
		return n.version
	}
	return ""
}

func (m *images) keepNewest(arn, version string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.newest[arn] = newest{version, m.clock.Now()}
}

// arn returns the ARN of the image that template names.
func (c *cloud) arn(ctx context.Context, template string) (string, error) {
	arn, _, err := c.named(ctx, template)
	return arn, err
}

// named is arn, with the newest active version where that is told along with it.
func (c *cloud) named(ctx context.Context, template string) (arn, newest string, err error) {
	template = cmp.Or(template, c.image)
	switch {
	case template == "":
		return "", "", &sandbox.Error{Code: sandbox.NoTemplate, Msg: "no image is configured", Hint: "set RAYITO_TEMPLATE, or the template of the profile: \"arenero profiles edit NAME --template IMAGE\""}
	case strings.HasPrefix(template, "arn:"):
		return template, "", nil
	}
	err = c.again(ctx, func() error {
		pages := microvm.NewListMicrovmImagesPaginator(c.api, &microvm.ListMicrovmImagesInput{NameFilter: &template})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, i := range page.Items {
				if i.Name != nil && *i.Name == template && i.ImageArn != nil {
					arn, newest = *i.ImageArn, value(i.LatestActiveImageVersion)
				}
			}
		}
		return nil
	})
	if err == nil && arn == "" {
		err = &sandbox.Error{Code: sandbox.NotFound, Msg: "there is no image " + template, Details: map[string]any{"template": template}}
	}
	return arn, newest, err
}

// Image returns the image that template names. Its size is not known where that
// can't be asked for, which is no reason not to use it.
func (c *cloud) Image(ctx context.Context, template, version string) (fleet.Image, error) {
	arn, newest, err := c.named(ctx, template)
	if err != nil {
		return fleet.Image{}, err
	}
	version = cmp.Or(version, newest, c.known.newestOf(arn))
	if have, ok := c.known.size(arn, version); ok {
		return have, nil
	}
	have, err := c.measure(ctx, arn, version)
	if err != nil {
		if ctx.Err() != nil {
			return fleet.Image{}, err
		}
		c.log.Warn("size of an image not known", "code", string(sandbox.CodeOf(err)))
		return fleet.Image{ARN: arn, Version: version}, nil
	}
	c.known.keep(have)
	return have, nil
}

// measure asks how large the VMs of a version are, and their snapshots.
func (c *cloud) measure(ctx context.Context, arn, version string) (fleet.Image, error) {
	v, err := c.version(ctx, arn, version)
	if err != nil {
		return fleet.Image{}, err
	}
	have := fleet.Image{ARN: arn, Version: value(v.ImageVersion), SizeMiB: wire.DefaultMemory}
	if len(v.Resources) > 0 && v.Resources[0].MinimumMemoryInMiB != nil {
		have.SizeMiB = int(*v.Resources[0].MinimumMemoryInMiB)
	}
	if known, ok := c.known.size(arn, have.Version); ok {
		return known, nil
	}
	if have.SnapshotMGB, err = c.snapshot(ctx, arn, have.Version); err != nil {
		if ctx.Err() != nil {
			return fleet.Image{}, err
		}
		c.log.Warn("snapshot of an image not measured", "err", err) // it is taken to be as large as it can be
	}
	return have, nil
}

// version describes a version of an image; "" is the newest that VMs can be made
// of.
func (c *cloud) version(ctx context.Context, arn, version string) (*wire.MicrovmImageVersionSummary, error) {
	var found *wire.MicrovmImageVersionSummary
	err := c.again(ctx, func() error {
		if version != "" {
			out, err := c.api.GetMicrovmImageVersion(ctx, &microvm.GetMicrovmImageVersionInput{ImageIdentifier: &arn, ImageVersion: &version})
			found = (*wire.MicrovmImageVersionSummary)(out)
			return err
		}
		found = nil
		pages := microvm.NewListMicrovmImageVersionsPaginator(c.api, &microvm.ListMicrovmImageVersionsInput{ImageIdentifier: &arn})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, v := range page.Items {
				if v.Status == wire.MicrovmImageVersionStatusActive && (found == nil || value(v.CreatedAt).After(value(found.CreatedAt))) {
					found = &v
				}
			}
		}
		return nil
	})
	if err == nil && found == nil {
		err = &sandbox.Error{Code: sandbox.NotFound, Msg: "the image has no active version"}
	}
	if err == nil && version == "" {
		c.known.keepNewest(arn, value(found.ImageVersion))
	}
	return found, err
}

// snapshot is the size of the memory's snapshot that a version was built to, in
// thousandths of a GB, or 0 if none was measured.
func (c *cloud) snapshot(ctx context.Context, arn, version string) (mgb int, err error) {
	err = c.again(ctx, func() error {
		list, err := c.api.ListMicrovmImageBuilds(ctx, &microvm.ListMicrovmImageBuildsInput{ImageIdentifier: &arn, ImageVersion: &version})
		if err != nil {
			return err
		}
		for _, b := range list.Items {
			if b.BuildState != wire.BuildStateSuccessful {
				continue
			}
			out, err := c.api.GetMicrovmImageBuild(ctx, &microvm.GetMicrovmImageBuildInput{
				ImageIdentifier: &arn, ImageVersion: &version, BuildId: b.BuildId,
			})
			if err != nil {
				return err
			}
			if out.SnapshotBuild != nil {
				const mega = 1_000_000
				mgb = int((value(out.SnapshotBuild.MemorySnapshotSizeInBytes) + mega - 1) / mega)
			}
			return nil // those of other chips are as large
		}
		return nil
	})
	return mgb, err
}

// templates lists all images, with the size of those that VMs can be made of.
func (c *cloud) templates(ctx context.Context) ([]sandbox.Template, error) {
	var out []sandbox.Template
	err := c.again(ctx, func() error {
		out = nil
		pages := microvm.NewListMicrovmImagesPaginator(c.api, &microvm.ListMicrovmImagesInput{})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				return err
			}
			for _, i := range page.Items {
				t := sandbox.Template{Name: value(i.Name), ARN: value(i.ImageArn), Version: value(i.LatestActiveImageVersion), State: string(i.State)}
				if t.Version != "" {
					t.Versions = []string{t.Version}
				}
				out = append(out, t)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		t := &out[i]
		if t.Version == "" {
			continue
		}
		have, known := c.known.size(t.ARN, t.Version)
		if !known {
			if have, err = c.measure(ctx, t.ARN, t.Version); err != nil {
				c.log.Warn("size of an image not known", "code", string(sandbox.CodeOf(err)))
				continue
			}
			c.known.keep(have)
		}
		t.SizeMiB = have.SizeMiB
	}
	return out, nil
}
