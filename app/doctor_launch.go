package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/arenero/arenero/app/internal/agent"
	"github.com/arenero/arenero/app/internal/fleet"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/sandbox"
)

const (
	launchLife  = 300 * time.Second // of the sandbox: whatever happens to us, it ends
	endVMWithin = 30 * time.Second  // for the call that ends it
	lookEvery   = 200 * time.Millisecond
	runTries    = 3 // of the call that makes it, while its answer is lost

	// agentSeries is the protocol of the agents that we can speak to.
	agentSeries = "0.10"
)

// agent makes a sandbox, asks its agent how it is, and ends it again.
func (d *Doctor) agent(ctx context.Context, x *exam) {
	switch {
	case !d.cfg.Launch:
		x.skip(text("doctor.agent.unasked"))
		return
	case x.api == nil:
		x.skip(text("doctor.no-cloud"))
		return
	case x.image == "":
		x.skip(text("doctor.agent.no-image"))
		return
	}
	raw := make([]byte, 32)
	rand.Read(raw)
	secret := base64.RawURLEncoding.EncodeToString(raw)
	vm, err := d.launch(ctx, x, fleet.RunRequest{
		Token: uuid.NewString(), Image: x.image, Version: x.version, Role: d.roleARN(x), Life: launchLife, Secret: secret,
	})
	if err != nil {
		what := text("doctor.agent.run", "why", cause(err))
		if sandbox.CodeOf(err) == sandbox.CreateInDoubt {
			what = text("doctor.agent.doubt", "minutes", strconv.Itoa(int(launchLife.Minutes())))
		}
		x.fail(what, text("doctor.agent.run.remedy"))
		return
	}
	x.launched = vm.ID
	x.detail("sandbox_id", vm.ID)
	defer d.end(ctx, x, vm.ID)
	if vm, err = d.await(ctx, x, vm); err != nil {
		x.fail(text("doctor.agent.never", "why", cause(err)), text("doctor.agent.never.remedy"))
		return
	}
	d.ask(ctx, x, vm, secret)
}

// launch makes the VM. The same request with the same token makes no second
// one, so that a lost answer can be asked for again: nobody may be left with a
// sandbox that nobody knows of.
func (d *Doctor) launch(ctx context.Context, x *exam, req fleet.RunRequest) (fleet.VM, error) {
	for try := 1; ; try++ {
		vm, err := x.api.Run(ctx, req)
		if sandbox.CodeOf(err) != sandbox.CreateInDoubt && ctx.Err() == nil || err == nil {
			return vm, err
		}
		if try == runTries {
			return vm, err
		}
		if ctx.Err() != nil { // nobody waits any more, but there may be one
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), endVMWithin/runTries)
			defer cancel()
		}
	}
}

// await waits until the VM runs.
func (d *Doctor) await(ctx context.Context, x *exam, vm fleet.VM) (fleet.VM, error) {
	for {
		switch vm.State {
		case sandbox.Running:
			return vm, nil
		case sandbox.Terminated, sandbox.Terminating:
			return vm, errors.New(cmp.Or(redactText(vm.Reason), string(vm.State)))
		}
		select {
		case <-ctx.Done():
			return vm, ctx.Err()
		case <-d.cfg.Clock.After(lookEvery):
		}
		now, err := x.api.Get(ctx, vm.ID)
		if err != nil {
			return vm, err
		}
		vm = now
	}
}

// ask talks to the agent.
func (d *Doctor) ask(ctx context.Context, x *exam, vm fleet.VM, secret string) {
	never := text("doctor.agent.never.remedy")
	a, err := x.api.Agent(vm, secret)
	if err != nil {
		x.fail(text("doctor.agent.silent", "why", cause(err)), never)
		return
	}
	g := a.(*guest) // as all of our clouds make them
	defer g.Close()
	ready, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	h, err := g.client.WaitReady(ready)
	if err != nil {
		if h, herr := g.client.Health(ctx); herr == nil && h.AgentReady {
			d.health(x, h)
			return
		}
		x.fail(text("doctor.agent.silent", "why", cause(err)), never)
		return
	}
	d.health(x, h)
	exit, err := g.Start(ctx, sandbox.Exec{ID: uuid.NewString(), Args: []string{"sh", "-c", "exit 42"}, Timeout: 30 * time.Second}, func(fleet.Event) error { return nil })
	switch {
	case err != nil:
		x.fail(text("doctor.agent.command", "why", cause(err)), never)
	case exit.Code != 42:
		x.fail(text("doctor.agent.command", "why", "exit "+strconv.Itoa(exit.Code)), never)
	}
	x.ok(text("doctor.agent.ok", "version", h.Version))
}

// health tells what an agent says of itself.
func (d *Doctor) health(x *exam, h *agent.Health) {
	x.detail("agent_version", h.Version)
	x.detail("kernel_ready", h.KernelReady)
	x.detail("hook_anomalies", h.HookAnomalies)
	switch {
	case h.Version == "":
		x.warn(text("doctor.agent.unnamed", "want", agentSeries), text("doctor.agent.version.remedy"))
	case !strings.HasPrefix(h.Version, agentSeries+"."):
		x.fail(text("doctor.agent.version", "has", h.Version, "want", agentSeries), text("doctor.agent.version.remedy"))
	}
	if !h.KernelReady {
		x.warn(text("doctor.agent.kernel"), text("doctor.agent.kernel.remedy"))
	}
	if h.HookAnomalies > 0 {
		x.warn(text("doctor.agent.hooks", "count", strconv.FormatUint(h.HookAnomalies, 10)), text("doctor.agent.hooks.remedy"))
	}
}

// end ends the VM, also when nobody waits for us any more.
func (d *Doctor) end(ctx context.Context, x *exam, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endVMWithin)
	defer cancel()
	err := x.api.Terminate(ctx, id)
	switch sandbox.CodeOf(err) {
	case "", sandbox.NotFound, sandbox.Gone:
		x.detail("ended", true)
		return
	}
	x.detail("ended", false)
	x.fail(text("doctor.agent.lives", "id", id, "why", cause(err), "minutes", strconv.Itoa(int(launchLife.Minutes()))), hostconf.Text{})
}
