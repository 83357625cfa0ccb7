package scene

import (
	"fmt"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/price"
	"github.com/arenero/arenero/app/sandbox"
)

// What there is in AWS, for those who have an account in this story.
const (
	account = "000000000042"
	region  = "us-east-1"
	region2 = "us-west-2"
)

func image(region, name string) string {
	return "arn:aws:lambda:" + region + ":" + account + ":microvm-image:" + name
}

// localImage is what sandboxes of this computer are made of.
const localImage = "arn:aws:lambda:us-east-1:000000000000:microvm-image:arenero-local"

// The profiles of the story, beside the computer itself.
const (
	lab   = "laboratorio"
	night = "turno-noche"
	class = "aula-3"
)

func (s *Scene) setProfiles() {
	s.own.Profiles = []control.OwnProfile{
		{Name: lab, Kind: "sso", Region: region, StartURL: "https://faro.awsapps.invalid/start", SSORegion: region, SSOAccount: account, SSORole: "Sandboxes", Template: "pizarra", TimeoutSeconds: 7200, IdleSeconds: 300},
		{Name: night, Kind: "keys", Region: region2, Template: "taller-python", IdleSeconds: 600},
		{Name: class, Kind: "role", Region: region, Source: lab, RoleARN: "arn:aws:iam::" + account + ":role/Aula3", Template: "pizarra", TimeoutSeconds: 3600, IdleSeconds: 180},
	}
	if s.kind != Error {
		s.own.Default = sandbox.ProfileLocal
		return
	}
	s.own.Default, s.prefs.DefaultProfile = lab, lab
	s.away[lab], s.away[class] = true, true
}

// unsigned is what a profile fails with that nobody is signed in to.
func unsigned(profile string) *sandbox.Error {
	do := "arenero profiles login " + profile
	return &sandbox.Error{
		Code: sandbox.SignIn, Msg: "nobody is signed in to the AWS profile " + profile, Hint: "run \"" + do + "\"; it then works by itself",
		Details: map[string]any{"profile": profile, "why": "expired", "command": do},
	}
}

// setReaches has each cloud answer, or say why not.
func (s *Scene) setReaches() {
	s.reaches = []sandbox.Reach{{Profile: sandbox.ProfileLocal, At: s.began.Add(-5 * time.Second)}}
	for i, p := range s.own.Profiles {
		r := sandbox.Reach{Profile: p.Name, At: s.began.Add(-time.Duration(7+i) * time.Second)}
		switch {
		case s.away[p.Name]:
			r.Error = unsigned(p.Name)
		case s.kind == Error:
			r.Error = &sandbox.Error{Code: sandbox.CloudDown, Msg: "the cloud does not answer", Retryable: true, Details: map[string]any{"region": p.Region}}
		}
		s.reaches = append(s.reaches, r)
	}
}

// A part is a sandbox of the story in few words. Times are in minutes.
type part struct {
	name, host, profile string
	state               sandbox.State
	age, used, left     float64
	idle                int
	running             int
	size                int
	cost                sandbox.Micro
	token               string
	reason              sandbox.EndReason
	keep, orphan        bool
}

func (s *Scene) setSandboxes() {
	cast := []part{
		{"informe-trimestral", "Claude Desktop", sandbox.ProfileLocal, sandbox.Running, 47, 0.05, 73, 5, 1, 2048, 0, "", "", false, false},
		{"entrenar-faro", "Cursor", lab, sandbox.Running, 161, 0.02, 79, 10, 2, 8192, 812_400, "", "", true, false},
		{"", "Visual Studio Code", lab, sandbox.Running, 22, 3.4, 38, 5, 1, 4096, 61_250, "", "", false, false},
		{"pruebas-nocturnas", "Claude Code", night, sandbox.Running, 54, 1.2, 4.3, 10, 1, 4096, 148_900, "nightly-tests", "", true, false},
		{"mapa-de-mareas", "Cursor", lab, sandbox.Suspended, 190, 64, 50, 5, 0, 4096, 204_310, "", "", true, false},
		{"clase-de-datos-con-un-nombre-muy-largo", "Claude Code", class, sandbox.Suspending, 12, 3, 48, 3, 0, 2048, 18_020, "classroom", "", false, false},
		{"", "Cursor", night, sandbox.Pending, 0.1, 0.1, 59.9, 10, 0, 4096, 0, "", "", false, false},
		{"comparar-modelos", "Visual Studio Code", lab, sandbox.Creating, 0.05, 0, 60, 5, 0, 0, 0, "", "", false, false},
		{"lote-7", "Claude Code", night, sandbox.InDoubt, 6, 0, 54, 0, 0, 4096, 0, "nightly-tests", "", false, false},
		{"", "", lab, sandbox.Running, 410, 0, 70, 0, 0, 4096, 0, "", "", false, true},
		{"borrador", "Claude Desktop", sandbox.ProfileLocal, sandbox.Terminating, 61, 1, 0, 5, 0, 2048, 0, "", "", false, false},
		{"extraer-tablas", "Zed", sandbox.ProfileLocal, sandbox.Terminated, 95, 31, 0, 5, 0, 2048, 0, "", sandbox.EndClosed, false, false},
	}
	for i, p := range cast {
		s.add(i, p)
	}
	for i, h := range []string{"Claude Desktop", "Cursor", "Visual Studio Code", "Claude Code", "Zed"} {
		l := sandbox.LeaseInfo{
			ID: fmt.Sprintf("l_%016x", 0xfa20+i), Connection: connectionOf(i), Host: h, Profile: sandbox.ProfileLocal, Attached: h != "Zed",
			Since: s.began.Add(-time.Duration(50-9*i) * time.Minute),
		}
		for _, b := range s.boxes {
			if b.Host == h && b.State.Alive() && l.Sandbox == "" && b.ID != "" {
				l.Sandbox, l.Profile, b.Lease = b.ID, b.Profile, l.ID
			}
		}
		s.leases = append(s.leases, l)
	}
}

