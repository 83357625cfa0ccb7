package app

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/internal/account"
	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/keychain"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/settings"
	"github.com/arenero/arenero/app/sandbox"
)

// profiles looks who each profile is. Trouble with one that was not asked for is
// no more than a warning.
func (d *Doctor) profiles(ctx context.Context, x *exam) {
	kept, err := d.file.Read()
	if err != nil {
		x.fail(text("doctor.settings", "why", clean(err)), text("doctor.settings.remedy", "file", d.file.Path()))
		return
	}
	all := d.open(kept)
	x.auth = all
	d.choose(kept, x)
	name := x.profile.Name
	if !x.local && x.profile.Kind != "" {
		d.connect(ctx, x)
	}
	others := map[string]string{}
	for _, p := range kept.Profiles {
		if p.Name == name {
			continue
		}
		id, err := bounded(ctx, otherWithin, func(ctx context.Context) (awsauth.Identity, error) { return all.Identity(ctx, p.Profile) })
		if keychain.ClassOf(err) == keychain.NoPassphrase {
			continue // nobody asked for it, and the engine may well have it open
		}
		if err != nil {
			x.warn(d.trouble(p.Profile, err))
			continue
		}
		others[p.Name] = id.ARN
	}
	x.detail("others", others)
	switch {
	case x.local:
		x.ok(text("doctor.profiles.local"))
	case x.stands && x.arn == "":
		x.ok(text("doctor.profiles.stands", "profile", name))
	default:
		x.ok(text("doctor.profiles.ok", "profile", name, "arn", x.arn, "region", x.region))
	}
}

// How long a profile may take: many that were not asked for may be slow, and the one
// that was is not to use up the time of its check, which could not say what hangs.
const (
	ownWithin   = 25 * time.Second
	otherWithin = 8 * time.Second
)

