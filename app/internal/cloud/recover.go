package cloud

import (
	"errors"
	"strings"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

var errForeign = errors.New("the record is not what its file name says")

// recover reads what the last process on this folder left. Its machines ended
// with it, so every VM that was alive is terminated now.
func (s *Server) recover() error {
	vms, err := loadAll(s.store, dirVMs, func(name string, rec vmRecord) error {
		if rec.MicrovmID != name || rec.Label == "" || rec.MaximumDuration == 0 || rec.StartedAt.IsZero() {
			return errForeign
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, rec := range vms {
		if rec.State != wire.MicrovmStateTerminated || rec.TerminatedAt == nil {
			rec.State, rec.StateReason = wire.MicrovmStateTerminated, reasonCloudGone
			rec.TerminatedAt = new(s.cfg.Clock.Now().UTC())
			if err := s.store.put(dirVMs, rec.MicrovmID, rec); err != nil {
				s.cfg.Log.Error("end not written down", "sandbox", rec.MicrovmID, "err", err)
			}
		}
		v := s.vmOf(rec)
		s.byID[v.MicrovmID], s.byHost[strings.ToLower(v.Label)] = v, v
	}
	images, err := loadAll(s.store, dirImages, func(name string, img *image) error {
		if img == nil || img.Name != name || !imageName.MatchString(name) || len(img.Versions) == 0 || img.Made == 0 {
			return errForeign
		}
		for _, v := range img.Versions {
			if v == nil || v.Number == "" || v.Config.CodeArtifact == nil {
				return errForeign
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	local := s.builtin()
	for _, img := range images {
		if img.Name == LocalImage { // only what the owner may change of it is kept
			local.Tags = img.Tags
			continue
		}
		s.images[img.Name] = img
	}
	s.images[LocalImage] = local
	return s.once.sweep()
}
