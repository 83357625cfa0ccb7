package awsauth_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/keychain"
)

// retrieve gets the credentials of a configuration.
func retrieve(t *testing.T, cfg aws.Config) aws.Credentials {
	t.Helper()
	creds, err := cfg.Credentials.Retrieve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return creds
}

// Credentials are renewed before they run out, once for all who want them.
func TestRotation(t *testing.T) {
	r := newRig(t)
	synctest.Test(t, func(t *testing.T) {
		r.aws.roles[admin] = role{}
		r.keys(t, awsauth.Profile{Name: "a"})
		cfg, err := r.Config(t.Context(), r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin}))
		if err != nil {
			t.Fatal(err)
		}
		first := retrieve(t, cfg)
		time.Sleep(54 * time.Minute)
		if again := retrieve(t, cfg); again.AccessKeyID != first.AccessKeyID {
			t.Error("renewed too early")
		}
		time.Sleep(2 * time.Minute)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if retrieve(t, cfg).AccessKeyID == first.AccessKeyID {
					t.Error("not renewed in time")
				}
			})
		}
		wg.Wait()
		if got := r.aws.count("AssumeRole"); got != 2 {
			t.Errorf("the role was assumed %d times, want 2", got)
		}
		// Another who wants the profile gets the same.
		other, err := r.Config(t.Context(), r.profiles["b"])
		if err != nil || retrieve(t, other).AccessKeyID != retrieve(t, cfg).AccessKeyID {
			t.Errorf("two configurations of one profile: %v", err)
		}

		if at, err := r.Expires(t.Context(), r.profiles["b"]); err != nil || !at.Equal(retrieve(t, cfg).Expires) {
			t.Errorf("expires %v, %v", at, err)
		}

		// AWS is away: what is left is used to its end, and then AWS is back.
		time.Sleep(56 * time.Minute)
		r.aws.set(func() { r.aws.down = true })
		second := retrieve(t, cfg)
		time.Sleep(2 * time.Minute)
		retrieve(t, cfg)
		time.Sleep(3 * time.Minute)
		if creds, err := cfg.Credentials.Retrieve(t.Context()); err == nil {
			t.Errorf("credentials that ran out %v ago", time.Since(creds.Expires))
		}
		r.aws.set(func() { r.aws.down = false })
		if third := retrieve(t, cfg); third.AccessKeyID == second.AccessKeyID {
			t.Error("not renewed")
		}

		// What lives for less than the window is not asked for at each request.
		r.aws.set(func() { r.aws.life = 4 * time.Minute })
		time.Sleep(time.Hour)
		before := r.aws.count("AssumeRole")
		for range 10 {
			retrieve(t, cfg)
			time.Sleep(6 * time.Second)
		}
		if got := r.aws.count("AssumeRole") - before; got != 1 {
			t.Errorf("the role was assumed %d times in a minute", got)
		}
	})
}

// A computer whose clock is ten minutes off can sign, and takes neither what
// has run out for good nor what is good for void.
func TestClock(t *testing.T) {
	for _, skew := range []time.Duration{10 * time.Minute, -10 * time.Minute, time.Second} {
		t.Run(skew.String(), func(t *testing.T) {
			r := newRig(t)
			synctest.Test(t, func(t *testing.T) {
				r.aws.skew, r.aws.life = skew, 15*time.Minute
				r.aws.roles[admin] = role{}
				a := r.keys(t, awsauth.Profile{Name: "a"})
				if got := r.who(t, a); got != user {
					t.Errorf("is %s", got)
				}
				want := skew
				if skew.Abs() < time.Minute {
					want = 0
				}
				if got := r.Offset(); (got - want).Abs() > 2*time.Second {
					t.Errorf("offset %v, want %v", got, want)
				}
				cfg, err := r.Config(t.Context(), r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin}))
				if err != nil {
					t.Fatal(err)
				}
				first := retrieve(t, cfg)
				if left := time.Until(first.Expires); left < 7*time.Minute || left > 12*time.Minute {
					t.Errorf("good for %v by our clock", left)
				}
				time.Sleep(6 * time.Minute)
				if retrieve(t, cfg).AccessKeyID != first.AccessKeyID {
					t.Error("renewed too early")
				}
				time.Sleep(5 * time.Minute)
				if retrieve(t, cfg).AccessKeyID == first.AccessKeyID {
					t.Error("not renewed in time")
				}

				// By our clock these would be good, or not, the other way round.
				r.outside(t, 8*time.Minute)
				r.who(t, r.sso())
				if got := r.aws.count("/token refresh_token"); got != 0 {
					t.Error("renewed a login that was good")
				}
				r.outside(t, -time.Minute)
				r.who(t, r.sso())
				if got := r.aws.count("/token refresh_token"); got != 1 {
					t.Errorf("a login that had run out was renewed %d times", got)
				}
			})
		})
	}
}

