package window

import (
	"context"
	"errors"

	"fyne.io/fyne/v2"
)

// onUI has the goroutine of the toolkit do something. It is the only place where
// news crosses to it.
func onUI(do func()) { fyne.Do(do) }

// fetch asks the engine something, without holding up the window, and hands
// the answer to got on the goroutine of the toolkit, unless ctx is done by then.
func fetch[T any](ctx context.Context, ask func(ctx context.Context) (T, error), got func(T, error)) {
	go func() {
		v, err := ask(ctx)
		if ctx.Err() != nil || errors.Is(err, context.Canceled) {
			return
		}
		onUI(func() {
			if ctx.Err() == nil {
				got(v, err)
			}
		})
	}()
}

// follow hands each item of a stream to show on the goroutine of the toolkit,
// for as long as ctx lasts, and then its end to ended.
func follow[T any](ctx context.Context, stream func(ctx context.Context, emit func(T) error) error, show func(T), ended func(error)) {
	go func() {
		err := stream(ctx, func(v T) error {
			onUI(func() {
				if ctx.Err() == nil {
					show(v)
				}
			})
			return ctx.Err()
		})
		if ctx.Err() != nil {
			return
		}
		onUI(func() {
			if ctx.Err() == nil {
				ended(err)
			}
		})
	}()
}

// A reading is something that is read from the engine again and again, one time
// after another: who asks while it is read has it read once more, as what is
// under way may have seen nothing of what is new.
type reading struct{ busy, again bool }

// begin reports whether to read now.
func (r *reading) begin() bool {
	if r.busy {
		r.again = true
		return false
	}
	*r = reading{busy: true}
	return true
}

// end reports whether to read once more.
func (r *reading) end() bool {
	again := r.again
	*r = reading{}
	return again
}