// bounded does something that has to do with one profile, and waits no longer than
// that, even for files that can't be read and commands that don't end.
func bounded[T any](ctx context.Context, within time.Duration, do func(ctx context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	type answer struct {
		value T
		err   error
	}
	got := make(chan answer, 1)
	go func() {
		value, err := do(ctx)
		got <- answer{value, err}
	}()
	var none T
	select {
	case a := <-got:
		if a.err != nil && ctx.Err() != nil {
			return none, ctx.Err()
		}
		return a.value, a.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// open returns what makes configurations of profiles. Nobody is asked for
// anything.
func (d *Doctor) open(kept settings.Settings) *awsauth.Auth {
	deps := awsauth.Deps{
		Env:      d.cfg.Env,
		Profiles: func(name string) (awsauth.Profile, bool) { p, ok := kept.Profile(name); return p.Profile, ok },
		Names: func() (all []string) {
			for _, p := range kept.Profiles {
				all = append(all, p.Name)
			}
			return all
		},
	}
	if store, err := d.secrets(kept); err == nil {
		deps.Secrets = store
	}
	return awsauth.New(deps)
}

// choose finds the profile that was asked for.
func (d *Doctor) choose(kept settings.Settings, x *exam) {
	name := cmp.Or(d.cfg.Profile, kept.DefaultProfile, sandbox.ProfileLocal)
	x.profile = awsauth.Profile{Name: name}
	x.detail("profile", name)
	if name == sandbox.ProfileLocal {
		x.local = true
		return
	}
	if p, ok := kept.Profile(name); ok {
		x.profile, x.own, x.keys = p.Profile, true, p.Kind == awsauth.KindKeys
		return
	}
	if name == ProfileEnvironment {
		x.profile.Kind = awsauth.KindEnvironment
		return
	}
	x.fail(text("doctor.no-profile", "profile", name), text("doctor.no-profile.remedy", "profile", name))
}

// borrow takes the credentials of a profile from the engine, where its keys are in
// a vault that is open there and closed to us. It fails if it is closed there too,
// and with whatever else the engine fails with.
func (d *Doctor) borrow(ctx context.Context, x *exam) error {
	auth, p := x.auth, x.profile
	_, closed := bounded(ctx, ownWithin, func(ctx context.Context) (struct{}, error) {
		cfg, err := auth.Config(ctx, p)
		if err == nil {
			_, err = cfg.Credentials.Retrieve(ctx)
		}
		return struct{}{}, err
	})
	if errors.Is(closed, context.DeadlineExceeded) {
		return closed
	}
	if keychain.ClassOf(closed) != keychain.NoPassphrase {
		return nil // whoever uses them tells what else may be wrong
	}
	path, err := control.Path()
	if err != nil {
		return closed
	}
	client := control.NewClient(path) // which starts none: a new one has nothing open
	defer client.Close()
	raw, err := client.Profile(ctx, control.ProfileRequest{Action: control.ProfileEnv, Name: x.profile.Name}, func(control.ProfileEvent) error { return nil })
	vars := map[string]string{}
	switch {
	case sandbox.CodeOf(err) == sandbox.Unreachable:
		return closed // nobody has it open
	case err != nil:
		return fromEngine(err)
	}
	if err := json.Unmarshal(raw, &vars); err != nil {
		return err
	}
	// Where this shell has its cloud means nothing to the profile.
	vars["AWS_ENDPOINT_URL_STS"] = first(d.cfg.Env, "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL")
	vars["AWS_CA_BUNDLE"] = d.cfg.Env["AWS_CA_BUNDLE"]
	x.borrowed = true
	x.auth, x.profile.Kind = awsauth.New(awsauth.Deps{Env: vars}), awsauth.KindEnvironment
	x.detail("signed_by", "engine")
	return nil
}

// fromEngine is what the engine says is wrong with a profile, as the error that it
// was made of where that is known.
func fromEngine(err error) error {
	e, ok := errors.AsType[*sandbox.Error](err)
	if !ok {
		return err
	}
	detail := func(name string) string { s, _ := e.Details[name].(string); return s }
	switch e.Code {
	case sandbox.SignIn:
		out := &awsauth.ErrSignIn{Profile: detail("profile"), Why: awsauth.Reason(detail("why")), Err: err}
		if do := detail("command"); do != "arenero profiles login "+out.Profile {
			out.Outside = do
		}
		return out
	case sandbox.NoKeychain:
		return &keychain.Error{Class: keychain.Class(detail("class")), Op: "get", Err: errors.New(detail("why"))}
	}
	return err
}

// connect makes the clients for the profile that was asked for.
func (d *Doctor) connect(ctx context.Context, x *exam) {
	if x.own {
		switch err := d.borrow(ctx, x); {
		case keychain.ClassOf(err) == keychain.NoPassphrase:
			x.warn(d.trouble(x.profile, err))
			return
		case err != nil:
			x.fail(d.trouble(x.profile, err))
			return
		}
	}
	cfg, err := x.auth.Config(ctx, x.profile)
	if err != nil {
		x.fail(d.trouble(x.profile, err))
		return
	}
	x.region = cfg.Region
	x.clock.next = cfg.HTTPClient
	cfg.HTTPClient = x.clock
	api := &cloud{clock: d.cfg.Clock, log: d.cfg.Log}
	at := ""
	api.api = microvm.NewFromConfig(cfg, func(o *microvm.Options) {
		o.RetryMaxAttempts = 3
		if o.BaseEndpoint = cfg.BaseEndpoint; o.BaseEndpoint != nil {
			at = *o.BaseEndpoint
			api.dial = plain(at)
			o.NoRateLimit = api.dial != nil
		}
	})
	x.api = api
	x.stands = at != "" && !isAWS(at)
	endpoints := map[string]string{}
	for _, s := range []string{account.IAM, account.ServiceQuotas} {
		endpoints[s] = first(d.cfg.Env, "AWS_ENDPOINT_URL_"+s, "AWS_ENDPOINT_URL")
	}
	if x.stands && d.cfg.Env["AWS_ENDPOINT_URL_STS"] == "" {
		return // its keys mean nothing to AWS
	}
	x.account = account.New(cfg, endpoints, x.clock.now)
	id, err := x.auth.Identity(ctx, x.profile)
	if err != nil {
		x.api = nil
		x.fail(d.trouble(x.profile, err))
		return
	}
	x.accountID, x.kind, x.arn = id.Account, id.Kind, id.ARN
	x.detail("arn", id.ARN)
}

// isAWS reports whether an address is one of AWS.
func isAWS(at string) bool {
	u, err := url.Parse(at)
	return err == nil && (strings.HasSuffix(u.Hostname(), ".amazonaws.com") || strings.HasSuffix(u.Hostname(), ".amazonaws.com.cn") || strings.HasSuffix(u.Hostname(), ".api.aws"))
}

// trouble says why a profile is of no use, and what to do.
func (d *Doctor) trouble(p awsauth.Profile, err error) (what, remedy hostconf.Text) {
	if e, ok := errors.AsType[*awsauth.ErrSignIn](err); ok {
		what = text("doctor.sign-in", "profile", e.Profile, "why", clean(err))
		if e.Why == awsauth.KeysRefused && (p.Kind == awsauth.KindEnvironment || p.Kind == awsauth.KindShared) && e.Outside == "" {
			return text("doctor.refused", "profile", p.Name), text("doctor.refused.remedy")
		}
		return what, text("doctor.sign-in.remedy", "command", cmp.Or(e.Outside, "arenero profiles login "+e.Profile))
	}
	why := clean(err)
	if e, ok := errors.AsType[*sandbox.Error](err); ok && e.Code != sandbox.CloudDown { // of the engine
		return text("doctor.profile.broken", "profile", p.Name, "why", cause(err)), text("doctor.profile.broken.remedy", "profile", p.Name)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) && p.Kind == awsauth.KindProcess:
		return text("doctor.slow.command", "profile", p.Name), text("doctor.slow.command.remedy", "profile", p.Name)
	case errors.Is(err, context.DeadlineExceeded):
		return text("doctor.slow", "profile", p.Name), text("doctor.offline.remedy")
	case errors.Is(err, awsauth.ErrNoRegion):
		return text("doctor.no-region", "profile", p.Name), text("doctor.no-region.remedy")
	case keychain.ClassOf(err) == keychain.NoPassphrase:
		return text("doctor.vault", "profile", p.Name), text("doctor.vault.remedy", "profile", p.Name)
	case keychain.ClassOf(err) != "":
		key := "keychain.class." + string(keychain.ClassOf(err))
		return text(key, "why", why), text(key + ".do")
	case is[*awsauth.ErrConfig](err), is[*awsauth.ErrLoop](err), is[*awsauth.ErrNoProfile](err):
		return text("doctor.config", "why", why), text("doctor.config.remedy")
	case is[*awsauth.ErrDenied](err):
		return text("doctor.denied", "why", why), text("doctor.denied.remedy")
	}
	return text("doctor.offline", "profile", p.Name, "why", why), text("doctor.offline.remedy")
}

// region looks whether MicroVMs can be had where the profile is, or whether the
// cloud of this computer answers.
func (d *Doctor) region(ctx context.Context, x *exam) {
	if x.local {
		d.localCloud(ctx, x)
		if x.api == nil {
			return
		}
	}
	if x.api == nil {
		x.skip(text("doctor.no-cloud"))
		return
	}
	out, err := x.api.api.ListMicrovmImages(ctx, &microvm.ListMicrovmImagesInput{})
	listed := slices.Contains(account.Regions, x.region)
	denied, isDenied := errors.AsType[*microvm.AccessDeniedException](err)
	switch {
	case err == nil:
		x.detail("images", len(out.Items))
	case isDenied && denied.ErrorMessage() == "" && !listed && !x.stands:
		x.fail(text("doctor.region.none", "region", x.region), text("doctor.region.remedy", "regions", strings.Join(account.Regions, ", ")))
	case refused(err):
		x.api = nil
		x.fail(text("doctor.region.refused", "profile", x.profile.Name, "why", clean(err)), x.newKeys())
		return
	case isDenied:
		// What is denied is for the check of permissions to say.
	default:
		x.api = nil
		x.fail(text("doctor.region.silent", "why", cause(err)), text("doctor.region.silent.remedy"))
		return
	}
	if !listed && !x.local && len(x.finding.Problems) == 0 {
		x.warn(text("doctor.region.unknown", "region", x.region), text("doctor.region.remedy", "regions", strings.Join(account.Regions, ", ")))
	}
	if x.local {
		x.ok(text("doctor.region.local"))
	}
	x.ok(text("doctor.region.ok", "region", x.region))
}

// refused reports whether a cloud answers, and does not take the keys that sign.
func refused(err error) bool {
	switch microvm.HTTPStatus(err) {
	case http.StatusUnauthorized, http.StatusForbidden:
		_, denied := errors.AsType[*microvm.AccessDeniedException](err)
		return !denied
	}
	return false
}

// newKeys is what to do where keys are refused.
func (x *exam) newKeys() hostconf.Text {
	switch {
	case x.local:
		return text("doctor.region.local.remedy")
	case !x.own, x.profile.Kind == awsauth.KindEnvironment && !x.borrowed, x.profile.Kind == awsauth.KindShared:
		return text("doctor.refused.remedy")
	case x.keys:
		return text("doctor.refused.edit", "profile", x.profile.Name)
	}
	return text("doctor.sign-in.remedy", "command", "arenero profiles login "+x.profile.Name)
}

// localCloud finds the cloud of this computer. It starts one if a sandbox is to
// be made.
func (d *Doctor) localCloud(ctx context.Context, x *exam) {
	logs, err := logDir()
	if err != nil {
		x.fail(text("doctor.region.silent", "why", clean(err)), text("doctor.region.silent.remedy"))
		return
	}
	program := filepath.Join(d.cfg.Programs, "arenero")
	if os.PathSeparator == '\\' {
		program += ".exe"
	}
	l := &local{
		program: program, socket: filepath.Join(d.dirs.Runtime, "cloud.sock"), data: d.dirs.Cloud(),
		logFile: filepath.Join(logs, "cloud.log"), clock: d.cfg.Clock, log: d.cfg.Log,
	}
	at, err := l.get(ctx, d.cfg.Launch)
	switch c, ok := at.(*cloud); {
	case err != nil:
		x.fail(text("doctor.region.local.broken", "why", cause(err)), text("doctor.region.local.remedy"))
	case !ok || c == nil:
		x.skip(text("doctor.region.local.none"))
	default:
		x.api, x.region = c, c.api.Options().Region
	}
}

// quotas compares what is applied to the account to what AWS publishes.
func (d *Doctor) quotas(ctx context.Context, x *exam) {
	switch {
	case x.local || x.stands && d.cfg.Env["AWS_ENDPOINT_URL_"+account.ServiceQuotas] == "":
		x.skip(text("doctor.quotas.local"))
		return
	case x.account == nil || x.api == nil:
		x.skip(text("doctor.no-cloud"))
		return
	}
	applied, err := x.account.Quotas(ctx)
	if account.Denied(err) {
		x.skip(text("doctor.quotas.denied"))
		return
	}
	if err != nil {
		x.warn(text("doctor.quotas.broken", "why", clean(err)), text("doctor.offline.remedy"))
		return
	}
	values := map[string]float64{}
	for _, q := range applied {
		values[q.Code] = q.Value
	}
	seen := map[string]float64{}
	for _, want := range account.Defaults(x.region) {
		got, ok := values[want.Code]
		switch {
		case !ok:
			x.warn(text("doctor.quotas.absent", "quota", want.What, "code", want.Code), text("doctor.quotas.remedy", "code", want.Code))
			continue
		case got < want.Value:
			x.warn(text("doctor.quotas.low", "quota", want.What, "has", fmt.Sprint(got), "want", fmt.Sprint(want.Value)), text("doctor.quotas.remedy", "code", want.Code))
		}
		seen[want.Code] = got
	}
	x.detail("applied", seen)
	x.ok(text("doctor.quotas.ok", "count", fmt.Sprint(len(seen))))
}

// cause is what the API of a cloud failed with, in one line and without secrets.
func cause(err error) string {
	if e, ok := errors.AsType[*sandbox.Error](err); ok {
		text := e.Msg
		if e.Err != nil {
			text += " (" + clean(e.Err) + ")"
		}
		return text
	}
	return clean(err)
}
