package app

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/internal/account"
	"github.com/arenero/arenero/app/internal/hostconf"
	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// What the actions of a person with sandboxes are allowed on. Lambda asks for
// more where connectors are passed, but the simulator is wrong about those.
var (
	actionsAnywhere = []string{"lambda:ListMicrovms", "lambda:ListMicrovmImages"}
	actionsOfImage  = []string{
		"lambda:RunMicrovm", "lambda:GetMicrovm", "lambda:SuspendMicrovm", "lambda:ResumeMicrovm", "lambda:TerminateMicrovm",
		"lambda:CreateMicrovmAuthToken", "lambda:GetMicrovmImage", "lambda:ListMicrovmImageVersions",
	}
)

// permissions has IAM simulate what we do, or tries what can be tried without
// doing anything.
func (d *Doctor) permissions(ctx context.Context, x *exam) {
	if x.api == nil {
		x.skip(text("doctor.no-cloud"))
		return
	}
	why := ""
	if !x.local && x.account != nil && (!x.stands || d.cfg.Env["AWS_ENDPOINT_URL_"+account.IAM] != "") {
		if why = d.simulate(ctx, x); why == "" {
			return
		}
	}
	x.detail("simulated", false)
	x.detail("not_simulated_because", why)
	d.try(ctx, x)
	x.ok(text("doctor.rights.tried"))
}

// simulate asks IAM. It returns why it could not.
func (d *Doctor) simulate(ctx context.Context, x *exam) (why string) {
	source := x.arn
	switch x.kind {
	case "user":
	case "assumed-role":
		source = d.roleOf(ctx, x)
	default:
		return x.kind
	}
	needs := []account.Need{{Resource: "*", Actions: actionsAnywhere}}
	if image := d.imageARN(x); image != "" {
		needs = append(needs, account.Need{Resource: image, Actions: actionsOfImage})
	}
	if role := d.roleARN(x); role != "" {
		needs = append(needs, account.Need{Resource: role, Actions: []string{"iam:PassRole"}})
	}
	refused, err := x.account.Simulate(ctx, source, needs)
	if err != nil {
		return clean(err)
	}
	x.detail("simulated", true)
	for _, r := range refused {
		if r.Explicit {
			x.fail(text("doctor.rights.explicit", "action", r.Action, "resource", r.Resource), text("doctor.rights.explicit.remedy", "action", r.Action))
		} else {
			x.warn(text("doctor.rights.implicit", "action", r.Action, "resource", r.Resource), text("doctor.rights.remedy", "action", r.Action, "resource", r.Resource))
		}
	}
	x.ok(text("doctor.rights.ok"))
	return ""
}

// roleOf is the ARN of the role behind a session, whose own ARN lacks the path.
func (d *Doctor) roleOf(ctx context.Context, x *exam) string {
	parts := strings.SplitN(x.arn, ":", 6)
	if len(parts) < 6 {
		return x.arn
	}
	name := strings.Split(parts[5], "/")
	if len(name) < 2 {
		return x.arn
	}
	if role, err := x.account.Role(ctx, name[1]); err == nil {
		return role.ARN
	}
	return "arn:" + parts[1] + ":iam::" + parts[4] + ":role/" + name[1]
}

// noVM is the id of no VM.
const noVM = "microvm-00000000-0000-0000-0000-000000000000"

