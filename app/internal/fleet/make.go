package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// Create makes a sandbox that belongs to no lease, and returns when it can be
// used. It lives until its time is up or somebody ends it.
func (f *Fleet) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Sandbox, error) {
	if err := spec.Validate(); err != nil {
		return sandbox.Sandbox{}, err
	}
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return sandbox.Sandbox{}, errClosing()
	}
	b := f.boxes[spec.Key]
	if b == nil {
		spec.Keep = true
		var err error
		if b, err = f.makeLocked(spec, nil); err != nil {
			f.mu.Unlock()
			return sandbox.Sandbox{}, err
		}
	}
	b.asking++
	made := b.made
	f.mu.Unlock()
	_, err := f.await(ctx, b, made, func(sandbox.Output) error { return nil })
	f.mu.Lock()
	defer f.mu.Unlock()
	b.asking--
	if err != nil {
		if ctx.Err() != nil {
			f.awaitAskerLocked(b)
		}
		return sandbox.Sandbox{}, err
	}
	if b.Untold {
		b.Untold = false
		f.noteLocked(b)
	}
	return f.nounLocked(b), nil
}

// awaitAskerLocked gives whoever asked for b some time to ask again. Else nobody
// will ever know of it, and it ends.
func (f *Fleet) awaitAskerLocked(b *box) {
	f.clock.AfterFunc(grace, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if b.Untold && b.asking == 0 && !f.closed {
			f.endLocked(b, sandbox.EndClosed)
		}
	})
}

// makeLocked begins to make a sandbox. That goes on when the call that needs it
// is given up, for others may wait for the same one.
func (f *Fleet) makeLocked(spec sandbox.Spec, l *sandbox.Lease) (*box, error) {
	if err := f.pausedLocked(); err != nil {
		return nil, err
	}
	key := newKey()
	if l == nil {
		key = cmp.Or(spec.Key, key)
	}
	b := &box{
		record: record{
			Key: key, State: sandbox.Creating, Profile: spec.Profile.Name, Name: spec.Name, Keep: spec.Keep, AskedAt: f.clock.Now(),
			Untold: l == nil && spec.IdempotencyKey == "", // by its key it is found at any time
			Grant:  spec.Grant,
			Request: RunRequest{
				Token: key, Image: spec.Template, Version: spec.Version, Role: spec.Role,
				Life: cmp.Or(spec.Timeout, defaultLife), Idle: spec.Idle, Env: spec.Env,
			},
		},
		profile: spec.Profile,
		token:   string(spec.AccessToken),
		asked:   spec.Template,
		made:    make(chan struct{}),
	}
	if b.profile.Name == "" {
		b.profile.Name, b.Profile = sandbox.ProfileLocal, sandbox.ProfileLocal
	}
	if l != nil {
		b.Lease, b.Connection, b.Parent, b.Host = l.ID, l.Connection, l.Parent, l.Host
	}
	if !f.beginLocked(func(ctx context.Context) { f.make(ctx, b) }) {
		return nil, errClosing()
	}
	f.boxes[key] = b
	f.changedLocked()
	return b, nil
}

