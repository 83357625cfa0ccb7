package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// A Place is what a window shows.
type Place struct {
	Page    string `json:"page,omitempty"`    // "" is the one it shows already
	Subject string `json:"subject,omitempty"` // of the page: a sandbox, a profile
	NoIcon  bool   `json:"no_icon,omitempty"` // say that the tray has no place for its icon
}

// A Door is where the one program with windows of this user is told by others,
// which then end, what to show.
type Door struct {
	ln   net.Listener
	lock io.Closer
}

const (
	knockLine   = 16 << 10        // bytes of what is asked for at a door
	knockWithin = 5 * time.Second // to say it, and to answer
	knockAgain  = 20 * time.Millisecond
)

// OpenDoor opens the door at path, and calls show for each place that somebody
// asks for, one at a time, until it is closed. It fails with [ErrTaken] if
// another program has it: see [Knock].
func OpenDoor(ctx context.Context, path string, show func(Place)) (*Door, error) {
	lock, err := doorLock(path)
	if err != nil {
		return nil, err
	}
	ln, err := Listen(ctx, path)
	if err != nil {
		lock.Close()
		return nil, err
	}
	d := &Door{ln, lock}
	go d.serve(show)
	return d, nil
}

// Close closes the door.
func (d *Door) Close() error { return errors.Join(d.ln.Close(), d.lock.Close()) }

func (d *Door) serve(show func(Place)) {
	for {
		conn, err := d.ln.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // as of too many open files, which may pass
			time.Sleep(knockAgain)
			continue
		}
		d.answer(conn, show)
	}
}

func (d *Door) answer(conn net.Conn, show func(Place)) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(knockWithin))
	var p Place
	line, err := bufio.NewReader(io.LimitReader(conn, knockLine)).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &p) != nil {
		return // to see whether somebody is here
	}
	show(p)
	conn.Write([]byte("ok\n"))
}

// Knock asks the program that has the door at path to show a place. It gives one
// that is just starting some time.
func Knock(ctx context.Context, path string, p Place) error {
	ctx, cancel := context.WithTimeout(ctx, 2*knockWithin)
	defer cancel()
	for {
		err := knock(ctx, path, p)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(knockAgain):
		case <-ctx.Done():
			return &sandbox.Error{
				Code: sandbox.Unreachable, Msg: "the window that is open does not answer",
				Hint: "end arenero-window, and start it again", Err: err,
			}
		}
	}
}

func knock(ctx context.Context, path string, p Place) error {
	conn, err := dial(ctx, path)
	if err != nil {
		return err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(knockWithin))
	if err := json.NewEncoder(conn).Encode(p); err != nil {
		return fmt.Errorf("knock: %w", err)
	}
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return fmt.Errorf("knock: %w", noEOF(err))
	}
	return nil
}
