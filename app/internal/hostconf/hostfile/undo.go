package hostfile

import (
	"context"

	"github.com/arenero/arenero/app/internal/hostconf/edit"
)

// An UndoRequest says what to take back.
type UndoRequest struct {
	Path    string
	Lock    LockKind
	MaxSize int64
	// Else takes the last change out of a file that has changed since. It is
	// called as [Request.Change] is. If it is nil such a file is refused.
	Else func(last Change, doc []byte) (edit.Edit, error)
}

// Undo takes back the last change of a file that was not taken back yet. If the
// file is as that change left it, it becomes what it was to the byte; one that
// did not exist goes.
func (s *Store) Undo(ctx context.Context, u UndoRequest) (Result, error) {
	r, pl, err := s.undo(ctx, u)
	if err != nil {
		return Result{}, err
	}
	return s.run(ctx, r, pl)
}

// PreviewUndo returns what Undo would, and writes nothing.
func (s *Store) PreviewUndo(ctx context.Context, u UndoRequest) (Result, error) {
	r, pl, err := s.undo(ctx, u)
	if err != nil {
		return Result{}, err
	}
	return s.preview(ctx, r, pl)
}

func (s *Store) undo(ctx context.Context, u UndoRequest) (Request, planner, error) {
	t, err := find(u.Path)
	if err != nil {
		return Request{}, nil, err
	}
	var last *Change // the same for every try
	return Request{Path: u.Path, Lock: u.Lock, MaxSize: u.MaxSize}, func(doc []byte) (plan, error) {
		if last != nil {
			return u.plan(*last, doc)
		}
		err := s.peruse(ctx, func(b *book) error {
			for _, c := range b.changes() {
				if c.State == Done && c.Act != Undone && key(c.Real) == key(t.real) {
					last = &c
				}
			}
			return nil
		})
		if err != nil {
			return plan{}, err
		}
		if last == nil {
			return plan{}, &Error{
				Kind: Nothing, Path: u.Path, Msg: "there is no change of ours to take back",
				Hint: "remove the entry instead",
			}
		}
		return u.plan(*last, doc)
	}, nil
}

func (u UndoRequest) plan(last Change, doc []byte) (plan, error) {
	if sum(doc) != last.After {
		if u.Else == nil {
			return plan{}, &Error{
				Kind: Changed, Path: u.Path, Msg: "the file has changed since we wrote it",
				Hint: "remove the entry instead, which leaves the other changes alone",
			}
		}
		e, err := u.Else(last, doc)
		return plan{Edit: e, of: &last}, err
	}
	if last.Before == "" {
		return plan{of: &last, remove: true}, nil
	}
	back := last.Patches.Reverse()
	before := ""
	if back.Fit(doc) {
		var err error
		if before, err = sumReader(back.Reader(doc)); err != nil {
			return plan{}, err
		}
	}
	if before != last.Before {
		return plan{}, &Error{
			Kind: Spoiled, Path: u.Path, Msg: "the journal does not tell how to take the change back",
			Hint: "remove the entry instead, or restore a backup by hand",
		}
	}
	return plan{Edit: edit.Edit{Patches: back}, of: &last}, nil
}