// make makes b, and tells whoever waits for it.
func (f *Fleet) make(ctx context.Context, b *box) {
	begun := f.clock.Now()
	free, err := f.maker(ctx, b.Profile)
	if err == nil {
		err = f.launch(ctx, b)
	}
	if err == nil {
		err = f.settle(ctx, b)
	}
	if err == nil {
		err = f.awaitKernel(b, free)
	} else {
		free()
	}
	if ctx.Err() != nil {
		err = errClosing() // the next engine takes it up
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.madeLocked(b, err)
	if b.Ending != "" && b.ID != "" { // nobody wants it any more
		f.endLocked(b, b.Ending)
	}
	if err != nil {
		f.log.Warn("sandbox not made", "key", b.Key, "profile", b.Profile, "err", b.unnamed(err))
		return
	}
	f.log.Info("sandbox made", "sandbox", b.ID, "profile", b.Profile, "lease", b.Lease, "took", f.clock.Since(begun))
	f.pokeServe()
}

// unnamed is the text of err without what the caller asked for by name, which is
// no log's business.
func (b *box) unnamed(err error) string {
	var pairs []string
	for _, name := range []string{b.Request.Image, b.asked, b.Request.Role, b.Name, b.Request.Version} {
		if name != "" {
			pairs = append(pairs, name, "[...]")
		}
	}
	return strings.NewReplacer(pairs...).Replace(err.Error())
}

// maker waits for one of the places to make a sandbox: a computer that starts a
// hundred at once starts none in time.
func (f *Fleet) maker(ctx context.Context, profile string) (free func(), err error) {
	f.mu.Lock()
	places := f.makers[profile]
	if places == nil {
		n := makersAWS
		if profile == sandbox.ProfileLocal {
			n = max(4, 2*runtime.NumCPU())
		}
		places = make(chan struct{}, n)
		f.makers[profile] = places
	}
	f.mu.Unlock()
	select {
	case places <- struct{}{}:
		return sync.OnceFunc(func() { <-places }), nil
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
}

const makersAWS = 20

// awaitKernel waits for b's Python, which takes longer to start than its agent
// and is not needed by all, and then gives the maker's place free.
func (f *Fleet) awaitKernel(b *box, free func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	agent := b.agent
	quiet, unheed := context.WithCancel(context.Background())
	b.unheed = unheed
	if !f.beginLocked(func(ctx context.Context) {
		defer free()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(quiet, cancel)()
		if agent == nil || f.kernelUp(ctx, agent, f.clock.Now().Add(kernelSoon)) != nil {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		b.kernel = true
	}) {
		free()
		return errClosing()
	}
	return nil
}

const kernelSoon = 10 * time.Second

// madeLocked ends the attempt to make b.
func (f *Fleet) madeLocked(b *box, err error) {
	b.makeErr = err
	if err != nil && b.State != sandbox.InDoubt && !f.closed {
		for _, l := range f.leases {
			if l.box == b {
				l.box = nil // the next call tries again
			}
		}
		if b.ID == "" { // it never was
			f.releaseLocked(b, err)
			f.dropLocked(b)
		}
	}
	close(b.made)
	f.changedLocked()
}

// dropLocked forgets b.
func (f *Fleet) dropLocked(b *box) {
	delete(f.boxes, b.Key)
	if err := f.cfg.Store.Delete(kindBox, b.Key); err != nil {
		f.log.Error("sandbox not forgotten", "key", b.Key, "err", err)
	}
	if err := f.cfg.Secrets.Delete(b.Key); err != nil {
		f.log.Error("key not forgotten", "key", b.Key, "err", err)
	}
	if b.agent != nil {
		b.agent.Close()
	}
	f.changedLocked()
}

// launch writes down what is wanted, and asks the cloud for it.
func (f *Fleet) launch(ctx context.Context, b *box) error {
	s := secrets{Token: cmp.Or(b.token, newToken()), Env: b.Request.Env}
	if err := checkEnv(s.Env); err != nil {
		return err
	}
	profile := f.profileOf(b)
	cloud, err := f.cfg.Open(ctx, profile, true)
	var image Image
	if err == nil {
		image, err = cloud.Image(ctx, b.Request.Image, b.Request.Version)
	}
	f.heard(profile, err)
	if err != nil {
		return notMade(err)
	}
	if err := f.reserve(ctx, b, image); err != nil {
		return err
	}
	if err := f.keepSecrets(b.Key, s); err != nil {
		return err
	}
	f.mu.Lock()
	b.cloud, b.Request.Image = cloud, image.ARN
	b.Size = image.SizeMiB
	err = f.saveLocked(b, true)
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if err := f.creating(b); err != nil {
		return err
	}
	return f.run(ctx, b, s)
}

// newToken makes an access token that nobody else has.
func newToken() string {
	raw := make([]byte, 32)
	rand.Read(raw)
	return base64.RawURLEncoding.EncodeToString(raw)
}

// run asks the cloud for b, until there is an answer or it is in doubt.
func (f *Fleet) run(ctx context.Context, b *box, s secrets) error {
	req := b.Request
	req.Secret, req.Env = s.Token, s.Env
	vm, err := f.runAgain(ctx, b, req)
	if err != nil {
		return err
	}
	agent, err := b.cloud.Agent(vm, s.Token)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	b.adoptLocked(vm)
	b.agent = agent
	f.noteLocked(b)
	f.runningLocked(b)
	return nil
}

// settle waits until the agent of a new VM answers.
func (f *Fleet) settle(ctx context.Context, b *box) error {
	if err := f.ready(ctx, b, false); err != nil {
		if ctx.Err() != nil {
			return err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if b.EndReason != "" || b.Ending != "" {
			return b.goneLocked()
		}
		f.endLocked(b, sandbox.EndFailed)
		return notMade(err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if b.Ending == "" {
		b.State = sandbox.Running
		f.sawLocked(b, sandbox.Running)
	}
	return nil
}

// ready asks the agent until it may be used, through the sandbox's endpoint:
// what the control plane says is too late for that. With kernel its Python must
// be there too.
func (f *Fleet) ready(ctx context.Context, b *box, kernel bool) error {
	limit := f.clock.Now().Add(readyWithin)
	var last error
	for delay := 5 * time.Millisecond; ; delay = min(2*delay, time.Second) {
		f.mu.Lock()
		agent, gone := b.agent, b.goneLocked()
		over := agent == nil || b.EndReason != "" || b.Ending != ""
		f.mu.Unlock()
		if over { // somebody ends it, or has
			return gone
		}
		h, err := agent.Health(ctx)
		if err == nil && h.Agent && h.Sandbox != "" && (h.Kernel || !kernel) {
			f.mu.Lock()
			b.kernel = b.kernel || h.Kernel
			f.mu.Unlock()
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		last = err
		if vm, ok := f.ended(ctx, b, delay); ok {
			return &sandbox.Error{
				Code: sandbox.CreateFailed, Msg: "the sandbox ended before it was ready", Retryable: true,
				Details: map[string]any{"reason": vm.Reason}, Err: errors.New(vm.Reason),
			}
		}
		if !f.clock.Now().Before(limit) {
			return &sandbox.Error{Code: sandbox.CreateFailed, Msg: "the sandbox did not get ready in time", Retryable: true, Err: last}
		}
		if err := f.wait(ctx, delay); err != nil {
			return err
		}
	}
}

// ended asks the control plane whether a VM that does not answer is still
// there; not on each of the first tries, which are many. A cloud that has ended
// took the VM along.
func (f *Fleet) ended(ctx context.Context, b *box, delay time.Duration) (VM, bool) {
	if delay < 100*time.Millisecond {
		return VM{}, false
	}
	cloud, err := f.cloudOf(ctx, b)
	if err != nil || cloud == nil {
		return VM{Reason: "its cloud ended"}, err == nil
	}
	vm, err := cloud.Get(ctx, b.ID)
	return vm, err == nil && vm.State == sandbox.Terminated
}

// wait waits for d of the fleet's clock.
func (f *Fleet) wait(ctx context.Context, d time.Duration) error {
	timer := f.clock.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// notMade is err as the failure to make a sandbox, with the cause's own code
// where the caller can do something about that.
func notMade(err error) error {
	e := *sandbox.ToError(err)
	switch e.Code {
	case sandbox.Internal, sandbox.InTransition, sandbox.Gone, sandbox.NotFound, sandbox.CloudDown, sandbox.WrongState, sandbox.Timeout:
		e.Code, e.Retryable = sandbox.CreateFailed, true
	}
	return &e
}

const maxEnv = 3500 // bytes as JSON, of the 4096 that a run payload may have

func checkEnv(env map[string]string) error {
	text, err := json.Marshal(env)
	if err != nil {
		return fmt.Errorf("environment: %w", err)
	}
	if len(text) > maxEnv {
		return &sandbox.Error{Code: sandbox.Invalid, Msg: fmt.Sprintf("the environment has %d bytes, %d are allowed", len(text), maxEnv)}
	}
	return nil
}
