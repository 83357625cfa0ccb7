package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/desktop"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/jail"
	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// programFolder is where all our programs are.
func programFolder() (string, error) {
	path, err := control.Beside("arenero")
	return filepath.Dir(path), err
}

// programs looks whether all programs are there, and belong together.
func (d *Doctor) programs(ctx context.Context, x *exam) {
	x.detail("folder", d.cfg.Programs)
	x.facts.programs["arenero"] = d.cfg.Version
	again := text("doctor.programs.remedy")
	exe := ""
	if runtime.GOOS == "windows" {
		exe = ".exe"
	}
	guest := "arenero-agent"
	if runtime.GOOS != "linux" {
		guest += "-linux-" + runtime.GOARCH
		exe = ""
	}
	bridge := filepath.Join(d.cfg.Programs, "arenero-bridge"+map[bool]string{true: ".exe"}[runtime.GOOS == "windows"])
	for _, path := range []string{filepath.Join(d.cfg.Programs, "arenero"+exe), bridge, filepath.Join(d.cfg.Programs, guest)} {
		info, err := os.Stat(path)
		switch {
		case err != nil && errors.Is(err, fs.ErrNotExist):
			x.fail(text("doctor.programs.missing", "program", path), again)
		case err != nil:
			x.fail(text("doctor.programs.unreadable", "program", path, "why", clean(err)), again)
		case !info.Mode().IsRegular(), runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
			x.fail(text("doctor.programs.not", "program", path), again)
		}
	}
	if len(x.finding.Problems) > 0 {
		return
	}
	version, err := versionOf(ctx, bridge)
	switch {
	case err != nil:
		x.fail(text("doctor.programs.broken", "program", bridge, "why", clean(err)), again)
	case version != d.cfg.Version:
		x.facts.programs["arenero-bridge"] = version
		x.fail(text("doctor.programs.version", "program", bridge, "has", version, "want", d.cfg.Version), again)
	default:
		x.facts.programs["arenero-bridge"] = version
	}
	// The agent may be for another system, so it is read and not run.
	info, err := buildinfo.ReadFile(filepath.Join(d.cfg.Programs, guest))
	if err != nil {
		x.warn(text("doctor.programs.agent", "program", guest), again)
	} else {
		build := buildOf(info.Settings)
		x.facts.programs["arenero-agent"] = strings.TrimSpace(agentSeries + " " + build)
		if build != "" && d.cfg.Build != "" && build != d.cfg.Build {
			x.warn(text("doctor.programs.build", "program", guest, "has", short(build), "want", short(d.cfg.Build)), again)
		}
	}
	x.ok(text("doctor.programs.ok", "version", d.cfg.Version))
}