// idOf is the id of the sandbox with a number, as the clouds write them.
func idOf(n int) string {
	rnd := random(uint64(1000 + n))
	return fmt.Sprintf("microvm-%08x-%04x-%04x-%04x-%012x", rnd.Uint32(), rnd.IntN(1<<16), 0x4000|rnd.IntN(1<<12), 0x8000|rnd.IntN(1<<14), rnd.Uint64N(1<<48))
}

// connectionOf is the id of the entry of the host with a number.
func connectionOf(n int) string {
	rnd := random(uint64(500 + n))
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	var b strings.Builder
	for range 12 {
		b.WriteByte(letters[rnd.IntN(len(letters))])
	}
	return "c_" + b.String()
}

func minutes(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }

// add puts a part on the stage.
func (s *Scene) add(n int, p part) {
	b := &box{counted: s.began, Sandbox: sandbox.Sandbox{
		ID: idOf(n), Key: fmt.Sprintf("key-%04d", n), Name: p.name, State: p.state, Profile: p.profile, Template: localImage, Version: "1",
		Host: p.host, Keep: p.keep, Orphan: p.orphan, Idle: time.Duration(p.idle) * time.Minute, Running: p.running, Grant: sandbox.GrantOwner,
		SizeMiB: p.size, StartedAt: s.began.Add(-minutes(p.age)), EndsAt: s.began.Add(minutes(p.left)), UsedAt: s.began.Add(-minutes(p.used)), EndReason: p.reason,
	}}
	if p.token != "" {
		b.Grant = s.grantID(p.token)
	}
	b.files = homeOf(b.Sandbox, s.began)
	if prof, ok := s.profile(p.profile); ok {
		b.Template, b.Version = image(prof.Region, prof.Template), "7"
	}
	if p.state == sandbox.Terminated {
		b.EndedAt, b.EndsAt = s.began.Add(-minutes(p.used)), s.began.Add(30*time.Minute)
	}
	if p.state == sandbox.Creating || p.state == sandbox.InDoubt {
		b.ID, b.UsedAt, b.Version = "", time.Time{}, ""
	}
	if p.orphan {
		b.Key, b.Grant, b.UsedAt, b.Host = "", "", time.Time{}, ""
	}
	if rates, plan, ok := s.rates(b.Sandbox); ok {
		b.PerHour = price.PerHour(rates, plan)
		b.Hold, _ = price.Worst(rates, plan)
		b.Cost = split(p.cost)
		if p.profile == sandbox.ProfileLocal {
			b.Hold, b.Cost = 0, split(sandbox.Micro(float64(b.PerHour)*(p.age-p.used)/60))
		}
	}
	if p.running > 0 {
		b.ports = []control.Port{{Number: 8000, Address: "127.0.0.1"}, {Number: 5173, Address: "0.0.0.0"}}
	}
	s.boxes = append(s.boxes, b)
}

// split spreads a sum over the parts of a cost.
func split(sum sandbox.Micro) sandbox.Cost {
	c := sandbox.Cost{Total: sum, Launch: sum / 40, Cycles: sum / 12, Storage: sum / 90}
	c.Compute = sum - c.Launch - c.Cycles - c.Storage
	return c
}

// rates are what a sandbox is paid by.
func (s *Scene) rates(b sandbox.Sandbox) (price.Rates, price.Plan, bool) {
	at := region
	if p, ok := s.profile(b.Profile); ok {
		at = p.Region
	}
	plan := price.Plan{SizeMiB: max(b.SizeMiB, 2048), Life: sandbox.Seconds(b.EndsAt.Sub(b.StartedAt) / time.Second), Idle: sandbox.Seconds(b.Idle / time.Second), Burst: sandbox.BurstBaseline}
	r, ok := s.table.Rates(at, plan.SizeMiB, s.began)
	return r, plan, ok
}

func (s *Scene) profile(name string) (control.OwnProfile, bool) {
	for _, p := range s.own.Profiles {
		if p.Name == name {
			return p, true
		}
	}
	return control.OwnProfile{}, false
}

// setMany fills the stage.
func (s *Scene) setMany() {
	rnd := random(9)
	states := []sandbox.State{sandbox.Running, sandbox.Running, sandbox.Running, sandbox.Suspended, sandbox.Suspended, sandbox.Pending}
	hosts := []string{"Claude Desktop", "Cursor", "Visual Studio Code", "Claude Code", "Zed"}
	profiles := []string{sandbox.ProfileLocal, lab, night, class}
	sizes := []int{2048, 4096, 8192}
	for i := range 1000 {
		s.add(i, part{
			name: fmt.Sprintf("tarea-%04d", i), host: hosts[i%len(hosts)], profile: profiles[rnd.IntN(len(profiles))], state: states[rnd.IntN(len(states))],
			age: 1 + 200*rnd.Float64(), used: 5 * rnd.Float64(), left: 5 + 300*rnd.Float64(), idle: 5 + rnd.IntN(10), running: rnd.IntN(2),
			size: sizes[rnd.IntN(len(sizes))], cost: sandbox.Micro(rnd.IntN(900_000)),
		})
	}
	for i := range 100 {
		b := s.boxes[10*i]
		l := sandbox.LeaseInfo{ID: fmt.Sprintf("l_%016x", i), Connection: connectionOf(i), Host: b.Host, Profile: b.Profile, Sandbox: b.ID, Attached: true, Since: b.StartedAt}
		b.Lease = l.ID
		s.leases = append(s.leases, l)
	}
}
