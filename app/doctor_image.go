package app

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/arenero/arenero/app/internal/microvm"
	"github.com/arenero/arenero/app/internal/microvm/wire"
	"github.com/arenero/arenero/app/sandbox"
)

// templateOf is what sandboxes of the profile are made of, "" if nobody says.
func (d *Doctor) templateOf(x *exam) string {
	if d.cfg.Template != "" || x.local {
		return d.cfg.Template
	}
	return cmp.Or(x.profile.Template, first(d.cfg.Env, "ARENERO_TEMPLATE", "RAYITO_TEMPLATE"))
}

func (d *Doctor) versionOf(x *exam) string {
	if x.local {
		return ""
	}
	return cmp.Or(x.profile.Version, first(d.cfg.Env, "ARENERO_TEMPLATE_VERSION", "RAYITO_TEMPLATE_VERSION"))
}

// template looks whether sandboxes can be made of it: the image, its version and
// the builds of that must each say so.
func (d *Doctor) template(ctx context.Context, x *exam) {
	if x.api == nil {
		x.skip(text("doctor.no-cloud"))
		return
	}
	name := d.templateOf(x)
	if name == "" && x.api.image == "" {
		x.warn(text("doctor.template.none"), text("doctor.template.none.remedy"))
		return
	}
	arn, err := x.api.arn(ctx, name)
	if sandbox.CodeOf(err) == sandbox.NotFound {
		x.fail(text("doctor.template.missing", "template", name), text("doctor.template.missing.remedy"))
		return
	}
	if err != nil {
		x.fail(text("doctor.template.unread", "template", name, "why", cause(err)), text("doctor.rights.remedy", "action", "lambda:ListMicrovmImages", "resource", "*"))
		return
	}
	image, err := x.api.api.GetMicrovmImage(ctx, &microvm.GetMicrovmImageInput{ImageIdentifier: &arn})
	switch {
	case is[*microvm.ResourceNotFoundException](err):
		x.fail(text("doctor.template.missing", "template", arn), text("doctor.template.missing.remedy"))
		return
	case err != nil:
		x.fail(text("doctor.template.unread", "template", arn, "why", clean(err)), text("doctor.rights.remedy", "action", "lambda:GetMicrovmImage", "resource", arn))
		return
	}
	x.detail("image", arn)
	x.detail("image_state", image.State)
	name = arn[strings.LastIndexByte(arn, ':')+1:]
	version := cmp.Or(d.versionOf(x), value(image.LatestActiveImageVersion))
	if version == "" {
		x.fail(text("doctor.template.inactive", "template", name), text("doctor.template.inactive.remedy"))
	} else if d.gate(ctx, x, arn, version) {
		x.image, x.version = arn, d.versionOf(x)
	}
	switch image.State {
	case wire.MicrovmImageStateCreated, wire.MicrovmImageStateUpdated:
	case wire.MicrovmImageStateUpdating, wire.MicrovmImageStateUpdateFailed: // older versions go on to work
		x.warn(text("doctor.template.state", "template", name, "state", string(image.State)), text("doctor.template.wait"))
	default:
		x.image = ""
		x.fail(text("doctor.template.state", "template", name, "state", string(image.State)), text("doctor.template.build"))
	}
	if failed := value(image.LatestFailedImageVersion); failed != "" && failed != version {
		x.warn(text("doctor.template.failed", "template", name, "version", failed, "why", d.buildFailure(ctx, x, arn, failed)), text("doctor.template.build"))
	}
	x.ok(text("doctor.template.ok", "template", name, "version", version))
}

// gate looks at a version and at its builds.
func (d *Doctor) gate(ctx context.Context, x *exam, arn, version string) bool {
	x.detail("version", version)
	v, err := x.api.api.GetMicrovmImageVersion(ctx, &microvm.GetMicrovmImageVersionInput{ImageIdentifier: &arn, ImageVersion: &version})
	if err != nil {
		if is[*microvm.ResourceNotFoundException](err) {
			x.fail(text("doctor.template.no-version", "version", version), text("doctor.template.inactive.remedy"))
		} else {
			x.warn(text("doctor.template.unread", "template", arn, "why", clean(err)), text("doctor.rights.remedy", "action", "lambda:GetMicrovmImageVersion", "resource", arn))
		}
		return false
	}
	x.detail("version_state", v.State)
	x.detail("version_status", v.Status)
	switch {
	case v.State == wire.MicrovmImageVersionStateFailed:
		x.fail(text("doctor.template.failed", "template", arn[strings.LastIndexByte(arn, ':')+1:], "version", version, "why", d.buildFailure(ctx, x, arn, version)), text("doctor.template.build"))
		return false
	case v.State != wire.MicrovmImageVersionStateSuccessful:
		x.fail(text("doctor.template.unready", "version", version, "state", string(v.State)), text("doctor.template.wait"))
		return false
	case v.Status != wire.MicrovmImageVersionStatusActive:
		x.fail(text("doctor.template.version-off", "version", version), text("doctor.template.inactive.remedy"))
		return false
	}
	builds, err := d.builds(ctx, x, arn, version)
	if err != nil {
		x.warn(text("doctor.template.unread", "template", arn, "why", clean(err)), text("doctor.rights.remedy", "action", "lambda:ListMicrovmImageBuilds", "resource", arn))
		return true
	}
	for _, b := range builds {
		if b.BuildState != wire.BuildStateSuccessful {
			x.fail(text("doctor.template.unready", "version", version, "state", string(b.BuildState)), text("doctor.template.build"))
			return false
		}
	}
	return true
}

func (d *Doctor) builds(ctx context.Context, x *exam, arn, version string) ([]wire.MicrovmImageBuildSummary, error) {
	var all []wire.MicrovmImageBuildSummary
	pages := microvm.NewListMicrovmImageBuildsPaginator(x.api.api, &microvm.ListMicrovmImageBuildsInput{ImageIdentifier: &arn, ImageVersion: &version})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
	}
	return all, nil
}

// buildFailure is why a version could not be built, in the words of AWS.
func (d *Doctor) buildFailure(ctx context.Context, x *exam, arn, version string) string {
	builds, err := d.builds(ctx, x, arn, version)
	if err != nil {
		return clean(err)
	}
	var why []string
	for _, b := range builds {
		if reason := value(b.StateReason); reason != "" {
			why = append(why, redactText(reason))
		}
	}
	slices.Sort(why)
	return cmp.Or(strings.Join(slices.Compact(why), "; "), "?")
}
