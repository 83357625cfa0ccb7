package e2e

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
	"github.com/arenero/arenero/app/sandbox"
)

func copyLog(to io.Writer, from io.Reader) { io.Copy(to, from) }

// moneyFaults are what the cloud does wrong all the while: it refuses calls for
// being too many, answers with errors before it does anything, and loses answers
// after it has.
const moneyFaults = `{"seed":11,"rules":[
	{"operation":"*","probability":0.15,"error":"ThrottlingException"},
	{"operation":"*","probability":0.1,"status":503},
	{"operation":"*","probability":0.1,"drop":true}]}`

// TestMoney_EightBridgesFourHTTPClients has eight bridges and four HTTP clients
// spend one token, that is worth ten sandboxes, until they are refused; and then
// ends what they have in all ways there are.
func TestMoney_EightBridgesFourHTTPClients(t *testing.T) {
	spree(t, func(*purse, func() bool) {})
}

// TestMoney_EngineKilledInTheRush is the same with engines that are killed while
// the first sandboxes are made, when half of them are there, and when they end.
func TestMoney_EngineKilledInTheRush(t *testing.T) {
	spree(t, func(p *purse, due func() bool) {
		comes(p.t, "it is time to kill the engine", due)
		p.kill()
	})
}

// spree is the whole of the rush. disturb is called on the side with when to
// strike.
func spree(t *testing.T, disturb func(p *purse, due func() bool)) {
	const worth = 10
	p := newPurse(t, worth, moneyFaults)
	url := p.serve()
	for i := range 8 {
		p.stdio(fmt.Sprint("stdio", i)).lazy = i%2 == 0
	}
	for i := range 4 {
		p.web(fmt.Sprint("web", i), url).lazy = i%2 == 0
	}
	p.count(worth)

	var side, rush sync.WaitGroup
	side.Go(func() {
		for _, n := range []int{1, worth / 2} {
			disturb(p, func() bool { return p.atMost() >= n })
		}
	})
	for _, s := range p.spenders {
		rush.Go(func() {
			if err := p.spend(s, worth); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		})
	}
	rush.Wait()
	side.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if n := p.alive(); n != worth {
		t.Errorf("%d sandboxes exist, want %d", n, worth)
	}
	for _, s := range p.spenders {
		if s.refused == 0 {
			t.Errorf("%s was never refused", s.name)
		}
	}

	side.Go(func() { disturb(p, func() bool { return p.alive() < worth-3 }) })
	asleep := p.endAll()
	side.Wait()
	comes(t, "all have ended", func() bool { return p.alive() == 0 })
	comes(t, "nothing is held any more", func() bool { return len(p.orders(true)) == 0 })
	p.settled(asleep)
	p.check("in the end")
}

// A nap is when a sandbox was asleep, as far as can be told from outside: not
// before from[0] and surely from from[1] on; surely until to[0], and not after
// to[1].
type nap struct {
	id       string
	from, to [2]time.Time
}

// endAll ends sandboxes by tools, by a time that was set, by the command line,
// behind Arenero's back, with their bridges, and with bridges that are killed.
// One sleeps for a while first.
func (p *purse) endAll() nap {
	p.t.Helper()
	var made []string
	var killed, left, gone int
	for _, s := range p.spenders {
		made = append(made, s.created...)
	}
	if len(made) < 2 {
		p.t.Fatalf("only %d sandboxes were asked for by themselves", len(made))
	}
	p.must(p.spenders[0], "terminate_sandbox", map[string]any{"sandbox_id": made[0]})
	// Then there is room in the budget for one that sleeps when nobody reckoned
	// with that. With faults on it may take longer than the answer waits for.
	comes(p.t, "what was held for the first is given back", func() bool {
		return !slices.ContainsFunc(p.orders(true), func(o sandbox.Order) bool { return o.Sandbox == made[0] })
	})
	asleep := p.nap(made[1])
	ways := []func(id string){
		func(id string) {
			p.must(p.spenders[9], "schedule_removal", map[string]any{"sandbox_id": id, "at": time.Now().Add(time.Second).UTC().Format(time.RFC3339Nano)})
		},
		func(id string) { p.must(p.spenders[11], "terminate_sandbox", map[string]any{"sandbox_id": id}) },
		func(id string) {
			comes(p.t, "the account ends one", func() bool {
				_, err := p.api.TerminateMicrovm(p.t.Context(), &microvm.TerminateMicrovmInput{MicrovmIdentifier: &id})
				return err == nil
			})
		},
		func(id string) {
			comes(p.t, "the command line ends one", func() bool { _, code := p.do("kill", id); return code == 0 })
		},
	}
	for i, id := range made[1:] {
		ways[i%len(ways)](id)
	}
	for _, s := range p.spenders {
		switch {
		case !s.http && killed < 2 && s.used:
			killed++
			s.cmd.Process.Kill()
		case s.http:
			left++
			p.leave(s)
		default:
			gone++
			s.Close() // ends its bridge
		}
	}
	p.t.Logf("%d sandboxes were asked for, the others made for commands; %d bridges killed, %d ended, %d sessions ended", len(made), killed, gone, left)
	return asleep
}