// try makes calls that change nothing: those that list, and others for a VM that
// there is not. Of the latter a denial is a hint only, since what they are
// allowed on is the image of a VM.
func (d *Doctor) try(ctx context.Context, x *exam) {
	id, api := noVM, x.api.api
	calls := []struct {
		action string
		sure   bool
		call   func() error
	}{
		{"lambda:ListMicrovms", true, func() error { _, err := api.ListMicrovms(ctx, &microvm.ListMicrovmsInput{}); return err }},
		{"lambda:ListMicrovmImages", true, func() error {
			_, err := api.ListMicrovmImages(ctx, &microvm.ListMicrovmImagesInput{})
			return err
		}},
		{"lambda:GetMicrovm", false, func() error {
			_, err := api.GetMicrovm(ctx, &microvm.GetMicrovmInput{MicrovmIdentifier: &id})
			return err
		}},
		{"lambda:SuspendMicrovm", false, func() error {
			_, err := api.SuspendMicrovm(ctx, &microvm.SuspendMicrovmInput{MicrovmIdentifier: &id})
			return err
		}},
		{"lambda:ResumeMicrovm", false, func() error {
			_, err := api.ResumeMicrovm(ctx, &microvm.ResumeMicrovmInput{MicrovmIdentifier: &id})
			return err
		}},
		{"lambda:TerminateMicrovm", false, func() error {
			_, err := api.TerminateMicrovm(ctx, &microvm.TerminateMicrovmInput{MicrovmIdentifier: &id})
			return err
		}},
		{"lambda:CreateMicrovmAuthToken", false, func() error {
			_, err := api.CreateMicrovmAuthToken(ctx, &microvm.CreateMicrovmAuthTokenInput{
				MicrovmIdentifier: &id, ExpirationInMinutes: new(int32(1)), AllowedPorts: []wire.PortSpecification{{Port: new(int32(agentPort))}},
			})
			return err
		}},
	}
	var tried []string
	for _, c := range calls {
		err := c.call()
		tried = append(tried, c.action)
		switch {
		case err == nil, is[*microvm.ResourceNotFoundException](err), is[*microvm.ValidationException](err), is[*microvm.ConflictException](err):
		case is[*microvm.AccessDeniedException](err) && c.sure:
			x.fail(text("doctor.rights.denied", "action", c.action), text("doctor.rights.remedy", "action", c.action, "resource", "*"))
		case is[*microvm.AccessDeniedException](err):
			x.warn(text("doctor.rights.maybe", "action", c.action), text("doctor.rights.remedy", "action", c.action, "resource", d.imageARN(x)))
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
			return
		default:
			x.warn(text("doctor.rights.untold", "action", c.action, "why", clean(err)), text("doctor.offline.remedy"))
		}
	}
	x.detail("tried", tried)
}

// roleARN is the role that sandboxes are to have, "" if none.
func (d *Doctor) roleARN(x *exam) string {
	if x.local {
		return ""
	}
	if x.profile.Role != "" {
		return x.profile.Role
	}
	return first(d.cfg.Env, "ARENERO_EXECUTION_ROLE_ARN", "RAYITO_EXECUTION_ROLE_ARN")
}

// imageARN is that of the template, as far as it can be told without asking.
func (d *Doctor) imageARN(x *exam) string {
	t := d.templateOf(x)
	if t == "" || strings.HasPrefix(t, "arn:") || x.accountID == "" {
		return t
	}
	return "arn:aws:lambda:" + x.region + ":" + x.accountID + ":microvm-image:" + t
}

// role looks whether Lambda may assume the role that sandboxes are to have.
func (d *Doctor) role(ctx context.Context, x *exam) {
	arn := d.roleARN(x)
	switch {
	case arn == "":
		x.skip(text("doctor.role.none"))
		return
	case x.account == nil || x.api == nil || x.stands && d.cfg.Env["AWS_ENDPOINT_URL_"+account.IAM] == "":
		x.skip(text("doctor.no-cloud"))
		return
	}
	x.detail("role", arn)
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 || parts[2] != "iam" || !strings.HasPrefix(parts[5], "role/") {
		x.fail(text("doctor.role.form", "role", arn), text("doctor.role.form.remedy"))
		return
	}
	if parts[4] != x.accountID {
		x.fail(text("doctor.role.other", "role", arn, "account", x.accountID), text("doctor.role.form.remedy"))
		return
	}
	role, err := x.account.Role(ctx, parts[5][strings.LastIndexByte(parts[5], '/')+1:])
	switch {
	case account.Missing(err):
		x.fail(text("doctor.role.missing", "role", arn), text("doctor.role.form.remedy"))
		return
	case account.Denied(err):
		x.skip(text("doctor.role.denied"))
		return
	case err != nil:
		x.warn(text("doctor.role.broken", "why", clean(err)), hostconf.Text{})
		return
	}
	trust := text("doctor.role.trust.remedy")
	switch t := role.Trust; {
	case t.Denied, !t.Assume:
		x.fail(text("doctor.role.untrusted", "role", arn), trust)
	case !t.Tag:
		x.warn(text("doctor.role.tag", "role", arn), trust)
	}
	if odd := slices.DeleteFunc(slices.Clone(role.Trust.Conditions), func(c string) bool {
		return !strings.EqualFold(c, "aws:SourceAccount") && !strings.EqualFold(c, "aws:SourceArn")
	}); len(odd) > 0 {
		x.warn(text("doctor.role.condition", "conditions", strings.Join(odd, ", ")), trust)
	}
	x.ok(text("doctor.role.ok", "role", arn))
}
