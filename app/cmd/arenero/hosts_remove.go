package main

import (
	"fmt"
	"os"

	"github.com/arenero/arenero/app/internal/hostconf"
)

type hostsRemoveCommand struct {
	asJSON
	atEntry
	Hosts  []string `arg:"" optional:"" name:"host" complete:"host"`
	All    bool
	Yes    bool `short:"y"`
	DryRun bool
}

// Run is "arenero hosts remove".
func (c *hostsRemoveCommand) Run() error {
	switch {
	case c.All && len(c.Hosts) > 0:
		return wrong("cli.hosts.remove.both")
	case !c.All && len(c.Hosts) == 0:
		return wrong("cli.hosts.remove.none")
	}
	want, err := c.entry()
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	s, err := openHosts(ctx, c.JSON)
	if err != nil {
		return err
	}
	ids := c.Hosts
	if c.All {
		if ids, err = s.connected(); err != nil {
			return err
		}
	}
	out := []changeRow{}
	err = s.eachHost(ids, func(h hostconf.Host) error {
		if c.DryRun || s.asks(c.Yes) {
			preview, err := s.Remove(ctx, h, want, true)
			if err != nil {
				return err
			}
			for _, change := range preview {
				switch {
				case c.DryRun:
					out = append(out, s.show(change, "hosts.would."))
				case change.Action != hostconf.None:
					if err := s.consent(change); err != nil {
						return err
					}
				}
			}
			if c.DryRun {
				return nil
			}
		}
		changes, err := s.Remove(ctx, h, want, false)
		s.note(h, changes...)
		for _, change := range changes {
			out = append(out, s.print(change, "hosts.done."))
		}
		return err
	})
	return s.finish(out, err)
}

// connected are the hosts that have something of ours.
func (s *hostsSession) connected() ([]string, error) {
	var out []string
	for _, h := range s.Hosts.All() {
		status, err := s.Status(s.ctx, h, "")
		if err != nil {
			return nil, s.explain(h.ID, err)
		}
		ours := len(status.Connections) > 0
		for _, e := range status.Entries {
			ours = ours || e.State != hostconf.Foreign
		}
		if ours {
			out = append(out, h.ID)
		}
	}
	if len(out) == 0 && !s.inJSON {
		fmt.Fprintln(os.Stderr, s.say("hosts.nothing"))
	}
	return out, nil
}

type hostsUndoCommand struct {
	asJSON
	atEntry
	Host   string `arg:"" complete:"host"`
	Yes    bool   `short:"y"`
	DryRun bool
}

// Run is "arenero hosts undo".
func (c *hostsUndoCommand) Run() error {
	want, err := c.entry()
	if err != nil {
		return err
	}
	ctx, stop := interruptible()
	defer stop()
	s, err := openHosts(ctx, c.JSON)
	if err != nil {
		return err
	}
	h, err := s.host(c.Host)
	if err != nil {
		return err
	}
	if c.DryRun || s.asks(c.Yes) {
		preview, err := s.Undo(ctx, h, want, true)
		if err != nil {
			return s.explain(h.ID, err)
		}
		if c.DryRun {
			return s.finish([]changeRow{s.show(preview, "hosts.would.")}, nil)
		}
		if preview.Action != hostconf.None {
			if err := s.consent(preview); err != nil {
				return err
			}
		}
	}
	change, err := s.Undo(ctx, h, want, false)
	if err != nil {
		return s.explain(h.ID, err)
	}
	s.note(h, change)
	return s.finish([]changeRow{s.print(change, "hosts.done.")}, nil)
}
