package agent

import (
	"context"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// A Process is one that is alive in the sandbox.
type Process struct {
	PID      uint32
	Path     string
	Args     []string
	Dir      string
	Tag      string
	Terminal bool // started by OpenTerminal
}

// Processes lists what is alive.
func (c *Client) Processes(ctx context.Context) ([]Process, error) {
	res, _, err := call(ctx, c, true, c.processes.List, &agentpb.ListRequest{})
	if err != nil {
		return nil, err
	}
	var out []Process
	for _, p := range res.GetProcesses() {
		out = append(out, Process{
			PID: p.GetPid(), Path: p.GetConfig().GetCmd(), Args: p.GetConfig().GetArgs(),
			Dir: p.GetConfig().GetCwd(), Tag: p.GetTag(),
			Terminal: p.GetKind() == agentpb.ProcessKind_PROCESS_KIND_PTY,
		})
	}
	return out, nil
}

// findTag returns the process with this tag, or 0.
func (c *Client) findTag(ctx context.Context, tag string) (uint32, error) {
	all, err := c.Processes(ctx)
	for _, p := range all {
		if p.Tag == tag && !p.Terminal {
			return p.PID, nil
		}
	}
	return 0, err
}

// Signal sends a signal to the process and its group.
func (c *Client) Signal(ctx context.Context, pid uint32, signal int) error {
	_, _, err := call(ctx, c, true, c.processes.SendSignal, &agentpb.SendSignalRequest{Pid: pid, Signal: int32(signal)})
	return err
}

// SendStdin writes to the standard input of a process. CodeUnsure means that it
// may have got there.
func (c *Client) SendStdin(ctx context.Context, pid uint32, data []byte) error {
	_, _, err := call(ctx, c, false, c.processes.SendInput, &agentpb.SendInputRequest{Pid: pid, Data: data})
	return err
}

// CloseStdin ends the standard input of a process.
func (c *Client) CloseStdin(ctx context.Context, pid uint32) error {
	_, _, err := call(ctx, c, true, c.processes.CloseStdin, &agentpb.CloseStdinRequest{Pid: pid})
	return err
}

// optional is s as the wire has what need not be there.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func userToWire(name string) *agentpb.User {
	if name == "" {
		return nil
	}
	return &agentpb.User{Username: name}
}
