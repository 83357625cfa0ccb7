package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/cloud"
)

// An environ is how to reach a running cloud.
type environ struct {
	Endpoint        string `json:"endpoint,omitempty"` // of the listening form
	Socket          string `json:"socket,omitempty"`
	AccessKeyID     string `json:"accessKeyId"`
	SecretAccessKey string `json:"secretAccessKey"`
	Region          string `json:"region"`
	PID             int    `json:"pid"`
}

func environment(server *cloud.Server, listeners []net.Listener) environ {
	key := server.Credential()
	env := environ{
		AccessKeyID: key.AccessKeyID, SecretAccessKey: key.SecretAccessKey, Region: server.Region(), PID: os.Getpid(),
	}
	for _, ln := range listeners {
		if ln.Addr().Network() == "unix" {
			env.Socket = ln.Addr().String()
		} else {
			env.Endpoint = "http://" + reachable(ln.Addr())
		}
	}
	return env
}

// reachable is an address that this computer can call: one that stands for all
// of its addresses is none.
func reachable(a net.Addr) string {
	t, ok := a.(*net.TCPAddr)
	if !ok || !t.IP.IsUnspecified() {
		return a.String()
	}
	// Go listens to both families, whichever of the two addresses it is given.
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(t.Port))
}

// print writes lines for a POSIX shell, or one JSON object. The first line
// drops what would make an SDK look elsewhere for its keys.
func (e environ) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(e)
	}
	var b strings.Builder
	b.WriteString("unset AWS_PROFILE AWS_SESSION_TOKEN\n")
	if e.Endpoint == "" { // one of another cloud
		b.WriteString("unset AWS_ENDPOINT_URL_LAMBDA_MICROVMS\n")
	}
	for _, v := range []struct{ name, value string }{
		{"AWS_ENDPOINT_URL_LAMBDA_MICROVMS", e.Endpoint},
		{"ARENERO_CLOUD_SOCKET", e.Socket},
		{"AWS_ACCESS_KEY_ID", e.AccessKeyID},
		{"AWS_SECRET_ACCESS_KEY", e.SecretAccessKey},
		{"AWS_REGION", e.Region},
		{"ARENERO_CLOUD_PID", fmt.Sprint(e.PID)},
	} {
		if v.value != "" {
			fmt.Fprintf(&b, "export %s=%s\n", v.name, quote(v.value))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// quote makes s one word for a POSIX shell.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:+=,@%", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// save keeps e in dir, for "--print-env", until forget is called.
func (e environ) save(dir string) (forget func(), err error) {
	b, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	path := environFile(dir)
	if err := atomicfile.Write(path, append(b, '\n'), 0o600); err != nil {
		return nil, err
	}
	return func() { os.Remove(path) }, nil
}

func environFile(dir string) string { return filepath.Join(dir, "running.json") }

// printRunning is "arenero cloud --print-env".
func (c *cloudCommand) printRunning(dir string) error {
	note, err := readNote(dir)
	if err != nil {
		return err
	}
	for {
		var e environ
		if err := json.Unmarshal(note, &e); err != nil {
			return fmt.Errorf("read %s: %w", environFile(dir), err)
		}
		if !e.answers() {
			return failure("cli.cloud.ended", "folder", dir)
		}
		// What answered may be the next cloud, which then has its own note.
		again, err := readNote(dir)
		if err != nil {
			return err
		}
		if bytes.Equal(note, again) {
			return e.print(os.Stdout, c.JSON)
		}
		note = again
	}
}

func readNote(dir string) ([]byte, error) {
	note, err := os.ReadFile(environFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, failure("cli.cloud.none", "folder", dir)
	}
	return note, err
}

// answers tells whether something listens where e says: a cloud that was
// killed leaves its file behind.
func (e environ) answers() bool {
	network, address := "unix", e.Socket
	if e.Endpoint != "" {
		network, address = "tcp", strings.TrimPrefix(e.Endpoint, "http://")
	}
	conn, err := net.DialTimeout(network, address, 5*time.Second)
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
