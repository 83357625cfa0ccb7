package e2e

import (
	"bytes"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arenero/arenero/app/sandbox"
)

// BenchmarkIdle measures what the engine needs while nobody wants anything of
// it: with nothing to do, with a hundred bridges that wait, and how often it
// asks AWS about one sandbox that nobody watches.
func BenchmarkIdle(b *testing.B) {
	for b.Loop() {
		printFigures(idleEngine(b))
		printFigures(unwatchedProfile(b))
	}
}

func idleEngine(b *testing.B) []figure {
	r := newEngineRig(b)
	lease, release := r.hold(b, nil)
	r.run(b, lease, "true")
	release()
	bridge, pid := r.bridge(b), r.enginePID(b)
	eventually(b, "the sandbox has ended", func() bool { return len(r.alive(b)) == 0 })
	mib := func(bytes int) float64 { return float64(bytes) / (1 << 20) }
	alone, wakes := resident(b, pid), wakeUps(b, pid, 30*time.Second)

	var all []*mcpServer
	own := 0
	for range 100 {
		all = append(all, bridge.start(b))
	}
	eventually(b, "the engine knows all bridges", func() bool {
		s, err := r.client.Status(b.Context())
		return err == nil && s.Leases == len(all)
	})
	crowd := resident(b, pid)
	for _, s := range all {
		own += resident(b, s.cmd.Process.Pid)
	}
	crowdWakes := wakeUps(b, pid, 30*time.Second)
	for _, s := range all {
		s.leave(b)
	}
	return []figure{
		{what: "engine with nothing to do, resident", ours: mib(alone), theirs: 30, unit: "MiB", goal: 1},
		{what: "engine with nothing to do, wake-ups", ours: wakes, theirs: 1, unit: "/s", goal: 1},
		{"engine with 100 bridges, resident", "with none", mib(crowd), mib(alone), "MiB", 0},
		{what: "engine with 100 bridges, wake-ups", ours: crowdWakes, theirs: 1, unit: "/s", goal: 1},
		{what: "each of 100 bridges, resident", ours: mib(own / len(all)), theirs: 14, unit: "MiB", goal: 1},
	}
}

var voluntary = regexp.MustCompile(`(?m)^voluntary_ctxt_switches:\s*(\d+)$`)

// wakeUps is how often in a second one of the process's threads went to sleep,
// and so had been awake.
func wakeUps(b *testing.B, pid int, during time.Duration) float64 {
	b.Helper()
	slept := func() (n int) {
		tasks, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "status"))
		if err != nil || len(tasks) == 0 {
			b.Fatalf("process %d: %v", pid, err)
		}
		for _, task := range tasks {
			text, err := os.ReadFile(task)
			if err != nil {
				continue // the thread has ended
			}
			if m := voluntary.FindSubmatch(text); m != nil {
				i, _ := strconv.Atoi(string(m[1]))
				n += i
			}
		}
		return n
	}
	before := slept()
	time.Sleep(during)
	return float64(slept()-before) / during.Seconds()
}

// unwatchedProfile counts what the engine asks of a cloud in which one sandbox
// of a bridge runs, while nobody looks at it.
func unwatchedProfile(b *testing.B) []figure {
	dir, err := shortDir()
	if err != nil {
		b.Fatal(err)
	}
	defer removeAll(b, dir)
	cloud := startCloud(b, dir)
	defer cloud.stop()
	counted := newCounter(b, cloud.info.Endpoint)

	r := newEngineRig(b)
	env := map[string]string{}
	for _, v := range cloud.env() {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	env["AWS_ENDPOINT_URL_LAMBDA_MICROVMS"] = counted.url
	lease, release := r.hold(b, func(l *sandbox.Lease) {
		l.Spec.Template = "arenero-local"
		l.Spec.Profile = sandbox.Profile{Name: "counted", Env: env}
	})
	defer release()
	r.run(b, lease, "true")
	every := counted.rate(b, 3)
	return []figure{{what: "calls to AWS for a profile nobody watches", ours: float64(time.Hour) / float64(every), theirs: 60, unit: "/h", goal: 1}}
}

// A counter is a way to a cloud that remembers when it was asked for something
// of the signed API.
type counter struct {
	url string

	mu   sync.Mutex
	came []time.Time // guarded by mu
}

func newCounter(b *testing.B, endpoint string) *counter {
	b.Helper()
	to, err := url.Parse(endpoint)
	if err != nil {
		b.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { ln.Close() })
	c := &counter{url: "http://" + ln.Addr().String()}
	go func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			go c.pass(client, to.Host)
		}
	}()
	return c
}

func (c *counter) pass(client net.Conn, to string) {
	defer client.Close()
	server, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer server.Close()
	go func() {
		io.Copy(client, server)
		client.Close()
	}()
	io.Copy(server, io.TeeReader(client, &marks{counter: c}))
}

// signed stands once in every request to the API, and in nothing that is sent
// to a VM.
const signed = "AWS4-HMAC-SHA256 Credential="

// marks looks for signatures in one stream.
type marks struct {
	*counter
	tail []byte // of what was written, too short for a signature
}

func (m *marks) Write(p []byte) (int, error) {
	text := append(m.tail, p...)
	for range bytes.Count(text, []byte(signed)) {
		m.mu.Lock()
		m.came = append(m.came, time.Now())
		m.mu.Unlock()
	}
	m.tail = slices.Clone(text[max(0, len(text)-len(signed)+1):])
	return len(p), nil
}

// rate waits for n more calls and returns how far they are apart.
func (c *counter) rate(b *testing.B, n int) time.Duration {
	b.Helper()
	take := func() []time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		return slices.Clone(c.came)
	}
	before := len(take())
	if before == 0 {
		b.Fatal("nothing was asked of the cloud")
	}
	for limit := time.Now().Add(time.Duration(n) * 10 * time.Minute); time.Now().Before(limit); time.Sleep(time.Second) {
		if came := take()[before:]; len(came) >= n {
			return came[n-1].Sub(came[0]) / time.Duration(n-1)
		}
	}
	b.Fatal("the engine never asks")
	return 0
}
