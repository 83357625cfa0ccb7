package dataplane

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/coder/websocket"
	"github.com/google/uuid"
)

var errShell = &Refusal{http.StatusBadGateway, CodeAppConnect, "The shell can't be reached"}

// shellFrame is a control message, in text. Terminal bytes are binary.
type shellFrame struct {
	Type      string `json:"type"`
	SessionID string `json:"session_id,omitempty"`
	Cols      int    `json:"cols,omitempty"`
	Rows      int    `json:"rows,omitempty"`
}

// serveShell joins a WebSocket to a terminal in the VM.
func (p *Proxy) serveShell(w http.ResponseWriter, r *http.Request, c call, l *lane, vm VM) error {
	sheller, ok := vm.(Sheller)
	if !ok || !c.upgrade {
		return errShell
	}
	vm.Touch()
	s, err := p.awake(r.Context(), l, vm)
	if err != nil {
		return err
	}
	vm.Touch()
	// The handler must end with the session, and with the client.
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	term, err := sheller.Shell(ctx, 80, 24)
	if err != nil {
		return errShell
	}
	defer term.Close()
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		Subprotocols:       []string{marker},
		InsecureSkipVerify: true, // the token is what counts, not the page
	})
	if err != nil {
		return nil // Accept has answered
	}
	defer ws.CloseNow()
	go func() {
		select {
		case <-s.done:
			cancel()
			ws.CloseNow()
		case <-ctx.Done():
		}
	}()
	return p.runShell(ctx, cancel, ws, term, vm)
}

func (p *Proxy) runShell(ctx context.Context, cancel context.CancelFunc, ws *websocket.Conn, term Terminal, vm VM) error {
	init, err := json.Marshal(shellFrame{Type: "session_init", SessionID: uuid.NewString()})
	if err != nil {
		return err
	}
	if ws.Write(ctx, websocket.MessageText, init) != nil {
		return nil
	}
	typed := make(chan struct{})
	go func() {
		defer close(typed)
		defer cancel()
		defer term.Close() // the client is gone: hang up
		typeInto(ctx, ws, term, vm)
	}()
	buf := p.buffers.Get().(*[bufferSize]byte)
	defer p.buffers.Put(buf)
	for {
		n, err := term.Read(buf[:])
		if n > 0 {
			vm.Touch()
			if ws.Write(ctx, websocket.MessageBinary, buf[:n]) != nil {
				break
			}
		}
		if err != nil {
			if ctx.Err() == nil {
				ws.Close(websocket.StatusNormalClosure, "shell exited")
			}
			break
		}
	}
	ws.CloseNow()
	<-typed
	return nil
}

// typeInto obeys the client until it leaves.
func typeInto(ctx context.Context, ws *websocket.Conn, term Terminal, vm VM) {
	for {
		kind, data, err := ws.Read(ctx)
		if err != nil {
			return
		}
		vm.Touch()
		var f shellFrame
		if kind == websocket.MessageText && json.Unmarshal(data, &f) == nil && f.Type == "resize" {
			if f.Cols > 0 && f.Rows > 0 && f.Cols < 1<<16 && f.Rows < 1<<16 {
				_ = term.Resize(f.Cols, f.Rows) // a shell that just ended has no size
			}
			continue
		}
		if _, err := term.Write(data); err != nil && err != io.ErrShortWrite {
			return
		}
	}
}