// Files are read again when they have changed, though their stamp is as it was.
func TestChangedFiles(t *testing.T) {
	r := newRig(t)
	p := awsauth.Profile{Name: "n", Kind: awsauth.KindShared, Region: "xx-test-1"}
	_, err := r.Config(t.Context(), p)
	none, ok := errors.AsType[*awsauth.ErrNoProfile](err)
	if !ok || none.Name != "default" {
		t.Fatalf("error = %v", err)
	}
	path := r.write(t, ".aws/credentials", "[default]\naws_access_key_id = ONE\naws_secret_access_key = s\n")
	cfg, err := r.Config(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := retrieve(t, cfg).AccessKeyID; got != "ONE" {
		t.Fatalf("key %s", got)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	r.write(t, ".aws/credentials", "[default]\naws_access_key_id = TWO\naws_secret_access_key = s\n")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if got := retrieve(t, cfg).AccessKeyID; got != "TWO" {
		t.Errorf("key %s", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := cfg.Credentials.Retrieve(t.Context()); err == nil {
		t.Error("a key that is gone is used")
	}
}

// What a command prints may be a secret, also when it is not what it should be.
func TestCommandKeepsSecrets(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct{ prints, fails, want string }{
		{`{"Version":1,"AccessKeyId":"A","SecretAccessKey":"canary`, "", "no credentials that can be used"},
		{`{"Version":2,"AccessKeyId":"A","SecretAccessKey":"canary"}`, "", "no credentials that can be used"},
		{`{"Version":1,"SecretAccessKey":"canary"}`, "", "no credentials that can be used"},
		{`{"Version":1,"AccessKeyId":"A","SecretAccessKey":"canary","Expiration":"canary"}`, "", "no credentials that can be used"},
		{`canary`, "xxx", "exit status 3"},
	} {
		r.env["AWS_TEST_PRINTS"], r.env["AWS_TEST_FAILS"] = tt.prints, tt.fails
		r.again()
		_, err := r.Identity(t.Context(), r.add(awsauth.Profile{Name: "p", Kind: awsauth.KindProcess, Command: "'" + os.Args[0] + "' -test.run=^TestCommand$"}))
		if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.prints, err)
		}
	}
}

// Secrets are in the keychain and in the CLI's own file, and nowhere else: in
// no profile, no other file, no error.
func TestSecretsStay(t *testing.T) {
	r := newRig(t)
	r.aws.roles[admin] = role{mfa: true}
	r.aws.codes["123456"], r.person.code = true, "123456"
	r.aws.devices["device"] = "ok"
	r.keys(t, awsauth.Profile{Name: "a", MFASerial: serial})
	r.add(awsauth.Profile{Name: "b", Kind: awsauth.KindRole, Source: "a", RoleARN: admin})
	if err := r.Login(t.Context(), r.profiles["b"]); err != nil {
		t.Fatal(err)
	}
	if err := r.Login(t.Context(), r.sso()); err != nil {
		t.Fatal(err)
	}
	r.who(t, r.sso())
	files := 0
	err := filepath.WalkDir(r.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		if err == nil && path != r.login(t) && strings.Contains(string(text), "canary") {
			t.Errorf("%s holds a secret", path)
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("%d files, %v", files, err)
	}
	r.aws.set(func() { clear(r.aws.logins); clear(r.aws.renews); clear(r.aws.keys) })
	r.again()
	for _, p := range []awsauth.Profile{r.profiles["a"], r.profiles["b"], r.sso()} {
		if _, err := r.Identity(t.Context(), p); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}

// R26, R27: the region is that of the profile, else that of its files, and
// nothing else's.
func TestR27_RegionOfProfile(t *testing.T) {
	r := newRig(t)
	r.write(t, ".aws/config", "[default]\nregion = of-default-1\n[profile bare]\n")
	r.write(t, ".aws/credentials", "[default]\naws_access_key_id = A\naws_secret_access_key = s\n[bare]\naws_access_key_id = B\naws_secret_access_key = s\n")
	for _, tt := range []struct {
		p    awsauth.Profile
		want string
	}{
		{awsauth.Profile{Kind: awsauth.KindShared}, "of-default-1"},
		{awsauth.Profile{Kind: awsauth.KindShared, Region: "own-1"}, "own-1"},
		{awsauth.Profile{Kind: awsauth.KindShared, SharedProfile: "bare"}, ""},
		{awsauth.Profile{Kind: awsauth.KindKeys}, ""},
		{awsauth.Profile{Kind: awsauth.KindKeys, Region: "own-1"}, "own-1"},
	} {
		cfg, err := r.Config(t.Context(), tt.p)
		if cfg.Region != tt.want || (tt.want == "") != errors.Is(err, awsauth.ErrNoRegion) {
			t.Errorf("%+v: region %q, %v", tt.p, cfg.Region, err)
		}
	}
}

// What came out of a keychain is not used any more once that is locked, and is had
// anew when it is open again. Profiles that don't need it go on.
func TestLockedKeychain(t *testing.T) {
	r := newRig(t)
	vault := &lockable{Secrets: r.secrets}
	r.deps.Secrets = vault
	r.again()
	r.aws.roles[admin] = role{}
	r.keys(t, awsauth.Profile{Name: "session"})
	r.keys(t, awsauth.Profile{Name: "key", NoSession: true})
	r.add(awsauth.Profile{Name: "role", Kind: awsauth.KindRole, Source: "key", RoleARN: admin})
	r.outside(t, time.Hour)
	r.sso()
	all := map[string]aws.Config{}
	for name, p := range r.profiles {
		cfg, err := r.Config(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = cfg
		retrieve(t, cfg)
	}
	for _, class := range []keychain.Class{keychain.Locked, keychain.NoPassphrase, keychain.NoService, keychain.NoBus} {
		vault.err = &keychain.Error{Class: class, Op: "look"}
		for name, cfg := range all {
			if name == "s" {
				retrieve(t, cfg)
				continue
			}
			for range 2 {
				if _, err := cfg.Credentials.Retrieve(t.Context()); keychain.ClassOf(err) != class {
					t.Errorf("%s, %s: error = %v", name, class, err)
				}
			}
		}
		vault.err = nil
		for _, cfg := range all {
			retrieve(t, cfg)
		}
	}
	// Of a keychain that does not answer nothing is known.
	vault.err = &keychain.Error{Class: keychain.TimedOut, Op: "look"}
	for _, cfg := range all {
		retrieve(t, cfg)
	}
	if got := r.aws.count("/federation/credentials"); got != 1 {
		t.Errorf("the login was used %d times, want once", got)
	}
}