func buildOf(settings []debug.BuildSetting) string {
	for _, s := range settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

func short(build string) string { return build[:min(len(build), 12)] }

// versionOf runs a program of ours for its version.
func versionOf(ctx context.Context, path string) (string, error) {
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = []string{"PATH=" + shortPath, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", err
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(out), []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) < 2 {
		return "", errors.New("it says no version")
	}
	return words[1], nil
}

// engine looks at our folders and the room in them, at the socket, and at who
// answers there.
func (d *Doctor) engine(ctx context.Context, x *exam) {
	path, err := control.Path()
	if err != nil {
		x.fail(text("doctor.engine.path", "why", clean(err)), text("doctor.engine.path.remedy"))
		return
	}
	x.detail("socket", path)
	for _, dir := range []string{d.dirs.Config, d.dirs.State, d.dirs.Runtime} {
		d.folder(x, dir)
	}
	if len(x.finding.Problems) == 0 { // else it is told already what is wrong with them
		d.space(x)
	}
	if _, err := d.file.Read(); err != nil {
		x.fail(text("doctor.settings", "why", clean(err)), text("doctor.settings.remedy", "file", d.file.Path()))
	}
	info, err := os.Lstat(path)
	there := err == nil
	if there && runtime.GOOS != "windows" && info.Mode().Type() != fs.ModeSocket {
		x.fail(text("doctor.engine.no-socket", "path", path), text("doctor.engine.no-socket.remedy", "path", path))
		return
	}
	client := control.NewClient(path)
	defer client.Close()
	status, err := client.Status(ctx)
	switch code := sandbox.CodeOf(err); {
	case err == nil:
		x.facts.programs["engine"] = status.Version
		x.detail("pid", status.PID)
		x.detail("sandboxes", status.Sandboxes)
		if status.Version != d.cfg.Version || status.Build != d.cfg.Build {
			x.warn(text("doctor.engine.version", "has", status.Version, "want", d.cfg.Version), text("doctor.engine.restart"))
		}
		x.ok(text("doctor.engine.ok", "version", status.Version, "pid", strconv.Itoa(status.PID), "sandboxes", strconv.Itoa(status.Sandboxes)))
	case code == sandbox.OtherVersion:
		x.fail(text("doctor.engine.protocol", "why", clean(err)), text("doctor.engine.restart"))
	case code == sandbox.Unreachable && there && nobodyListens(err):
		x.warn(text("doctor.engine.stale", "path", path), text("doctor.engine.stale.remedy", "path", path))
	case code == sandbox.Unreachable && !there:
		x.ok(text("doctor.engine.none"))
	default:
		x.fail(text("doctor.engine.silent", "why", clean(err)), text("doctor.engine.restart"))
	}
}

// folder looks whether a folder of ours is closed to others.
func (d *Doctor) folder(x *exam, dir string) {
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		x.fail(text("doctor.folder.unreadable", "dir", dir, "why", clean(err)), hostconf.Text{})
	case !info.IsDir():
		x.fail(text("doctor.folder.not", "dir", dir), text("doctor.folder.not.remedy", "dir", dir))
	case !ownedByUs(info):
		x.fail(text("doctor.folder.owner", "dir", dir), text("doctor.folder.not.remedy", "dir", dir))
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		x.warn(text("doctor.folder.open", "dir", dir, "mode", fmt.Sprintf("%04o", info.Mode().Perm())), text("doctor.folder.open.remedy", "dir", dir))
	}
}

// tray looks whether a tray icon would be seen.
func (d *Doctor) tray(ctx context.Context, x *exam) {
	hosted, err := desktop.TrayHost(ctx)
	switch {
	case errors.Is(err, desktop.ErrNone):
		x.ok(text("doctor.tray.system"))
	case errors.Is(err, desktop.ErrNoBus):
		x.skip(text("doctor.tray.no-bus"))
	case err != nil:
		x.warn(text("doctor.tray.broken", "why", clean(err)), text("doctor.tray.remedy"))
	case !hosted:
		x.warn(text("doctor.tray.none"), text("doctor.tray.remedy"))
	default:
		x.ok(text("doctor.tray.ok"))
	}
}

// keychain keeps a secret, reads it and forgets it. Where nobody has secrets yet
// it only looks whether one could be kept, and it is no fault if not.
func (d *Doctor) keychain(ctx context.Context, x *exam) {
	again := text("doctor.keychain.remedy")
	kept, err := d.file.Read()
	if err != nil {
		x.skip(text("doctor.settings", "why", clean(err)))
		return
	}
	store, err := d.secrets(kept)
	if err != nil {
		x.fail(text("doctor.keychain.broken", "why", clean(err)), again)
		return
	}
	names, err := store.Names(ctx)
	if err != nil {
		x.fail(text("doctor.keychain.broken", "why", clean(err)), again)
		return
	}
	x.detail("secrets", len(names))
	if store.Used() {
		err = roundTrip(ctx, store)
	} else if err = store.Unlock(ctx); err == nil { // to keep something would make a key
		x.ok(text("doctor.keychain.unused"))
		return
	}
	if err == nil {
		x.ok(text("doctor.keychain.ok", "secrets", strconv.Itoa(len(names))))
		return
	}
	level := Warn
	if len(names) > 0 {
		level = Fail
	}
	class := keychain.ClassOf(err)
	x.detail("class", string(class))
	if class == keychain.NoPassphrase {
		x.skip(text("doctor.keychain.no_passphrase"))
		return
	}
	what, remedy := text("doctor.keychain.broken", "why", clean(err)), again
	if e, ok := errors.AsType[*fs.PathError](err); ok { // which no other keychain mends
		remedy = text("doctor.disk.closed.remedy", "dir", filepath.Dir(e.Path))
	}
	if class != "" && class != keychain.Other {
		what, remedy = text("keychain.class."+string(class)), text("keychain.class."+string(class)+".do")
	}
	x.problem(level, what, remedy)
}

