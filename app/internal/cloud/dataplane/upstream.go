package dataplane

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"

	"golang.org/x/net/http2/hpack"
)

// bind connects the tunnel to a port of a VM, unless it is already. The error
// is errElsewhere if it is connected to another.
func (t *tunnel) bind(ctx context.Context, s *session, port int) (*upstream, error) {
	t.joining.Lock()
	defer t.joining.Unlock()
	if app := t.target(); app != nil {
		if app.session != s || app.port != port {
			return nil, errElsewhere
		}
		return app, nil
	}
	conn, err := s.dial(ctx, port)
	if err != nil {
		return nil, err
	}
	// Who hangs up, or a VM that falls asleep, ends the wait for the app.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	app := &upstream{peer: newPeer(conn, bufio.NewReaderSize(conn, tunnelBuffer)), session: s, port: port}
	app.encoder = hpack.NewEncoder(&app.block)
	t.mu.Lock()
	config := t.config
	t.mu.Unlock()
	err = app.greet(config)
	if err == nil {
		err = app.hear()
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("greet app: %w", err)
	}
	t.mu.Lock()
	if t.ended {
		t.mu.Unlock()
		conn.Close()
		return nil, errAborted
	}
	late, more := t.config[len(config):], t.window
	t.app = app
	t.mu.Unlock()
	if len(late) > 0 {
		err = app.send(frameSettings, 0, 0, late)
	}
	if err == nil {
		err = app.credit(0, more)
	}
	if err != nil {
		conn.Close() // its reader ends the tunnel
	}
	t.wg.Go(func() {
		t.readApp(app)
		t.end(codeNone)
	})
	t.wg.Go(func() {
		select {
		case <-s.done: // the reader may be stuck with a client that takes nothing
			t.end(codeNone)
		case <-t.done:
		}
	})
	return app, nil
}

// greet opens an HTTP/2 connection.
func (u *upstream) greet(config []byte) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, err := u.bw.WriteString(preface); err != nil {
		return err
	}
	if err := u.writeLocked(frameSettings, 0, 0, config); err != nil {
		return err
	}
	return u.bw.Flush()
}

// hear looks whether the app speaks HTTP/2: it has to begin with settings.
func (u *upstream) hear() error {
	b, err := u.br.Peek(frameHeaderSize)
	if err != nil {
		return err
	}
	f := parseFrame(b)
	if f.kind != frameSettings || f.has(flagAck) || f.stream != 0 || f.length > smallFrame {
		return errProtocol
	}
	return nil
}

// readApp passes on what the app sends.
func (t *tunnel) readApp(app *upstream) {
	for {
		if app.idle() && t.client.flush() != nil {
			return
		}
		f, err := app.next()
		if err != nil {
			return
		}
		switch f.kind {
		case frameData, frameHeaders, frameReset, frameWindow:
			err = t.passDown(app, f)
		case frameGoAway:
			t.mu.Lock()
			t.farewell = true
			t.mu.Unlock()
			err = t.passWhole(app, f)
		case frameSettings:
			err = t.adopt(app, f)
		case framePing:
			err = pong(app.peer, f)
		case framePush, frameContinuation:
			err = errProtocol
		default:
			err = app.skip(f)
		}
		if err != nil {
			return
		}
	}
}

// passDown passes on a frame of a stream, and what belongs to it.
func (t *tunnel) passDown(app *upstream, f frame) error {
	t.mu.Lock()
	st := t.streams[f.stream]
	deaf := st != nil && st.deaf
	unknown := st != nil && !st.passed
	t.mu.Unlock()
	if unknown {
		return errProtocol
	}
	if st != nil && f.kind != frameWindow {
		st.touch()
	}
	end := f.has(flagEndStream) && (f.kind == frameData || f.kind == frameHeaders)
	if deaf && f.kind != frameWindow {
		return errDeaf // to leave out one head would spoil all that follow
	}
	if err := t.passWhole(app, f); err != nil {
		return err
	}
	switch {
	case st == nil:
	case f.kind == frameReset:
		t.drop(st)
	case end:
		t.half(st, false)
	}
	return nil
}

// passWhole passes a frame and, for a head in pieces, the rest of it: nothing
// may come between.
func (t *tunnel) passWhole(app *upstream, f frame) error {
	t.client.mu.Lock()
	defer t.client.mu.Unlock()
	for more := f.kind == frameHeaders; ; {
		if err := t.client.passLocked(f, app.peer); err != nil {
			return err
		}
		if !more || f.has(flagEndHeaders) {
			return nil
		}
		next, err := app.next()
		if err != nil {
			return err
		}
		if next.kind != frameContinuation || next.stream != f.stream {
			return errProtocol
		}
		f = next
	}
}

// adopt obeys the app's settings, and passes on those that are the client's
// business.
func (t *tunnel) adopt(app *upstream, f frame) error {
	b, err := app.small(f)
	if err != nil || f.has(flagAck) {
		return err
	}
	if len(b)%6 != 0 {
		return errProtocol
	}
	var rest []byte
	for ; len(b) > 0; b = b[6:] {
		id, value := binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:])
		switch id {
		case settingTableSize: // for heads, which are ours
			app.mu.Lock()
			app.encoder.SetMaxDynamicTableSizeLimit(min(value, 4096))
			app.mu.Unlock()
		case settingHeaders, settingConnect:
		default:
			rest = appendSetting(rest, id, value)
		}
	}
	if !app.heard {
		// Until now the client was told a window of 0.
		app.heard = true
		rest = append(appendSetting(nil, settingWindow, 65535), rest...)
	}
	if err := t.client.send(frameSettings, 0, 0, rest); err != nil {
		return err
	}
	return app.send(frameSettings, flagAck, 0, nil)
}
