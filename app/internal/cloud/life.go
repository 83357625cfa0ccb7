package cloud

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// The texts of stateReason. Clients match fragments of them.
const (
	reasonTerminated = "Success."
	reasonLifetime   = "MicroVM exceeded maximum lifetime."
	reasonInternal   = "Internal service error."
	reasonCloudGone  = "The local cloud stopped while the MicroVM was alive."
)

// maxReason is the longest stateReason.
const maxReason = 2048

// live takes the VM through its life: it returns when the VM is on its way
// out, and ctx is done then at the latest.
func (v *microvm) live(ctx context.Context, launcher Launcher) error {
	stop := alarm(ctx, v.clock, v.StartedAt.Add(v.lifetime()), func() {
		v.doom(ending{reason: reasonLifetime, notify: true})
	})
	defer stop()
	if err := v.boot(ctx, launcher); err != nil {
		return err
	}
	for {
		if err := v.awake(ctx); err != nil {
			return err
		}
		if err := v.fallAsleep(ctx); err != nil {
			return err
		}
		if err := v.asleep(ctx); err != nil {
			return err
		}
		if err := v.wake(ctx); err != nil {
			return err
		}
	}
}

// boot takes a PENDING VM to RUNNING.
func (v *microvm) boot(ctx context.Context, launcher Launcher) error {
	m, err := launcher.Start(ctx, v.spec)
	if err != nil {
		return fmt.Errorf("start machine: %w", err)
	}
	v.mu.Lock()
	v.machine = m
	v.mu.Unlock()
	v.tasks.Go(func() { v.watch(m) })
	if err := v.pause(ctx, v.lags.Run); err != nil {
		return err
	}
	if err := v.callRun(ctx); err != nil {
		return err
	}
	v.change(wire.MicrovmStatePending, wire.MicrovmStateRunning)
	return ctx.Err()
}

// watch dooms the VM when its main process is gone. It ends with the machine.
func (v *microvm) watch(m Machine) {
	<-m.Done()
	v.doom(exited(m, v.lags.Exit))
}

func exited(m Machine, lag time.Duration) ending {
	return ending{reason: fmt.Sprintf("Container Stopped with Exit Code: %d", m.Exit()), lag: lag}
}

// awake waits until a RUNNING VM is to be suspended, by a call or because it
// was idle for long enough.
func (v *microvm) awake(ctx context.Context) error {
	var idle <-chan time.Time
	timer := v.clock.NewTimer(time.Hour)
	defer timer.Stop()
	if v.IdlePolicy == nil {
		timer.Stop()
	} else {
		idle = timer.Chan()
		timer.Reset(min(v.idleLeft(), maxNap))
	}
	for {
		state, changed := v.now()
		if state != wire.MicrovmStateRunning {
			return ctx.Err()
		}
		// Asked after the timer was set: a clock that was turned in between
		// can't be missed.
		if idle != nil && v.idleLeft() <= 0 {
			v.suspend(false)
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		case <-idle:
			timer.Reset(min(max(v.idleLeft(), 0), maxNap))
		}
	}
}

// idleLeft is how long the VM may stay silent from now on.
func (v *microvm) idleLeft() time.Duration {
	last := time.Unix(0, v.moved.Load())
	return last.Add(seconds(v.IdlePolicy.MaxIdleDurationSeconds)).Sub(v.clock.Now())
}

// fallAsleep takes a SUSPENDING VM to SUSPENDED.
func (v *microvm) fallAsleep(ctx context.Context) error {
	if err := v.callHook(ctx, hookSuspend); err != nil {
		return err
	}
	v.mu.Lock()
	v.cutLocked()
	m := v.machine
	v.mu.Unlock()
	if err := v.pause(ctx, v.lags.Suspend); err != nil {
		return err
	}
	if err := m.Freeze(ctx); err != nil {
		return fmt.Errorf("freeze machine: %w", err)
	}
	v.change(wire.MicrovmStateSuspending, wire.MicrovmStateSuspended)
	return ctx.Err()
}

