package awsauth_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// files are an AWS configuration and its credentials, and the variables that
// lead to them.
func files(t *testing.T, config, credentials string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"AWS_CONFIG_FILE": filepath.Join(dir, "config"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "credentials")}
	for name, text := range map[string]string{"AWS_CONFIG_FILE": config, "AWS_SHARED_CREDENTIALS_FILE": credentials} {
		if err := os.WriteFile(env[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return env
}

const (
	configText = `[default]
region = of-default-1
[profile work]
region = of-work-1
[profile bare]
`
	credentialsText = `[default]
aws_access_key_id = DEFAULT
aws_secret_access_key = a
[work]
aws_access_key_id = WORK
aws_secret_access_key = b
[bare]
aws_access_key_id = BARE
aws_secret_access_key = c
`
)

// The variables of whoever asks say where and as whom, and those of this process
// nothing.
func TestR26_R27_RegionAndCredentials(t *testing.T) {
	t.Setenv("AWS_REGION", "of-process-1")
	t.Setenv("AWS_DEFAULT_REGION", "of-process-2")
	t.Setenv("AWS_PROFILE", "of-process")
	t.Setenv("AWS_ACCESS_KEY_ID", "PROCESS")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "p")
	tests := []struct {
		name        string
		env         map[string]string
		region, key string
	}{
		{"AWS_REGION first", map[string]string{"AWS_REGION": "one-1", "AWS_DEFAULT_REGION": "two-1", "AWS_PROFILE": "work"}, "one-1", "WORK"},
		{"then AWS_DEFAULT_REGION", map[string]string{"AWS_DEFAULT_REGION": "two-1", "AWS_PROFILE": "work"}, "two-1", "WORK"},
		{"then that of the profile", map[string]string{"AWS_PROFILE": "work"}, "of-work-1", "WORK"},
		{"AWS_DEFAULT_PROFILE", map[string]string{"AWS_DEFAULT_PROFILE": "work"}, "of-work-1", "WORK"},
		{"the default profile", map[string]string{}, "of-default-1", "DEFAULT"},
		{"keys alone", map[string]string{"AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "one-1", "AWS_CONFIG_FILE": os.DevNull, "AWS_SHARED_CREDENTIALS_FILE": os.DevNull}, "one-1", "KEY"},
		{"keys go before files", map[string]string{"AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "s", "AWS_PROFILE": "work"}, "of-work-1", "KEY"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := files(t, configText, credentialsText)
			for name, value := range tt.env {
				env[name] = value
			}
			cfg, err := awsauth.Environment(t.Context(), env)
			if err != nil {
				t.Fatal(err)
			}
			who, err := cfg.Credentials.Retrieve(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if cfg.Region != tt.region || who.AccessKeyID != tt.key {
				t.Errorf("region %s as %s, want %s as %s", cfg.Region, who.AccessKeyID, tt.region, tt.key)
			}
		})
	}
}

// A program that was started with hardly any environment can use keys.
func TestR26_NoHome(t *testing.T) {
	t.Setenv("HOME", "")
	cfg, err := awsauth.Environment(t.Context(), map[string]string{"AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "one-1"})
	if err != nil {
		t.Fatal(err)
	}
	if who, err := cfg.Credentials.Retrieve(t.Context()); err != nil || who.AccessKeyID != "KEY" {
		t.Errorf("key %s, %v", who.AccessKeyID, err)
	}
}

func TestR27_NoRegion(t *testing.T) {
	env := files(t, configText, credentialsText)
	env["AWS_PROFILE"] = "bare"
	_, err := awsauth.Environment(t.Context(), env)
	if !errors.Is(err, awsauth.ErrNoRegion) {
		t.Fatalf("error = %v", err)
	}
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION", "profile"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

// stands are the files that stand for AWS, which is always in some region.
var stands = map[string]string{
	"app/internal/cloud/config.go":    "the region that the local cloud stands for, and quotas by region",
	"app/cmd/arenero/cloud.go":        "the default of a flag that says which",
	"app/internal/account/account.go": "where services sign that are of no region",
	"app/internal/account/quota.go":   "what AWS publishes of quotas, by region",
	"app/internal/e2e/scene/cast.go":  "a stage for tests and pictures",
	"app/internal/price/fetch.go":     "where the services are that tell prices and bills of all regions",
	"app/internal/price/sheet.go":     "an example in an error",
	"app/money_balance.go":            "whose prices stand in where nothing says where a sandbox would be",
}

var region = regexp.MustCompile(`\b(af|ap|ca|cn|eu|il|me|mx|sa|us)(-gov|-iso[a-z]?)?-(north|south|east|west|central)(east|west)?-[1-9]\b`)

// No region is written into the programs: where a sandbox runs is for its owner
// to say.
func TestR28_NoRegionInTheCode(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	met, stood := 0, map[string]bool{}
	for _, dir := range []string{"app", "bridge"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return nil // not this test's affair
			}
			met++
			name := filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))
			ast.Inspect(f, func(n ast.Node) bool {
				lit, ok := n.(*ast.BasicLit)
				switch {
				case !ok || lit.Kind != token.STRING || !region.MatchString(lit.Value):
				case stands[name] != "":
					stood[name] = true
				default:
					t.Errorf("%s holds a region: %s", name, lit.Value)
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if met < 100 || len(stood) != len(stands) {
		t.Errorf("%d files looked at, %d of %d exceptions met: is the tree looked at at all?", met, len(stood), len(stands))
	}
}
