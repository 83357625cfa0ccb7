package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/sandbox"
)

type profilesTestCommand struct {
	asJSON
	Name string `arg:"" complete:"profile"`
}

// Run is "arenero profiles test".
func (c *profilesTestCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		raw, err := s.engine(control.ProfileRequest{Action: control.ProfileTest, Name: c.Name}, nil)
		if err != nil {
			return err
		}
		var t app.ProfileTest
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, t)
		}
		rows := [][]string{}
		add := func(key, value string) {
			if value != "" {
				rows = append(rows, []string{s.say("profiles.test." + key), printable(value)})
			}
		}
		add("profile", t.Profile)
		add("account", t.Account)
		add("arn", t.ARN)
		if !t.Asked {
			add("arn", s.say("profiles.test.not-asked"))
		}
		add("region", t.Region)
		if !t.Expires.IsZero() {
			add("expires", t.Expires.Local().Format(time.DateTime))
		}
		add("template", t.Template)
		add("microvms", fmt.Sprint(t.MicroVMs))
		return writeTable(os.Stdout, rows)
	})
}

type profilesLoginCommand struct {
	asJSON
	Name      string `arg:"" complete:"profile"`
	NoBrowser bool
}

// Run is "arenero profiles login".
func (c *profilesLoginCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		p, err := s.Get(c.Name)
		if err != nil {
			return err
		}
		err = s.login(c.Name, !c.NoBrowser)
		if e, ok := errors.AsType[*sandbox.Error](err); ok && e.Code == sandbox.SignIn && p.Kind == awsauth.KindKeys && s.ask.terminal {
			if why := e.Details["why"]; why == string(awsauth.NoKeys) || why == string(awsauth.KeysRefused) {
				fmt.Fprintln(os.Stderr, s.explain(err))
				if err := s.setKey(c.Name, ""); err != nil {
					return err
				}
				err = s.login(c.Name, !c.NoBrowser)
			}
		}
		if err != nil {
			return err
		}
		return s.done("profiles.login.done", c.Name, nil)
	})
}

// login has the engine sign in, and answers what it asks for.
func (s *profilesSession) login(profile string, browser bool) error {
	client, err := need()
	if err != nil {
		return err
	}
	r := control.ProfileRequest{Action: control.ProfileLogin, Name: profile, Browser: browser && hasBrowser()}
	_, err = client.Profile(s.ctx, r, func(e control.ProfileEvent) error {
		switch p := e.Prompt; {
		case p == nil:
			return nil
		case p.ID == "":
			s.show(*p, browser)
			return nil
		default:
			code, err := s.ask.line(s.say("profiles.ask.mfa", "profile", p.Profile, "serial", p.Serial))
			if err != nil {
				return err
			}
			return client.Answer(s.ctx, p.ID, code)
		}
	})
	return err
}

// show tells a person where to confirm a login, and opens the page.
func (s *profilesSession) show(p control.Prompt, browser bool) {
	fmt.Fprintln(os.Stderr, s.say("profiles.login.page", "profile", p.Profile, "url", printable(p.URL)))
	if p.Code != "" {
		fmt.Fprintln(os.Stderr, s.say("profiles.login.code", "code", printable(p.Code)))
	}
	if browser && hasBrowser() {
		openPage(p.URL) // whoever sees no page has the address
	}
}

// hasBrowser reports whether a page can be shown on this computer.
func hasBrowser() bool {
	switch runtime.GOOS {
	case "windows", "darwin":
		return true
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return false
	}
	_, err := exec.LookPath("xdg-open")
	return err == nil
}

func openPage(url string) {
	argv := []string{"xdg-open", url}
	switch runtime.GOOS {
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	case "darwin":
		argv = []string{"open", url}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}

type profilesLogoutCommand struct {
	asJSON
	Name string `arg:"" complete:"profile"`
}

// Run is "arenero profiles logout".
func (c *profilesLogoutCommand) Run() error {
	return withProfiles(c.JSON, func(s *profilesSession) error {
		if _, err := s.engine(control.ProfileRequest{Action: control.ProfileLogout, Name: c.Name}, nil); err != nil {
			return err
		}
		return s.done("profiles.logout.done", c.Name, nil)
	})
}