// nap puts a sandbox to sleep for a moment.
func (p *purse) nap(id string) nap {
	p.t.Helper()
	n := nap{id: id}
	reach := func(want wire.MicrovmState) {
		comes(p.t, "a sandbox is "+string(want), func() bool { return p.vm(id).State == want })
	}
	n.from[0] = time.Now()
	p.must(p.spenders[8], "suspend_sandbox", map[string]any{"sandbox_id": id})
	reach(wire.MicrovmStateSuspended)
	n.from[1] = time.Now()
	time.Sleep(time.Second) // so that it shows in the price
	n.to[0] = time.Now()
	p.must(p.spenders[8], "resume_sandbox", map[string]any{"sandbox_id": id})
	reach(wire.MicrovmStateRunning)
	n.to[1] = time.Now()
	return n
}

// settled compares the account with what the cloud tells of its VMs.
//
// Both tell times to the millisecond, and what is settled runs from the cloud's
// own start to its own end: so each amount is the same to the millionth of a
// dollar, to which it is rounded up. Only of a sleep in between the cloud tells
// no time, here as in AWS. The engine takes down when it saw one begin and end,
// and so one that slept is held between what it costs if it slept as long, and
// as short, as can be.
func (p *purse) settled(asleep nap) {
	p.t.Helper()
	orders := map[string]sandbox.Order{}
	for _, o := range p.orders(false) {
		switch {
		case o.State == sandbox.OrderReleased && o.Sandbox == "":
		case o.State != sandbox.OrderSettled || o.Settled == nil || orders[o.Sandbox].ID != "":
			p.t.Errorf("after the end: %+v", o)
		default:
			orders[o.Sandbox] = o
		}
	}
	var booked, least, most sandbox.Micro
	var ids []string
	for _, item := range p.vms() {
		id := *item.MicrovmId
		o, ok := orders[id]
		if !ok {
			p.t.Errorf("nobody paid for %s", id)
			continue
		}
		ids = append(ids, id)
		s := p.spanOf(id)
		life := s.to.Sub(s.from)
		low := p.priceOf(o.SizeMiB, life, 0, 0)
		high := low
		if id == asleep.id {
			longest, shortest := asleep.to[1].Sub(asleep.from[0]).Truncate(time.Millisecond), asleep.to[0].Sub(asleep.from[1]).Truncate(time.Millisecond)
			low = p.priceOf(o.SizeMiB, life-longest-time.Millisecond, longest+time.Millisecond, 1)
			high = p.priceOf(o.SizeMiB, life-shortest, shortest, 1)
		}
		if got := *o.Settled; got < low || got > high {
			p.t.Errorf("%s, from %v to %v: settled for %d, want %d to %d: %+v", id, s.from, s.to, got, low, high, o)
		}
		if o.Hold < *o.Settled {
			p.t.Errorf("%s: held %d, settled %d", id, o.Hold, *o.Settled)
		}
		booked, least, most = booked+*o.Settled, least+low, most+high
	}
	if len(ids) != len(orders) || asleep.id != "" && !slices.Contains(ids, asleep.id) {
		p.t.Errorf("%d VMs for %d orders", len(ids), len(orders))
	}
	all, err := p.engine.Tokens(p.t.Context(), p.token.Grant.ID)
	if err != nil {
		p.t.Fatal(err)
	}
	if b := all[0].Budget; b.Held != 0 || b.Spent != booked || b.OverLimit || booked < least || booked > most {
		p.t.Errorf("the account says %+v, its orders sum up to %d, the cloud reckons %d to %d", b, booked, least, most)
	}
	p.t.Logf("%d sandboxes: %d µ$ settled, the cloud reckons %d to %d; %d at once at most", len(ids), booked, least, most, p.atMost())
	p.clean()
}
