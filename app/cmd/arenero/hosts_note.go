package main

import (
	"context"
	"time"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/hostconf"
)

// noteWithin is how long an engine may take to keep what was done to an app.
const noteWithin = 5 * time.Second

// note has an engine that runs keep what was done to a host. None is started for
// it: then nobody keeps it, which changes nothing about what was done.
func (s *hostsSession) note(h hostconf.Host, changes ...app.HostChange) {
	notes := app.HostNotes(h, changes...)
	if len(notes) == 0 {
		return
	}
	client, err := look()
	if err != nil {
		return
	}
	defer client.Close()
	client.Patience = time.Millisecond
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), noteWithin)
	defer cancel()
	for _, n := range notes {
		if client.NoteHost(ctx, n) != nil {
			return
		}
	}
}
