package agent

import (
	"context"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/arenero/arenero/app/internal/agent/agentpb"
)

// processSilence is how long a process may be silent before its streams say
// that they live.
const processSilence = 30 * time.Second

// maxSignal is the last of the real-time signals.
const maxSignal = 64

// A processService is the ProcessService.
type processService struct {
	agentpb.UnimplementedProcessServiceServer
	s *Server
}

// Start runs a program and follows it.
func (v *processService) Start(req *agentpb.StartRequest, stream grpc.ServerStreamingServer[agentpb.ProcessEvent]) error {
	p, err := v.s.startProcess(req)
	if err != nil {
		return err
	}
	return v.follow(p, p.first, stream)
}

// Connect follows a program that was started before.
func (v *processService) Connect(req *agentpb.ConnectRequest, stream grpc.ServerStreamingServer[agentpb.ProcessEvent]) error {
	p, err := v.s.processes.find(req.GetPid(), agentpb.ProcessKind_PROCESS_KIND_PROCESS, true)
	if err != nil {
		return err
	}
	sub, err := p.out.subscribe(req.GetFromSeq())
	if err != nil {
		return err
	}
	return v.follow(p, sub, stream)
}

func (v *processService) follow(p *process, sub *subscriber[chunk], stream grpc.ServerStreamingServer[agentpb.ProcessEvent]) error {
	defer sub.leave()
	closed := v.s.gate.suspending()
	if err := stream.Send(&agentpb.ProcessEvent{Event: &agentpb.ProcessEvent_Start{
		Start: &agentpb.StartEvent{Pid: uint32(p.pid)},
	}}); err != nil {
		return err
	}
	f := follower[chunk]{
		sub: sub, closed: closed, clock: v.s.clock, silence: processSilence,
		send: func(c chunk, seq uint64) error {
			data := &agentpb.DataEvent{Seq: seq}
			if c.stderr {
				data.Output = &agentpb.DataEvent_Stderr{Stderr: c.data}
			} else {
				data.Output = &agentpb.DataEvent_Stdout{Stdout: c.data}
			}
			return stream.Send(&agentpb.ProcessEvent{Event: &agentpb.ProcessEvent_Data{Data: data}})
		},
		beat: func() error {
			return stream.Send(&agentpb.ProcessEvent{Event: &agentpb.ProcessEvent_Keepalive{Keepalive: &agentpb.KeepAlive{}}})
		},
	}
	why, err := f.follow(stream.Context())
	if err != nil {
		return err
	}
	return stream.Send(&agentpb.ProcessEvent{Event: &agentpb.ProcessEvent_End{End: v.s.endOf(p, why)}})
}

// endOf is the last event of a stream that stopped for the reason why.
func (s *Server) endOf(p *process, why outcome) *agentpb.EndEvent {
	switch why {
	case followEnded:
		return p.ending()
	case followCut:
		return &agentpb.EndEvent{Status: "output_truncated", Error: &agentpb.StreamError{
			Code: "output_truncated", Message: "the stream was not read for too long",
		}}
	default:
		c := s.gate.cause()
		code := c.token
		if c == closingTerminate {
			code = "unavailable"
		}
		return &agentpb.EndEvent{Status: c.token, Error: &agentpb.StreamError{Code: code, Message: "the sandbox stops"}}
	}
}

// SendInput writes to the input of a process.
func (v *processService) SendInput(ctx context.Context, req *agentpb.SendInputRequest) (*agentpb.SendInputResponse, error) {
	in, err := v.input(req.GetPid())
	if err != nil {
		return nil, err
	}
	return &agentpb.SendInputResponse{}, in.write(ctx, req.GetData())
}

// CloseStdin ends the input of a process.
func (v *processService) CloseStdin(_ context.Context, req *agentpb.CloseStdinRequest) (*agentpb.CloseStdinResponse, error) {
	in, err := v.input(req.GetPid())
	if err != nil {
		return nil, err
	}
	return &agentpb.CloseStdinResponse{}, in.close()
}

func (v *processService) input(pid uint32) (*input, error) {
	p, err := v.s.processes.find(pid, agentpb.ProcessKind_PROCESS_KIND_PROCESS, false)
	if err != nil {
		return nil, err
	}
	if p.input == nil {
		return nil, errNoInput
	}
	return p.input, nil
}

// SendSignal reaches the group of a process, or its tree.
func (v *processService) SendSignal(_ context.Context, req *agentpb.SendSignalRequest) (*agentpb.SendSignalResponse, error) {
	if n := req.GetSignal(); n < 1 || n > maxSignal {
		return nil, status.Error(codes.InvalidArgument, "signal is not between 1 and 64")
	}
	p, err := v.s.processes.find(req.GetPid(), agentpb.ProcessKind_PROCESS_KIND_PROCESS, false)
	if err != nil {
		return nil, err
	}
	p.signal(syscall.Signal(req.GetSignal()))
	return &agentpb.SendSignalResponse{}, nil
}

// List tells what lives, terminals with it.
func (v *processService) List(context.Context, *agentpb.ListRequest) (*agentpb.ListResponse, error) {
	res := &agentpb.ListResponse{}
	for _, p := range v.s.processes.all() {
		res.Processes = append(res.Processes, &agentpb.ProcessInfo{
			Pid: uint32(p.pid), Config: p.config, Tag: p.tag, Kind: p.kind,
		})
	}
	return res, nil
}
