package awsauth_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// A code serves for hours, for several profiles and several processes.
func TestMFA(t *testing.T) {
	r := newRig(t)
	r.aws.life = 12 * time.Hour
	r.aws.roles[admin] = role{mfa: true}
	r.keys(t, awsauth.Profile{Name: "a", MFASerial: serial})
	a := r.profiles["a"]
	b := r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin, MFASerial: serial})
	for _, p := range []awsauth.Profile{a, b} {
		_, err := r.Identity(t.Context(), p)
		signIn(t, err, p.Name, awsauth.NeedsMFA)
	}
	if len(r.person.asked) > 0 {
		t.Fatal("asked while signing")
	}
	for _, code := range []string{"000000", "12345", "12345x"} {
		r.person.code = code
		if err := r.Login(t.Context(), b); !errors.Is(err, awsauth.ErrWrongCode) {
			t.Fatalf("code %s: %v", code, err)
		}
	}
	r.aws.set(func() { r.aws.codes["123456"] = true })
	r.person.code = "123456"
	if err := r.Login(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	if want := "b " + serial; r.person.asked[len(r.person.asked)-1] != want {
		t.Errorf("asked for %q, want %q", r.person.asked[len(r.person.asked)-1], want)
	}
	asked := len(r.person.asked)
	for range 2 {
		if got := r.who(t, a); got != user {
			t.Errorf("is %s", got)
		}
		if got := r.who(t, b); got != assumed("Admin", "arenero-b") {
			t.Errorf("is %s", got)
		}
		r.again()
	}
	if got := r.aws.count("GetSessionToken"); got != 2 || len(r.person.asked) != asked { // the wrong code, the right one
		t.Errorf("%d sessions, asked %d times more", got, len(r.person.asked)-asked)
	}
	// The code of before is none any more.
	if err := r.Login(t.Context(), b); !errors.Is(err, awsauth.ErrWrongCode) {
		t.Errorf("used twice: %v", err)
	}
	if err := r.Logout(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	_, err := r.Identity(t.Context(), a)
	signIn(t, err, "a", awsauth.NeedsMFA)
}

// A role of files whose key stands in files gets its MFA session in the same
// way, and one that comes by a session asks for the role itself.
func TestMFAOfFiles(t *testing.T) {
	r := newRig(t)
	r.aws.roles[admin] = role{mfa: true}
	r.write(t, ".aws/config", "[default]\nregion = xx-test-1\n[profile r]\nregion = xx-test-1\nrole_arn = "+admin+"\nsource_profile = default\nmfa_serial = "+serial+"\n")
	r.write(t, ".aws/credentials", "[default]\naws_access_key_id = AKIAANA\naws_secret_access_key = canary-secret-of-ana\n")
	p := awsauth.Profile{Name: "n", Kind: awsauth.KindShared, SharedProfile: "r"}
	_, err := r.Identity(t.Context(), p)
	signIn(t, err, "n", awsauth.NeedsMFA)
	r.aws.set(func() { r.aws.codes["123456"] = true })
	r.person.code = "123456"
	if err := r.Login(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if got := r.who(t, p); got != assumed("Admin", "arenero-r") {
		t.Errorf("is %s", got)
	}

	r.env["AWS_TEST_PRINTS"] = `{"Version":1,"AccessKeyId":"AKIAANA","SecretAccessKey":"canary-secret-of-ana"}`
	prog, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r.add(awsauth.Profile{Name: "cmd", Kind: awsauth.KindProcess, Command: fmt.Sprintf("'%s' -test.run='^TestCommand$'", prog)})
	b := r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "cmd", RoleARN: admin, MFASerial: serial})
	_, err = r.Identity(t.Context(), b)
	signIn(t, err, "b", awsauth.NeedsMFA)
	r.aws.set(func() { r.aws.codes["654321"] = true })
	r.person.code = "654321"
	if err := r.Login(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	r.again()
	if got := r.who(t, b); got != assumed("Admin", "arenero-b") {
		t.Errorf("is %s", got)
	}
}

// What a person has to do, and what nobody can, are told apart.
func TestDenials(t *testing.T) {
	r := newRig(t)
	r.keys(t, awsauth.Profile{Name: "a"})
	b := r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin})
	_, err := r.Identity(t.Context(), b)
	denied, ok := errors.AsType[*awsauth.ErrDenied](err)
	if !ok || denied.Profile != "b" || !strings.Contains(err.Error(), admin) {
		t.Errorf("a role that we may not have: %v", err)
	}
	r.aws.set(func() { delete(r.aws.keys, "AKIAANA") })
	r.again()
	_, err = r.Identity(t.Context(), r.profiles["a"])
	signIn(t, err, "a", awsauth.KeysRefused)
	if err := r.Forget(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	_, err = r.Identity(t.Context(), b)
	signIn(t, err, "a", awsauth.NoKeys)

	r.person.err = context.Canceled
	p := r.add(awsauth.Profile{Name: "s", Kind: awsauth.KindSSO, StartURL: start, SSORegion: "xx-sso-1", SSOAccount: account, SSORole: "Dev"})
	if err := r.Login(t.Context(), p); !errors.Is(err, context.Canceled) {
		t.Errorf("a person who will not: %v", err)
	}
}

func TestLoops(t *testing.T) {
	r := newRig(t)
	r.add(awsauth.Profile{Name: "a", Kind: awsauth.KindRole, Source: "b", RoleARN: admin})
	r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "c", RoleARN: admin})
	r.add(awsauth.Profile{Name: "c", Kind: awsauth.KindRole, Source: "b", RoleARN: admin})
	r.add(awsauth.Profile{Name: "d", Kind: awsauth.KindRole, Source: "nobody", RoleARN: admin})
	r.write(t, ".aws/config", "[profile a]\nrole_arn = r\nsource_profile = b\nregion = x\n[profile b]\nrole_arn = r\nsource_profile = a\n[profile self]\nrole_arn = r\nsource_profile = self\n[profile d]\nrole_arn = r\nsource_profile = nobody\n")
	for _, tt := range []struct {
		p    awsauth.Profile
		want []string
	}{
		{r.profiles["a"], []string{"b", "c", "b"}},
		{awsauth.Profile{Name: "n", Kind: awsauth.KindShared, SharedProfile: "a"}, []string{"a", "b", "a"}},
		{awsauth.Profile{Name: "n", Kind: awsauth.KindShared, SharedProfile: "self"}, []string{"self", "self"}},
	} {
		_, err := r.Config(t.Context(), tt.p)
		loop, ok := errors.AsType[*awsauth.ErrLoop](err)
		if !ok || !slices.Equal(loop.Names, tt.want) {
			t.Errorf("%s: %v, want %v", tt.p.Name, err, tt.want)
		}
	}
	for _, p := range []awsauth.Profile{r.profiles["d"], {Name: "n", Kind: awsauth.KindShared, SharedProfile: "d"}} {
		_, err := r.Config(t.Context(), p)
		none, ok := errors.AsType[*awsauth.ErrNoProfile](err)
		if !ok || none.Name != "nobody" || none.From != "d" || !slices.Contains(none.Have, "a") {
			t.Errorf("a source that is not there: %v", err)
		}
	}
}
