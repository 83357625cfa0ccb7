package window

import (
	"context"
	"encoding/json"
	"time"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
	"github.com/arenero/arenero/ui/view"
)

// spanFields are the fields that are seconds in a profile, and a length of time
// in a form.
var spanFields = []string{ui.FieldTimeout, ui.FieldIdle, ui.FieldSession}

// valuesOf are the fields of a profile as a form has them, by their names.
func valuesOf(own control.OwnProfile) map[string]string {
	out := map[string]string{}
	for name, v := range fieldsOf(own) {
		switch v := v.(type) {
		case string:
			out[name] = v
		case bool:
			if v {
				out[name] = "true"
			}
		case float64:
			out[name] = ui.SpanInput(time.Duration(v) * time.Second)
		}
	}
	delete(out, "moved") // which is nobody's to fill in
	return out
}

// fieldsOf is a profile as it is written in the settings.
func fieldsOf(own control.OwnProfile) map[string]any {
	out := map[string]any{}
	raw, err := json.Marshal(own)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(err) // it is texts and numbers
	}
	return out
}

// changedBy is a profile with the fields of a form in it, and others as they were.
func changedBy(own control.OwnProfile, values map[string]string) control.OwnProfile {
	fields := fieldsOf(own)
	for name, v := range values {
		switch {
		case v == "":
			delete(fields, name)
		case name == ui.FieldNoSession:
			fields[name] = true
		default:
			fields[name] = v
		}
	}
	for _, name := range spanFields {
		if text, ok := fields[name].(string); ok {
			d, _ := ui.ParseSpan(text) // the form has checked it
			fields[name] = int(d / time.Second)
		}
	}
	raw, err := json.Marshal(fields)
	var out control.OwnProfile
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic(err) // as above
	}
	return out
}

// keyData is a key as the engine takes it.
func keyData(key view.ProfileKey) ([]byte, error) {
	return json.Marshal(struct {
		ID     string `json:"access_key_id"`
		Secret string `json:"secret_access_key"`
		Token  string `json:"session_token,omitempty"`
	}{string(key.ID), string(key.Secret), string(key.Token)})
}

// keep has the engine keep the key of a profile.
func (p *profiles) keep(ctx context.Context, name string, key view.ProfileKey) error {
	data, err := keyData(key)
	if err != nil {
		return err
	}
	_, err = p.c.client.Profile(ctx, control.ProfileRequest{Action: control.ProfileSetKey, Name: name, Data: data}, nil)
	return err
}

// add makes a profile, with its key if it has one. Half a profile is of no use: if
// the key can't be kept, there is none.
func (p *profiles) add(values map[string]string, key *view.ProfileKey, byDefault bool, done func(string)) {
	own := changedBy(control.OwnProfile{}, values)
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (struct{}, error) {
		if _, err := p.c.client.PutProfile(ctx, control.ProfilePut{Profile: own, Fresh: true}); err != nil {
			return struct{}{}, err
		}
		if key != nil {
			if err := p.keep(ctx, own.Name, *key); err != nil {
				if gone := p.c.client.DropProfile(ctx, control.ProfileDrop{Name: own.Name, Force: true}); gone != nil {
					return struct{}{}, gone
				}
				return struct{}{}, err
			}
		}
		if byDefault {
			_, err := p.c.client.EditPreferences(ctx, control.PreferencesEdit{DefaultProfile: &own.Name})
			return struct{}{}, err
		}
		return struct{}{}, nil
	}, func(_ struct{}, err error) {
		if err != nil {
			p.lookAtKeychain() // which may be what is wrong
			done(p.why(own.Name, err))
			p.look()
			return
		}
		done("")
		p.wanted = own.Name
		p.did(own.Name, "window.profiles.added", nil)
	})
}

func (p *profiles) edit(name string, values map[string]string, done func(string)) {
	var old control.OwnProfile
	for _, own := range p.own.Profiles {
		if own.Name == name {
			old = own
		}
	}
	changed := changedBy(old, values)
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (control.OwnProfile, error) {
		return p.c.client.PutProfile(ctx, control.ProfilePut{Profile: changed})
	}, func(_ control.OwnProfile, err error) {
		if err != nil {
			done(p.why(name, err))
			return
		}
		done("")
		delete(p.shown.Tested, name)
		p.did(name, "window.profiles.saved", nil)
	})
}