// asleep waits until a SUSPENDED VM is to wake. A VM that sleeps too long ends.
func (v *microvm) asleep(ctx context.Context) error {
	if limit, ok := v.sleepLimit(); ok {
		v.mu.Lock()
		end := v.since.Add(limit)
		v.mu.Unlock()
		if v.clock.Until(end) <= 0 {
			return ending{reason: reasonLifetime}
		}
		stop := alarm(ctx, v.clock, end, func() { v.expireSleep(limit) })
		defer stop()
	}
	for {
		state, changed := v.now()
		if state != wire.MicrovmStateSuspended {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// expireSleep ends the VM if it has slept that long by now. A late timer of an
// earlier sleep does nothing.
func (v *microvm) expireSleep(limit time.Duration) {
	v.mu.Lock()
	slept := v.state == wire.MicrovmStateSuspended && v.clock.Since(v.since) >= limit
	v.mu.Unlock()
	if slept {
		v.doom(ending{reason: reasonLifetime})
	}
}

func (v *microvm) sleepLimit() (time.Duration, bool) {
	if v.IdlePolicy == nil {
		return 0, false
	}
	v.mu.Lock()
	asked := v.asked
	v.mu.Unlock()
	if asked && v.policy.KeepExplicitSuspends {
		return 0, false
	}
	return seconds(v.IdlePolicy.SuspendedDurationSeconds), true
}

// wake takes a VM from PENDING, as a wake calls it, to RUNNING.
func (v *microvm) wake(ctx context.Context) error {
	if err := v.pause(ctx, v.lags.Resume); err != nil {
		return err
	}
	if err := v.machine.Thaw(ctx); err != nil {
		return fmt.Errorf("thaw machine: %w", err)
	}
	if err := v.callHook(ctx, hookResume); err != nil {
		return err
	}
	v.change(wire.MicrovmStatePending, wire.MicrovmStateRunning)
	return ctx.Err()
}

// finish ends what live left: it returns when nothing of the VM runs. why is
// what live returned, for a VM that failed by itself.
func (v *microvm) finish(ctx context.Context, why error) error {
	v.mu.Lock()
	m := v.machine
	v.mu.Unlock()
	if m != nil && isClosed(m.Done()) {
		why = exited(m, v.lags.Exit)
	}
	v.doom(endingOf(why)) // no more than a word, if it was doomed already
	cause, _ := errors.AsType[ending](context.Cause(ctx))
	var trouble error
	if m != nil {
		v.mu.Lock()
		from := v.from
		v.mu.Unlock()
		calm := context.WithoutCancel(ctx)
		if cause.notify && from == wire.MicrovmStateRunning {
			v.callHook(calm, hookTerminate) // a courtesy: the VM goes anyway
		}
		v.pause(calm, v.lags.Terminate)
		trouble = m.Kill()
		<-m.Done()
		v.tasks.Wait()
	}
	return trouble
}

// conclude is the last change of state.
func (v *microvm) conclude(at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ended = at
	v.setLocked(wire.MicrovmStateTerminated, v.lags.Read)
}

// endingOf makes a reason of an error of live.
func endingOf(err error) ending {
	if e, ok := errors.AsType[ending](err); ok {
		return e
	}
	if err == nil {
		return ending{reason: reasonInternal}
	}
	reason := reasonInternal + " " + err.Error()
	return ending{reason: reason[:min(len(reason), maxReason)]}
}

// pause waits on the cloud's clock.
func (v *microvm) pause(ctx context.Context, d time.Duration) error { return wait(ctx, v.clock, d) }

func (v *microvm) lifetime() time.Duration { return time.Duration(v.MaximumDuration) * time.Second }

func seconds(n *int32) time.Duration { return time.Duration(*n) * time.Second }

func isClosed(ch <-chan struct{}) bool {
	select {
	case <-ch:
		return true
	default:
		return false
	}
}