// secrets is the keychain that the settings name. Nobody is asked to open it.
func (d *Doctor) secrets(kept settings.Settings) (*keychain.Sealed, error) {
	return keychain.Open(keychain.Config{
		Backend: keychain.Backend(cmp.Or(kept.Keychain, string(keychain.System))), Dir: keychainFolder(d.dirs),
	})
}

const probeName = "doctor/probe"

func roundTrip(ctx context.Context, store keychain.Store) error {
	value := make([]byte, 32)
	rand.Read(value)
	if err := store.Set(ctx, probeName, value); err != nil {
		return err
	}
	got, err := store.Get(ctx, probeName)
	err = errors.Join(err, store.Delete(ctx, probeName))
	if err == nil && !bytes.Equal(got, value) {
		err = errors.New("it gave back something else")
	}
	return err
}

// jail looks by what means this computer can isolate sandboxes.
func (d *Doctor) jail(ctx context.Context, x *exam) {
	report := jail.Probe(ctx)
	var works, notes []string
	for _, m := range report.Means {
		if m.Works {
			works = append(works, string(m.Kind))
			if m.Kind == report.Best {
				notes = m.Notes
			}
		}
	}
	x.detail("means", slices.Clone(works))
	x.detail("limits", slices.Clone(notes))
	if report.Best != "" {
		x.ok(text("doctor.jail.ok", "kind", string(report.Best)))
		return
	}
	level := Warn
	if x.local {
		level = Fail
	}
	for _, m := range report.Means {
		if m.Kind == jail.Namespaces || runtime.GOOS != "linux" || m.Why == "" {
			x.problem(level, text("doctor.jail.none", "why", m.Why), text("doctor.jail.remedy", "do", m.Remedy))
		}
	}
	x.ok(text("doctor.jail.none", "why", ""))
}

// hosts starts our entries as their apps would.
func (d *Doctor) hosts(ctx context.Context, x *exam) {
	bridge := filepath.Join(d.cfg.Programs, "arenero-bridge")
	if runtime.GOOS == "windows" {
		bridge += ".exe"
	}
	hosts, err := OpenHosts(ctx, HostsConfig{Version: d.cfg.Version, Bridge: bridge})
	if err != nil {
		x.fail(text("doctor.hosts.broken", "why", clean(err)), hostconf.Text{})
		return
	}
	var with []string
	for _, h := range hosts.All() {
		checks, err := hosts.Doctor(ctx, h, "")
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			why := clean(err)
			x.fail(text("doctor.hosts.unread", "title", h.Title, "why", why), text("doctor.hosts.remedy", "id", h.ID))
			continue
		}
		if len(checks) > 0 {
			with = append(with, h.ID)
		}
		for _, c := range checks {
			if c.Level != OK {
				x.finding.Problems = append(x.finding.Problems, Problem{c.Level, c.What, c.Remedy})
			}
		}
	}
	x.detail("hosts", append([]string{}, with...))
	if len(with) == 0 {
		x.skip(text("doctor.hosts.none"))
		return
	}
	x.ok(text("doctor.hosts.ok", "hosts", strings.Join(with, ", ")))
}
