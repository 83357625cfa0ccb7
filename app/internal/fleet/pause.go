package fleet

import "github.com/arenero/arenero/app/sandbox"

// Pause has requests for new sandboxes refused, or taken again. What lives, or is
// being made, goes on.
func (f *Fleet) Pause(paused bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.paused == paused {
		return
	}
	f.paused = paused
	f.log.Info("new sandboxes", "paused", paused)
	f.changedLocked()
}

// Renew tells whoever looks that the owner has set something anew, which is not
// the fleet's own.
func (f *Fleet) Renew() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settings++
	f.changedLocked()
}

// Paused is why no sandbox is made now; nil if any is.
func (f *Fleet) Paused() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.pausedLocked()
}

func (f *Fleet) pausedLocked() error {
	if !f.paused {
		return nil
	}
	return &sandbox.Error{
		Code: sandbox.WrongState, Msg: "the owner of the computer has paused new sandboxes",
		Hint:    "they take it back in the menu of Arenero or with \"arenero pause --off\"; until then only sandboxes that live can be used",
		Details: map[string]any{"why": "paused"},
	}
}
