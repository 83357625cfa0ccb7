package awsauth_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// documented are the forms that the files of AWS may have.
var documented = []struct {
	name, config, credentials string
	names                     []string // of the profiles
	problems                  int
}{
	{"nothing", "", "", nil, 0},
	{"plain", "[default]\nregion=a\n[profile b]\nregion = b\n", "[default]\naws_access_key_id=A\naws_secret_access_key=s\n", []string{"b", "default"}, 0},
	{"spaces", "[ default ]\nregion   =   a  \n[profile   b]\nregion=b\n[\tprofile\tc\t]\nregion=c\n", "[ d ]\naws_access_key_id = A\naws_secret_access_key = s", []string{"b", "c", "d", "default"}, 0},
	{"CRLF", "[default]\r\nregion=a\r\n\r\n# no\r\n[profile b]\r\nrole_arn=r\r\nsource_profile=default\r\n", "[default]\r\naws_access_key_id=A\r\naws_secret_access_key=s\r\n", []string{"b", "default"}, 0},
	{"byte order mark", "\ufeff[default]\nregion=a\n[profile b]\nregion=b\n", "\ufeff# no\n[c]\naws_access_key_id=A\naws_secret_access_key=s\n", []string{"b", "c"}, 3},
	{"comments", "# a\n; b\n  # c\n[default] # d\nregion=a # e\n[profile b] ; f\nregion=b;c\noutput=x\t# y\n", "", []string{"b", "default"}, 0},
	{"cut by a comment", "[profile a#b]\nregion=a\n[default]\n", "", []string{"default"}, 2},
	{"nested", "[default]\nregion=a\ns3 =\n  max_concurrent_requests = 2\n  region = nested\n  aws_access_key_id = NESTED\noutput=json\n", "", []string{"default"}, 0},
	{"indented", "[default]\n  region = a\n  role_arn = r\n  source_profile = k # yes\n", "[k]\n  aws_access_key_id = A\n\taws_secret_access_key = s\n", []string{"default", "k"}, 0},
	{"continued", "[default]\nregion = a\n and more\ncredential_process = run\n  this\n", "", []string{"default"}, 0},
	{"session", "[default]\nsso_session=corp\nsso_account_id=1\nsso_role_name=r\nregion=a\n[sso-session corp]\nsso_region=b\nsso_start_url=https://x/\nsso_registration_scopes=sso:account:access\n", "", []string{"default"}, 0},
	{"session that is not there", "[default]\nsso_session=corp\nregion=a\n", "", []string{"default"}, 0},
	{"services", "[default]\nservices=dev\nregion=a\n[services dev]\nsts =\n  endpoint_url = http://localhost\n", "", []string{"default"}, 0},
	{"loop", "[profile a]\nrole_arn=r\nsource_profile=b\n[profile b]\nrole_arn=r\nsource_profile=a\n", "", []string{"a", "b"}, 0},
	{"its own source", "[profile a]\nrole_arn=r\nsource_profile=a\n", "[a]\naws_access_key_id=A\naws_secret_access_key=s\n", []string{"a"}, 0},
	{"source that is not there", "[profile a]\nrole_arn=r\nsource_profile=b\n", "", []string{"a"}, 0},
	{"without prefix", "[work]\nregion=a\n[default]\nregion=b\n", "[profile c]\naws_access_key_id=A\naws_secret_access_key=s\n", []string{"default"}, 2},
	{"default with prefix", "[default]\nregion=a\nrole_arn=r\n[profile default]\nregion=b\n", "", []string{"default"}, 0},
	{"in both", "[profile a]\nregion=a\nsource_profile=x\nrole_arn=r\n[profile x]\nregion=x\n", "[a]\nregion=b\nsource_profile=y\n[y]\naws_access_key_id=A\naws_secret_access_key=s\n", []string{"a", "x", "y"}, 0},
	{"twice", "[profile a]\nregion=a\noutput=json\n[profile a]\nregion=b\n", "", []string{"a"}, 0},
	{"cases", "[DEFAULT]\nREGION=a\n[profile B]\nRole_Arn=r\nSource_Profile=DEFAULT\n", "", []string{"B", "DEFAULT"}, 0},
	{"quotes", "[default]\nregion=\"a\"\n[profile b]\nregion='b'\nrole_arn='r\"\n", "", []string{"b", "default"}, 0},
	{"colon", "[default]\nregion: a\nrole_arn:r=x\nsource_profile=b:c\n", "", []string{"default"}, 0},
	{"half a key", "[default]\nregion=a\naws_access_key_id=A\n", "", []string{"default"}, 0},
	{"two kinds", "[default]\nregion=a\nrole_arn=r\nsource_profile=a\ncredential_process=c\n", "", []string{"default"}, 0},
	{"wrong value", "[default]\nregion=a\nretry_mode=wild\n", "", []string{"default"}, 0},
	{"junk", "region=before\n[default]\nregion=a\nnothing at all\n[open\nx=y\n", "", []string{"default"}, 3},
	{"name of words", "[profile my own work]\nregion=a\n", "[my own home]\naws_access_key_id=A\naws_secret_access_key=s\n", []string{"my own home", "my own work"}, 0},
	{"empty names", "[]\nregion=a\n[profile ]\nregion=b\n[profile]\nregion=c\n", "[]\nregion=x\n", nil, 4},
	{"no end of line", "[default]\nregion=a", "[default]\naws_access_key_id=A\naws_secret_access_key=s", []string{"default"}, 0},
}

