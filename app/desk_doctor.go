package app

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/paths"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/assets"
)

// Diagnose makes all checks, and emits each as it begins and ends.
func (g *gate) Diagnose(ctx context.Context, profile string, emit func(control.Finding) error) error {
	_, err := owned(ctx, g, nothingAt(func() error {
		doctor, err := g.engine.app.doctor(profile)
		if err != nil {
			return deskError(err)
		}
		_, err = diagnose(ctx, doctor, emit)
		return err
	}))
	return err
}

// doctor looks at what the engine has: its own environment, for one.
func (a *App) doctor(profile string) (*Doctor, error) {
	return NewDoctor(DoctorConfig{Version: a.cfg.Version, Build: a.cfg.Build, Profile: profile, Env: a.accounts.env, Clock: a.cfg.Clock, Log: a.cfg.Log})
}

// diagnose has a doctor make all checks, for as long as emit takes them.
func diagnose(ctx context.Context, d *Doctor, emit func(control.Finding) error) (Diagnosis, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var failed error
	tell := func(f control.Finding) {
		if failed == nil {
			failed = emit(f)
		}
		if failed != nil {
			cancel()
		}
	}
	out, err := d.Run(ctx, func(name string) {
		tell(control.Finding{Name: name, What: control.Text{Key: "doctor.check." + name}})
	}, func(f Finding) { tell(f.View()) })
	return out, errors.Join(failed, err)
}

// View is a finding for people and for programs.
func (f Finding) View() control.Finding {
	out := control.Finding{Name: f.Name, Level: string(f.Level), Remedy: textIn(f.Remedy), Took: f.Took}
	if what := textIn(f.What); what != nil {
		out.What = *what
	}
	for i, p := range f.Problems {
		if i == 0 { // is told above
			continue
		}
		more := control.Finding{Name: f.Name, Level: string(p.Level), Remedy: textIn(p.Remedy)}
		if what := textIn(p.What); what != nil {
			more.What = *what
		}
		out.More = append(out.More, more)
	}
	return out
}

// SaveBundle writes what others need to help into a new file, and returns its
// path.
func (g *gate) SaveBundle(ctx context.Context, path string) (string, error) {
	return owned(ctx, g, func() (string, error) {
		path, err := g.engine.app.saveBundle(ctx, path)
		return path, deskError(err)
	})
}

func (a *App) saveBundle(ctx context.Context, path string) (string, error) {
	if path == "" {
		dirs, err := paths.Find()
		if err != nil {
			return "", err
		}
		dir := filepath.Join(dirs.State, "bundles")
		if err := paths.Private(dir); err != nil {
			return "", err
		}
		path = filepath.Join(dir, "arenero-"+a.cfg.Clock.Now().Format("20060102-150405.000")+".zip")
	}
	if !filepath.IsAbs(path) {
		return "", &sandbox.Error{Code: sandbox.Invalid, Msg: "the path of the file must be absolute"}
	}
	if _, err := os.Lstat(path); err == nil { // before the work, which takes a while
		return "", bundleThere(path)
	}
	doctor, err := a.doctor("")
	if err != nil {
		return "", err
	}
	found, err := diagnose(ctx, doctor, func(control.Finding) error { return nil })
	if err != nil {
		return "", err
	}
	report, err := json.MarshalIndent(found.Report(assets.Load(doctor.Language(), DoctorParts()...), a.cfg.Version, a.cfg.Build), "", "  ")
	if err != nil {
		return "", err
	}
	content, err := doctor.packed(ctx, report, found.Programs)
	if err != nil {
		return "", err
	}
	return path, writeNew(path, content)
}

func bundleThere(path string) error {
	return &sandbox.Error{Code: sandbox.Exists, Msg: "there is something at " + path + " already", Hint: "choose another name", Details: map[string]any{"file": path}}
}

// writeNew writes a file that only its owner can read, where there is none.
func writeNew(path string, content []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return bundleThere(path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(path) // half of it helps nobody
	}
	return err
}