// setKey gives a profile another key.
func (p *profiles) setKey(name string, key view.ProfileKey, done func(string)) {
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, p.keep(ctx, name, key)
	}, func(_ struct{}, err error) {
		if err != nil {
			p.lookAtKeychain()
			done(p.why(name, err))
			return
		}
		done("")
		delete(p.shown.Tested, name)
		p.did(name, "window.profiles.key.saved", nil)
	})
}

func (p *profiles) setDefault(name string) {
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (control.Preferences, error) {
		return p.c.client.EditPreferences(ctx, control.PreferencesEdit{DefaultProfile: &name})
	}, func(_ control.Preferences, err error) {
		p.did(name, "window.profiles.made-default", err)
	})
}

// drop asks whether to forget a profile, and says what needs it.
func (p *profiles) drop(name string) {
	title := p.say("window.profiles.drop.title", "profile", ui.Visible(name))
	view.Confirm(p.c.env, title, ui.DropText(p.c.env.Texts, ui.Visible(name), p.own.Default == name), p.say("window.profiles.drop.verb"), true, func() {
		p.forget(name, false, func(err error) {
			e := sandbox.ToError(err)
			if e.Code != sandbox.WrongState {
				p.did(name, "window.profiles.dropped", err)
				return
			}
			view.Confirm(p.c.env, title, p.why(name, err), p.say("window.profiles.drop.anyway"), true, func() {
				p.forget(name, true, func(err error) { p.did(name, "window.profiles.dropped", err) })
			})
		})
	})
}

// forget drops a profile and what the keychain has of it, or tells why not.
func (p *profiles) forget(name string, force bool, refused func(error)) {
	fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, p.c.client.DropProfile(ctx, control.ProfileDrop{Name: name, Force: force})
	}, func(_ struct{}, err error) {
		if err != nil {
			refused(err)
			p.look()
			return
		}
		delete(p.shown.Tested, name)
		p.did(name, "window.profiles.dropped", nil)
	})
}

// putBack puts a key back where it was taken from.
func (p *profiles) putBack(name string) {
	p.ask(control.ProfileRequest{Action: control.ProfileRestore, Name: name}, func(answer []byte, err error) {
		if err != nil {
			p.did(name, "", err)
			return
		}
		p.c.toast(ui.MovedText(p.c.env.Texts, answer, true))
		p.look()
	})
}

// importAny shows what is in the files of AWS, and takes what the user wants.
func (p *profiles) importAny() {
	ctx, cancel := context.WithCancel(context.WithoutCancel(p.ctx))
	l := view.NewImportList(p.c.env, cancel)
	look := func() {
		fetch(ctx, p.c.client.Importable, func(all []control.Importable, err error) {
			if err != nil {
				l.Fail(p.why("", err))
				return
			}
			l.Show(all)
		})
	}
	failed := func(name string, err error) {
		l.Fail(p.why(name, err))
		p.lookAtKeychain()
	}
	region := func(i control.Importable, do func(region string)) {
		if !i.NoRegion {
			do("")
			return
		}
		view.AskRegion(p.c.env, i.Name, do)
	}
	l.OnMove = func(i control.Importable) {
		region(i, func(region string) {
			name := ui.Visible(i.Name)
			view.Confirm(p.c.env, p.say("window.profiles.import.move"), p.say("window.profiles.import.move.text", "profile", name), p.say("window.profiles.import.move.verb"), false, func() {
				p.ask(control.ProfileRequest{Action: control.ProfileMove, Name: i.Name, Data: i.Move, Region: region}, func(answer []byte, err error) {
					if err != nil {
						failed(i.Name, err)
						return
					}
					p.c.toast(ui.MovedText(p.c.env.Texts, answer, false))
					p.wanted = i.Name
					look()
					p.look()
				})
			})
		})
	}
	l.OnUse = func(i control.Importable) {
		region(i, func(region string) {
			own := *i.Profile
			if region != "" {
				own.Region = region
			}
			fetch(context.WithoutCancel(p.ctx), func(ctx context.Context) (control.OwnProfile, error) {
				return p.c.client.PutProfile(ctx, control.ProfilePut{Profile: own, Fresh: true})
			}, func(_ control.OwnProfile, err error) {
				if err != nil {
					failed(own.Name, err)
					return
				}
				p.c.toast(p.say("window.profiles.import.used", "profile", ui.Visible(own.Name)))
				p.wanted = own.Name
				look()
				p.look()
			})
		})
	}
	look()
}