func put(t testing.TB, config, credentials string) awsauth.Files {
	t.Helper()
	dir, err := os.MkdirTemp("", "awsauth") // t's own would grow with the number of files put
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	f := awsauth.Files{Config: filepath.Join(dir, "config"), Credentials: filepath.Join(dir, "credentials")}
	for path, text := range map[string]string{f.Config: config, f.Credentials: credentials} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

// sdk is what the SDK makes of a profile.
func sdk(t testing.TB, f awsauth.Files, name string) (config.SharedConfig, error) {
	t.Helper()
	return config.LoadSharedConfigProfile(t.Context(), name, func(o *config.LoadSharedConfigOptions) {
		o.ConfigFiles, o.CredentialsFiles = []string{f.Config}, []string{f.Credentials}
	})
}

// compare holds what we say of the files to what the SDK says.
func compare(t testing.TB, f awsauth.Files) ([]awsauth.Found, []awsauth.Problem) {
	t.Helper()
	found, problems, err := awsauth.Scan(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range found {
		sc, err := sdk(t, f, p.Name)
		if _, missing := errors.AsType[config.SharedConfigProfileNotExistError](err); missing && !errors.As(err, new(config.SharedConfigAssumeRoleError)) {
			t.Errorf("profile %q is in the list, and not for the SDK", p.Name)
			continue
		}
		if (err == nil) != (p.Err == nil) {
			t.Errorf("profile %q: %v, for the SDK %v", p.Name, p.Err, err)
		}
		if err != nil {
			continue
		}
		if sc.Region != p.Region || sc.SourceProfileName != p.Source {
			t.Errorf("profile %q: region %q, source %q, for the SDK %q, %q", p.Name, p.Region, p.Source, sc.Region, sc.SourceProfileName)
		}
		if p.LongLived != (sc.Credentials.HasKeys() && sc.Credentials.SessionToken == "") || p.LongLived && len(p.Keys) == 0 {
			t.Errorf("profile %q: key %v at %v", p.Name, p.LongLived, p.Keys)
		}
		if text, err := os.ReadFile(p.File); err != nil || p.Line < 1 || p.Line > strings.Count(string(text), "\n")+1 {
			t.Errorf("profile %q is at %s:%d", p.Name, p.File, p.Line)
		}
	}
	return found, problems
}

// Whatever the form of the files, lists show the profiles that the SDK knows,
// and as what it knows them.
func TestFormsOfFiles(t *testing.T) {
	for _, tt := range documented {
		t.Run(tt.name, func(t *testing.T) {
			f := put(t, tt.config, tt.credentials)
			found, problems := compare(t, f)
			var names []string
			for _, p := range found {
				names = append(names, p.Name)
			}
			if !slices.Equal(names, tt.names) {
				t.Errorf("profiles %q, want %q", names, tt.names)
			}
			if len(problems) != tt.problems {
				t.Errorf("%d problems, want %d: %v", len(problems), tt.problems, problems)
			}
			// No name that stands anywhere is left out.
			for line := range strings.SplitSeq(tt.config+"\n"+tt.credentials, "\n") {
				for _, name := range []string{strings.Trim(line, "[] \t\r"), strings.TrimSpace(strings.TrimPrefix(strings.Trim(line, "[] \t\r"), "profile"))} {
					if _, err := sdk(t, f, name); err == nil && !slices.Contains(names, name) && name != "" && !strings.HasPrefix(name, "sso-session ") && !strings.HasPrefix(name, "services ") {
						t.Errorf("the SDK knows %q", name)
					}
				}
			}
		})
	}
}

// Errors of files say where.
func TestErrorsOfFiles(t *testing.T) {
	r := newRig(t)
	path := r.write(t, ".aws/config", "[default]\nregion=a\n\n[profile b]\nretry_mode=wild\n[work]\nregion=c\n[profile q]\nregion=\"\n")
	_, err := r.Config(t.Context(), awsauth.Profile{Kind: awsauth.KindShared, SharedProfile: "b"})
	bad, ok := errors.AsType[*awsauth.ErrConfig](err)
	if !ok || bad.File != path || bad.Line != 9 { // the SDK falls over the quotation mark, whatever is asked for
		t.Errorf("error = %v", err)
	}
	r.write(t, ".aws/config", "[default]\nregion=a\n\n[profile b]\nretry_mode=wild\n[work]\nregion=c\n")
	_, err = r.Config(t.Context(), awsauth.Profile{Kind: awsauth.KindShared, SharedProfile: "b"})
	if bad, ok = errors.AsType[*awsauth.ErrConfig](err); !ok || bad.File != path || bad.Line != 4 || !strings.Contains(err.Error(), path+":4: ") {
		t.Errorf("error = %v", err)
	}
	_, err = r.Config(t.Context(), awsauth.Profile{Kind: awsauth.KindShared, SharedProfile: "work"})
	none, ok := errors.AsType[*awsauth.ErrNoProfile](err)
	if !ok || !slices.Equal(none.Have, []string{"b", "default"}) || !strings.Contains(err.Error(), path+":6: ") || !strings.Contains(err.Error(), "[profile work]") {
		t.Errorf("error = %v", err)
	}
}

// A key is taken out of a file, and every other byte stays.
func TestReplaceKeys(t *testing.T) {
	for _, tt := range []struct{ name, text, section, line, want string }{
		{"all of three", "[a]\naws_access_key_id=A\naws_secret_access_key=s\naws_session_token=t\nregion=x\n", "a", "", "[a]\nregion=x\n"},
		{"with a line in their place", "# top\r\n[a]\r\nregion=x\r\nAWS_Access_Key_Id : A\r\n# c\r\naws_secret_access_key=s\r\n[b]\r\naws_access_key_id=B\r\n", "a", "credential_process = x", "# top\r\n[a]\r\nregion=x\r\ncredential_process = x\r\n# c\r\n[b]\r\naws_access_key_id=B\r\n"},
		{"indented, continued, twice", "[a]\n  aws_access_key_id = A\n  aws_secret_access_key = s\n more\n[b]\n[a]\naws_access_key_id=C\n", "a", "x=y", "[a]\nx=y\n[b]\n[a]\n"},
		{"at the end of the file", "[a]\naws_access_key_id=A\naws_secret_access_key=s", "a", "x=y", "[a]\nx=y\n"},
		{"nested ones stay", "[a]\ns3 =\n  aws_access_key_id=N\naws_access_key_id=A\n", "a", "", "[a]\ns3 =\n  aws_access_key_id=N\n"},
	} {
		got, err := awsauth.ReplaceKeys([]byte(tt.text), tt.section, tt.line)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	if _, err := awsauth.ReplaceKeys([]byte("[a]\nregion=x\n"), "a", ""); err == nil {
		t.Error("no error without a key")
	}
}

// The key that leaves the file is the one that signed.
func TestSharedKey(t *testing.T) {
	f := put(t, "[profile a]\nmfa_serial = "+serial+"\n[profile b]\n", "[a]\naws_access_key_id=A\naws_secret_access_key=s\n")
	key, device, err := awsauth.SharedKey(t.Context(), f, "a")
	if err != nil || key != (awsauth.Key{AccessKeyID: "A", SecretAccessKey: "s"}) || device != serial {
		t.Errorf("key %s, %s, %v", key.AccessKeyID, device, err)
	}
	if _, _, err := awsauth.SharedKey(t.Context(), f, "b"); err == nil || !strings.Contains(err.Error(), f.Config+":3: ") {
		t.Errorf("error = %v", err)
	}
}

// TestMixedFiles does what the fuzzer does, with lines that make trouble.
func TestMixedFiles(t *testing.T) {
	lines := []string{
		"[default]", "[profile a]", "[a]", " [ b ] # c", "[profile default]", "[sso-session s]", "[]", "[", "region=r1", "  region = r2", "region:", "s3=", "  s3 =",
		" source_profile = a", "source_profile=b # x", "role_arn=r", "aws_access_key_id=A", "\taws_access_key_id = B", "aws_secret_access_key=s", " aws_secret_access_key = s",
		"aws_session_token=t", "", "  ", "# region=c", " ; c", "junk", " more", "=x", " = y", "REGION=r3\r", "\ufeff", "sso_session=s", "credential_process='c d'",
	}
	rnd := rand.New(rand.NewPCG(1, 4))
	text := func() string {
		var b strings.Builder
		for range rnd.IntN(12) {
			b.WriteString(lines[rnd.IntN(len(lines))] + "\n")
		}
		return b.String()
	}
	for range 1000 {
		conf, creds := text(), text()
		if checkFiles(t, conf, creds); t.Failed() {
			t.Fatalf("config %q, credentials %q", conf, creds)
		}
	}
}

// Whatever stands in the files, lists and the SDK agree, and a key that was
// taken out is out.
func FuzzFiles(f *testing.F) {
	for _, d := range documented {
		f.Add(d.config, d.credentials)
	}
	f.Fuzz(func(t *testing.T, conf, creds string) {
		for _, text := range []string{conf, creds} {
			for line := range strings.SplitSeq(text, "\n") {
				if v := strings.TrimSpace(strings.TrimLeft(line, " \t")); strings.HasSuffix(v, `"`) || strings.HasSuffix(v, "'") || strings.Contains(v, `" `) || strings.Contains(v, "' ") {
					return // the SDK panics on a value of one quotation mark
				}
			}
		}
		checkFiles(t, conf, creds)
	})
}

// checkFiles compares, and takes all keys out.
func checkFiles(t testing.TB, conf, creds string) {
	t.Helper()
	files := put(t, conf, creds)
	found, _ := compare(t, files)
	for _, p := range found {
		for _, at := range p.Keys {
			text, err := os.ReadFile(at.File)
			if err != nil {
				t.Fatal(err)
			}
			out, err := awsauth.ReplaceKeys(text, at.Section, "")
			if err != nil {
				continue // there was more than one in the section
			}
			if err := os.WriteFile(at.File, out, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if sc, err := sdk(t, files, p.Name); err == nil && sc.Credentials.HasKeys() && sc.Credentials.Source != "" && len(sc.SourceProfileName) == 0 {
			t.Errorf("the key of %q is still there", p.Name)
		}
	}
}
