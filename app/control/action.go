package control

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/arenero/arenero/app/sandbox"
)

// An actionRequest asks the accountant or the desk for something.
type actionRequest struct {
	Name string          `json:"name"`
	Data json.RawMessage `json:"data,omitempty"`
}

// A actionCall does one action. It may emit items before it returns.
type actionCall func(ctx context.Context, data []byte, emit func(any) error) (any, error)

// on makes a call of a method.
func on[In, Out any](do func(context.Context, In) (Out, error)) actionCall {
	return func(ctx context.Context, data []byte, _ func(any) error) (any, error) {
		var in In
		if len(data) > 0 {
			if err := json.Unmarshal(data, &in); err != nil { // which may quote what is secret
				return nil, &sandbox.Error{Code: sandbox.Invalid, Msg: "the request can't be read"}
			}
		}
		return do(ctx, in)
	}
}

// each makes a call of a method that takes a word and emits items.
func each[Item any](do func(ctx context.Context, word string, emit func(Item) error) error) actionCall {
	return func(ctx context.Context, data []byte, emit func(any) error) (any, error) {
		var word string
		if err := json.Unmarshal(data, &word); err != nil {
			return nil, missing("word")
		}
		return nil, do(ctx, word, func(i Item) error { return emit(i) })
	}
}

// action serves the accountant and the desk.
func (s *server) action(ctx context.Context, q *request, _ *http.Request, out *stream) (*answer, error) {
	if q.Action == nil {
		return nil, missing("action")
	}
	do := moneyCalls(s.e)[q.Action.Name]
	if do == nil {
		do = deskCalls(s.e)[q.Action.Name]
	}
	if do == nil {
		return nil, missing("action")
	}
	got, err := do(ctx, q.Action.Data, func(v any) error {
		item, err := json.Marshal(v)
		if err != nil {
			return err
		}
		return out.send(frame{Item: item})
	})
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(got)
	return &answer{Data: data}, err
}

// ask sends one action, and reads what it came to.
func ask[Out any](ctx context.Context, c *Client, action string, in any, p policy) (out Out, err error) {
	data, err := json.Marshal(in)
	if err != nil {
		return out, ours(err)
	}
	a, err := c.call(ctx, callAction, &request{Action: &actionRequest{action, data}}, p, nil, nil)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(a.Data, &out); err != nil {
		return out, missing(action)
	}
	return out, nil
}

// items sends one action, and passes on what it emits.
func items[Item any](ctx context.Context, c *Client, action string, in any, p policy, emit func(Item) error) error {
	data, err := json.Marshal(in)
	if err != nil {
		return ours(err)
	}
	_, err = c.call(ctx, callAction, &request{Action: &actionRequest{action, data}}, p, func(f frame) error {
		var item Item
		if f.Item == nil {
			return nil
		}
		if err := json.Unmarshal(f.Item, &item); err != nil {
			return missing(action)
		}
		return emit(item)
	}, nil)
	return err
}
