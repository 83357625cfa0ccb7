// Demo shows the main job on this computer: it starts a local cloud, and in it
// a sandbox that runs a command and some Python, sleeps, wakes with its
// variables, and ends. Every line is timed. "make demo" builds and runs it.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/arenero/arenero/app/internal/agent"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

const image = "arn:aws:lambda:us-east-1:000000000000:microvm-image:arenero-local"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "arenero-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var s session
	if err := step("start a local cloud", func() (string, error) {
		err := s.start(ctx, dir)
		return "on a private socket", err
	}); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	for _, part := range []struct {
		what string
		do   func(context.Context) (string, error)
	}{
		{"create a sandbox", s.create},
		{"run a command", s.command},
		{"run Python", func(ctx context.Context) (string, error) { return s.python(ctx, "import sys; x = 6 * 7; x") }},
		{"draw a plot", s.plot},
		{"suspend", s.suspend},
		{"wake by a call", func(ctx context.Context) (string, error) { return s.python(ctx, "x + 1") }},
		{"kill", s.kill},
	} {
		if err := step(part.what, func() (string, error) { return part.do(ctx) }); err != nil {
			return err
		}
	}
	return nil
}

// step does one thing, and prints what came of it and how long it took.
func step(what string, do func() (string, error)) error {
	begin := time.Now()
	got, err := do()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	fmt.Printf("%-22s %7.1f ms   %s\n", what, float64(time.Since(begin).Microseconds())/1000, got)
	return nil
}

// A session is a cloud and, once it is created, a sandbox in it.
type session struct {
	cloud  *exec.Cmd
	socket string
	api    *microvm.Client
	id     string
	client *agent.Client
}

// start runs "arenero cloud" from bin, and returns when it can be called.
func (s *session) start(ctx context.Context, dir string) error {
	s.socket = filepath.Join(dir, "cloud.sock")
	s.cloud = exec.Command(filepath.Join("bin", "arenero"), "cloud", "--socket", s.socket, "--data", filepath.Join(dir, "data"), "--json")
	s.cloud.Stderr = os.Stderr
	out, err := s.cloud.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cloud.Start(); err != nil {
		return fmt.Errorf("%w; \"make build-core\" makes it", err)
	}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		return errors.Join(errors.New("the cloud ended before it was ready"), s.cloud.Wait())
	}
	var key struct{ AccessKeyID, SecretAccessKey, Region string }
	if err := json.Unmarshal(line, &key); err != nil {
		return err
	}
	s.api = microvm.New(microvm.Options{
		Region:       key.Region,
		BaseEndpoint: aws.String("http://lambda." + key.Region + ".amazonaws.com"),
		Credentials:  credentials.NewStaticCredentialsProvider(key.AccessKeyID, key.SecretAccessKey, ""),
		HTTPClient: &http.Client{Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.dial(ctx) },
		}},
		NoRateLimit: true,
	})
	return nil
}

// dial reaches the cloud and, by their names, all VMs in it.
func (s *session) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "unix", s.socket)
}

func (s *session) close() error {
	if s.client != nil {
		s.client.Close()
	}
	s.cloud.Process.Signal(os.Interrupt)
	return s.cloud.Wait()
}

func (s *session) create(ctx context.Context) (string, error) {
	secret := make([]byte, 32)
	rand.Read(secret)
	digest := sha256.Sum256(secret)
	out, err := s.api.RunMicrovm(ctx, &microvm.RunMicrovmInput{
		ImageIdentifier:          aws.String(image),
		RunHookPayload:           aws.String(fmt.Sprintf(`{"token_sha256":%q,"v":1}`, hex.EncodeToString(digest[:]))),
		MaximumDurationInSeconds: aws.Int32(600),
		IdlePolicy: &wire.IdlePolicy{
			MaxIdleDurationSeconds: aws.Int32(300), SuspendedDurationSeconds: aws.Int32(300), AutoResumeEnabled: aws.Bool(true),
		},
	})
	if err != nil {
		return "", err
	}
	s.id = *out.MicrovmId
	s.client, err = agent.NewClient(agent.ClientConfig{
		Host:        *out.Endpoint,
		Plain:       true,
		Dial:        s.dial,
		AccessToken: base64.RawURLEncoding.EncodeToString(secret),
		Tokens:      s.mint,
	})
	if err != nil {
		return "", err
	}
	health, err := s.client.WaitReady(ctx)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s, agent %s, Python ready", health.SandboxID, health.Version), nil
}

