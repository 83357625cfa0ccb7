package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/arenero/arenero/app"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// A doctorRig is a home with a doctor, and a cloud and an account to plant faults
// in. No keychain can be reached from it.
type doctorRig struct {
	t        *testing.T
	programs string
	home     string
	vars     map[string]string
	aws      *doctorAccountAWS
	cloud    *doctorCloud
	inside   string // shell commands that make a world of its own for the doctor
}

// A doctorCloud is a local cloud that listens, as AWS would.
type doctorCloud struct {
	endpoint string
	faults   string
	vars     map[string]string
	api      *microvm.Client
}

func startDoctorCloud(t *testing.T, programs string, more ...string) *doctorCloud {
	t.Helper()
	dir := t.TempDir()
	c := &doctorCloud{faults: filepath.Join(dir, "faults.json")}
	c.fault(t, `{}`)
	args := append([]string{"cloud", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--faults", c.faults, "--json"}, more...)
	cmd := exec.Command(filepath.Join(programs, "arenero"), args...)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(os.Interrupt)
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var note environ
	if err := json.Unmarshal(line, &note); err != nil {
		t.Fatal(err)
	}
	c.endpoint = note.Endpoint
	c.vars = map[string]string{
		"AWS_ENDPOINT_URL_LAMBDA_MICROVMS": note.Endpoint, "AWS_ACCESS_KEY_ID": note.AccessKeyID,
		"AWS_SECRET_ACCESS_KEY": note.SecretAccessKey, "AWS_REGION": note.Region, "RAYITO_TEMPLATE": "arenero-local",
	}
	c.api = microvm.New(microvm.Options{
		Region: note.Region, Credentials: credentials.NewStaticCredentialsProvider(note.AccessKeyID, note.SecretAccessKey, ""), BaseEndpoint: &note.Endpoint,
	})
	return c
}

// fault has the cloud go wrong on purpose, from the next call on.
func (c *doctorCloud) fault(t *testing.T, rules string) {
	t.Helper()
	next := c.faults + ".new" // another file each time, so that the cloud sees it
	err := os.WriteFile(next, []byte(rules), 0o600)
	if err == nil {
		err = os.Rename(next, c.faults)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func newDoctorRig(t *testing.T, cloud *doctorCloud, account *doctorAccountAWS) *doctorRig {
	t.Helper()
	dir, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	home, _, err := newHome(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { leave(t, dir, home) })
	r := &doctorRig{t: t, programs: dir, home: home, aws: account, cloud: cloud}
	r.vars = map[string]string{
		"ARENERO_HOME": home, "HOME": home, "XDG_RUNTIME_DIR": home, "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + home + "/no-bus",
		"PATH": filepath.Join(home, "bin"), "AWS_EC2_METADATA_DISABLED": "true", "ARENERO_LANG": "en",
	}
	return r
}

// inAWS has the shell of the doctor see the cloud and the account.
func (r *doctorRig) inAWS() {
	maps.Copy(r.vars, r.cloud.vars)
	r.vars["ARENERO_PROFILE"] = "environment"
	for _, v := range r.aws.env() {
		name, value, _ := strings.Cut(v, "=")
		r.vars[name] = value
	}
}

// ownPrograms gives the doctor programs of its own to spoil.
func (r *doctorRig) ownPrograms() {
	dir := r.t.TempDir()
	for _, name := range []string{"arenero", "arenero-agent", "arenero-bridge"} {
		if err := os.Link(filepath.Join(r.programs, name), filepath.Join(dir, name)); err != nil {
			r.t.Fatal(err)
		}
	}
	r.programs = dir
}

func (r *doctorRig) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(r.programs, "arenero"), args...)
	for name, value := range r.vars {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Stderr = r.t.Output()
	return cmd
}

// doctor runs it.
func (r *doctorRig) doctor(args ...string) (report app.DoctorReport, code int) {
	r.t.Helper()
	cmd := r.command(append([]string{"doctor", "--json"}, args...)...)
	if r.inside != "" {
		cmd.Args = append([]string{"sh", "-ec", "PATH=/usr/sbin:/usr/bin:/sbin:/bin; " + r.inside + "; PATH=$0; exec \"$@\"", r.vars["PATH"], cmd.Path}, cmd.Args[1:]...)
		cmd.Path = "/bin/sh"
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
	}
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		code = exit.ExitCode()
	} else if err != nil {
		r.t.Fatal(err)
	}
	if err := json.Unmarshal(out, &report); err != nil {
		r.t.Fatalf("%v: %s", err, out)
	}
	return report, code
}

func (r *doctorRig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *doctorRig) write(name, text string, mode os.FileMode) {
	path := filepath.Join(r.home, name)
	r.must(os.MkdirAll(filepath.Dir(path), 0o700))
	r.must(os.WriteFile(path, []byte(text), mode))
}

// replace puts another file in the place of a program.
func (r *doctorRig) replace(name, text string) {
	path := filepath.Join(r.programs, name)
	r.must(os.Remove(path)) // it is a link
	r.must(os.WriteFile(path, []byte(text), 0o755))
}

func (r *doctorRig) listen() net.Listener {
	r.must(os.MkdirAll(filepath.Join(r.home, "run"), 0o700))
	ln, err := net.Listen("unix", filepath.Join(r.home, "run", "control.sock"))
	r.must(err)
	return ln
}

// bus starts a session bus with nobody on it, and no services to start.
func (r *doctorRig) bus() {
	r.write("bus.conf", `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir=`+r.home+`</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`, 0o600)
	cmd := exec.Command("dbus-daemon", "--config-file="+filepath.Join(r.home, "bus.conf"), "--nofork", "--print-address=1")
	cmd.Stderr = r.t.Output()
	out, err := cmd.StdoutPipe()
	r.must(err)
	r.must(cmd.Start())
	r.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	r.must(err)
	r.vars["DBUS_SESSION_BUS_ADDRESS"] = strings.TrimSpace(line)
}

// deactivate has an image no version that is active.
func (r *doctorRig) deactivate(image string) {
	r.t.Helper()
	_, err := r.cloud.api.UpdateMicrovmImageVersion(r.t.Context(), &microvm.UpdateMicrovmImageVersionInput{
		ImageIdentifier: &image, ImageVersion: aws.String("1.0"), Status: wire.MicrovmImageVersionStatusInactive,
	})
	r.must(err)
}

// build makes an image, and waits for the end of its build.
func (r *doctorRig) build(name string) (arn string) {
	r.t.Helper()
	out, err := r.cloud.api.CreateMicrovmImage(r.t.Context(), &microvm.CreateMicrovmImageInput{
		Name: &name, BaseImageArn: aws.String("arn:aws:lambda:us-east-1:aws:microvm-image:al2023-1"), BuildRoleArn: aws.String(doctorRole),
		CodeArtifact: &wire.CodeArtifact{URI: aws.String("s3://arenero-templates/arenero-local")},
	})
	r.must(err)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		image, err := r.cloud.api.GetMicrovmImage(r.t.Context(), &microvm.GetMicrovmImageInput{ImageIdentifier: out.ImageArn})
		r.must(err)
		if image.State != wire.MicrovmImageStateCreating {
			return *out.ImageArn
		}
	}
	r.t.Fatal("the build does not end")
	return ""
}

// ended waits until no VM lives in the cloud, and tells how many there were.
func (r *doctorRig) ended() int {
	r.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		all := r.vms()
		if !slices.ContainsFunc(all, func(s wire.MicrovmState) bool { return s != wire.MicrovmStateTerminated }) {
			return len(all)
		}
	}
	r.t.Fatalf("a sandbox lives on: %v", r.vms())
	return 0
}

func (r *doctorRig) vms() (all []wire.MicrovmState) {
	r.t.Helper()
	out, err := r.cloud.api.ListMicrovms(context.WithoutCancel(r.t.Context()), &microvm.ListMicrovmsInput{})
	r.must(err)
	for _, vm := range out.Items {
		all = append(all, vm.State)
	}
	return all
}
