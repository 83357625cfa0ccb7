package control

import "context"

// The actions of a desk, by the name they have between client and engine.
const (
	deskHosts       = "host/list"
	deskPlanHost    = "host/plan"
	deskChangeHost  = "host/change"
	deskCheckHost   = "host/check"
	deskNoteHost    = "host/note"
	deskPreferences = "preferences"
	deskEdit        = "preferences/edit"
	deskPause       = "pause"
	deskProfiles    = "own/list"
	deskPutProfile  = "own/put"
	deskDropProfile = "own/drop"
	deskImportable  = "own/importable"
	deskDiagnose    = "diagnose"
	deskBundle      = "bundle"
	deskLogs        = "logs"
	deskCallsOf     = "calls/follow"
	deskPorts       = "ports"
)

// deskCalls are what e can be asked.
func deskCalls(e Desk) map[string]actionCall {
	return map[string]actionCall{
		deskHosts: on(e.Hosts), deskPlanHost: on(e.PlanHost), deskChangeHost: on(e.ChangeHost), deskCheckHost: each(e.CheckHost), deskNoteHost: on(e.NoteHost),
		deskPreferences: on(e.Preferences), deskEdit: on(e.EditPreferences), deskPause: on(e.Pause),
		deskProfiles: on(e.OwnProfiles), deskPutProfile: on(e.PutProfile), deskDropProfile: on(e.DropProfile), deskImportable: on(e.Importable),
		deskDiagnose: each(e.Diagnose), deskBundle: on(e.SaveBundle), deskLogs: on(e.Logs),
		deskCallsOf: each(e.FollowCalls), deskPorts: on(e.Ports),
	}
}

// Hosts are the apps of the engine's computer.
func (c *Client) Hosts(ctx context.Context, q HostQuery) ([]Host, error) {
	return ask[[]Host](ctx, c, deskHosts, q, always)
}

// PlanHost tells what ChangeHost would do. Nothing is written.
func (c *Client) PlanHost(ctx context.Context, o HostOrder) (HostResult, error) {
	return ask[HostResult](ctx, c, deskPlanHost, o, always)
}

// ChangeHost changes the files of a host.
func (c *Client) ChangeHost(ctx context.Context, o HostOrder) (HostResult, error) {
	return ask[HostResult](ctx, c, deskChangeHost, o, ifUnsent)
}

// NoteHost tells an engine that runs what was done to a host without it. It starts
// none.
func (c *Client) NoteHost(ctx context.Context, n HostNote) error {
	_, err := ask[struct{}](ctx, c, deskNoteHost, n, ifUnsent)
	return err
}

// CheckHost emits what it finds of a host as it looks.
func (c *Client) CheckHost(ctx context.Context, host string, emit func(Finding) error) error {
	return items(ctx, c, deskCheckHost, host, ifUnsent, emit)
}

// Preferences are what the owner has set.
func (c *Client) Preferences(ctx context.Context) (Preferences, error) {
	return ask[Preferences](ctx, c, deskPreferences, struct{}{}, always)
}

// EditPreferences changes what is not nil, and returns all.
func (c *Client) EditPreferences(ctx context.Context, e PreferencesEdit) (Preferences, error) {
	return ask[Preferences](ctx, c, deskEdit, e, always)
}

// Pause has requests for new sandboxes refused, or taken again.
func (c *Client) Pause(ctx context.Context, paused bool) error {
	_, err := ask[struct{}](ctx, c, deskPause, paused, always)
	return err
}

// OwnProfiles are the owner's profiles of AWS.
func (c *Client) OwnProfiles(ctx context.Context) (OwnProfiles, error) {
	return ask[OwnProfiles](ctx, c, deskProfiles, struct{}{}, always)
}

// PutProfile keeps a profile.
func (c *Client) PutProfile(ctx context.Context, p ProfilePut) (OwnProfile, error) {
	return ask[OwnProfile](ctx, c, deskPutProfile, p, ifUnsent)
}

// DropProfile forgets a profile.
func (c *Client) DropProfile(ctx context.Context, d ProfileDrop) error {
	_, err := ask[struct{}](ctx, c, deskDropProfile, d, ifUnsent)
	return err
}

// Importable are the profiles in the owner's own files of AWS.
func (c *Client) Importable(ctx context.Context) ([]Importable, error) {
	return ask[[]Importable](ctx, c, deskImportable, struct{}{}, always)
}

// Diagnose makes all checks of a profile, "" for the default one, and emits each
// as it begins and ends.
func (c *Client) Diagnose(ctx context.Context, profile string, emit func(Finding) error) error {
	return items(ctx, c, deskDiagnose, profile, ifUnsent, emit)
}

// SaveBundle writes what others need to help to a new file, and returns its path.
func (c *Client) SaveBundle(ctx context.Context, path string) (string, error) {
	return ask[string](ctx, c, deskBundle, path, ifUnsent)
}

// Logs are the logs of the engine's computer.
func (c *Client) Logs(ctx context.Context) ([]Log, error) {
	return c.LogTails(ctx, LogQuery{})
}

// LogTails are those that q asks for.
func (c *Client) LogTails(ctx context.Context, q LogQuery) ([]Log, error) {
	return ask[[]Log](ctx, c, deskLogs, q, always)
}

// FollowCalls emits what ran in a sandbox lately, and then what does, until ctx
// is done. After a new engine was found, all that it knows comes again.
func (c *Client) FollowCalls(ctx context.Context, sandbox string, emit func(CallNews) error) error {
	return items(ctx, c, deskCallsOf, sandbox, always, emit)
}

// Ports are those that something in a sandbox listens at; none of one that sleeps.
func (c *Client) Ports(ctx context.Context, sandbox string) ([]Port, error) {
	return ask[[]Port](ctx, c, deskPorts, sandbox, always)
}