func (s *session) mint(ctx context.Context) (agent.Token, error) {
	const minutes = 60
	out, err := s.api.CreateMicrovmAuthToken(ctx, &microvm.CreateMicrovmAuthTokenInput{
		MicrovmIdentifier:   &s.id,
		ExpirationInMinutes: aws.Int32(minutes),
		AllowedPorts:        []wire.PortSpecification{{Port: aws.Int32(8080)}},
	})
	if err != nil {
		return agent.Token{}, err
	}
	return agent.Token{JWE: out.AuthToken["X-aws-proxy-auth"], Expires: time.Now().Add(minutes * time.Minute)}, nil
}

func (s *session) command(ctx context.Context) (string, error) {
	var out strings.Builder
	cmd := agent.Command{Path: "/bin/bash", Args: []string{"-l", "-c", `echo "$(id -un) in $PWD, $(ls -d /home/* | wc -l) home, $(ps ax 2>/dev/null | wc -l) processes"`}}
	exit, err := s.client.Start(ctx, cmd, func(e agent.ProcessEvent) error {
		out.Write(e.Data)
		return nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (exit code %d)", strings.TrimSpace(out.String()), exit.Code), nil
}

// python runs code and returns the value of its last expression.
func (s *session) python(ctx context.Context, code string) (string, error) {
	data, err := s.run(ctx, code)
	return code + "  ⇒  " + data["text/plain"], err
}

func (s *session) plot(ctx context.Context) (string, error) {
	data, err := s.run(ctx, `import matplotlib.pyplot as plt
plt.plot([n * n for n in range(10)]);
plt.gcf()`)
	if err != nil {
		return "", err
	}
	png, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(data["image/png"], "\n", ""))
	if err != nil || len(png) == 0 {
		return "", fmt.Errorf("no picture came: %v", err)
	}
	file := filepath.Join("bin", "demo-plot.png")
	if err := os.WriteFile(file, png, 0o644); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d bytes of PNG, kept in %s", len(png), file), nil
}

// run runs code and returns all forms of what it shows, the last of a kind.
func (s *session) run(ctx context.Context, code string) (map[string]string, error) {
	data := map[string]string{}
	var raised error
	_, err := s.client.Execute(ctx, agent.Cell{Code: code}, func(e agent.CellEvent) error {
		if e.Error != nil {
			raised = fmt.Errorf("%s: %s", e.Error.Name, e.Error.Value)
		}
		if e.Result != nil {
			for kind, value := range e.Result.Data {
				data[kind] = value
			}
		}
		return nil
	})
	return data, errors.Join(err, raised)
}

func (s *session) suspend(ctx context.Context) (string, error) {
	if _, err := s.api.SuspendMicrovm(ctx, &microvm.SuspendMicrovmInput{MicrovmIdentifier: &s.id}); err != nil {
		return "", err
	}
	return s.until(ctx, wire.MicrovmStateSuspended)
}

func (s *session) kill(ctx context.Context) (string, error) {
	if _, err := s.api.TerminateMicrovm(ctx, &microvm.TerminateMicrovmInput{MicrovmIdentifier: &s.id}); err != nil {
		return "", err
	}
	return s.until(ctx, wire.MicrovmStateTerminated)
}

// until polls the VM until it is in state want.
func (s *session) until(ctx context.Context, want wire.MicrovmState) (string, error) {
	for {
		out, err := s.api.GetMicrovm(ctx, &microvm.GetMicrovmInput{MicrovmIdentifier: &s.id})
		if err != nil || out.State == want {
			return string(want), err
		}
		time.Sleep(5 * time.Millisecond)
	}
}
