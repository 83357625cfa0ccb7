package microvm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// Each list: three pages, the second empty, the token sent back as it came.
func TestPaginators(t *testing.T) {
	ins := samples()
	var lists []string
	for _, op := range wire.Operations {
		if !op.Paged {
			continue
		}
		lists = append(lists, op.Name)
		t.Run(op.Name, func(t *testing.T) {
			rec, url := serve(t, func(n int, w http.ResponseWriter, _ *http.Request) {
				answer(w, 200, []string{
					`{"items":[{},{}],"nextToken":"a+/="}`, `{"items":[],"nextToken":"b"}`, `{"items":[{}],"nextToken":null}`,
				}[n-1])
			})
			in := reflect.ValueOf(ins[op.Name])
			in.Elem().FieldByName("NextToken").SetZero()
			items, err := walk(t.Context(), newTestClient(url), in.Interface())
			if err != nil || items != 3 {
				t.Errorf("%d items, error %v, want 3", items, err)
			}
			var tokens []string
			for _, r := range rec.requests() {
				tokens = append(tokens, r.URL.Query().Get("nextToken"))
				if got, want := r.URL.Query().Get("maxResults"), fmt.Sprint(in.Elem().FieldByName("MaxResults").Elem()); got != want {
					t.Errorf("maxResults = %s, want %s", got, want)
				}
			}
			if want := []string{"", "a+/=", "b"}; !slices.Equal(tokens, want) {
				t.Errorf("tokens sent = %q, want %q", tokens, want)
			}
			if !in.Elem().FieldByName("NextToken").IsNil() {
				t.Error("the caller's input was written to")
			}
		})
	}
	if len(lists) != 6 {
		t.Errorf("%d lists with pages, want 6: %q", len(lists), lists)
	}
}

// walk counts the items on all pages.
func walk(ctx context.Context, c *Client, in any) (int, error) {
	switch in := in.(type) {
	case *ListMicrovmsInput:
		return count(ctx, NewListMicrovmsPaginator(c, in))
	case *ListMicrovmImagesInput:
		return count(ctx, NewListMicrovmImagesPaginator(c, in))
	case *ListMicrovmImageVersionsInput:
		return count(ctx, NewListMicrovmImageVersionsPaginator(c, in))
	case *ListMicrovmImageBuildsInput:
		return count(ctx, NewListMicrovmImageBuildsPaginator(c, in))
	case *ListManagedMicrovmImagesInput:
		return count(ctx, NewListManagedMicrovmImagesPaginator(c, in))
	case *ListManagedMicrovmImageVersionsInput:
		return count(ctx, NewListManagedMicrovmImageVersionsPaginator(c, in))
	}
	return 0, fmt.Errorf("no paginator for %T", in)
}

func count[In, Out any](ctx context.Context, p *Paginator[In, Out]) (int, error) {
	n := 0
	for p.HasMorePages() {
		page, err := p.NextPage(ctx)
		if err != nil {
			return n, err
		}
		var items struct{ Items []any }
		b, _ := json.Marshal(page)
		if err := json.Unmarshal(b, &items); err != nil {
			return n, err
		}
		n += len(items.Items)
	}
	_, err := p.NextPage(ctx)
	if err == nil {
		return n, errors.New("a page came after the last")
	}
	return n, nil
}

// fakeList is a list in memory.
type fakeList func(token string) (*ListMicrovmsOutput, error)

func (f fakeList) ListMicrovms(_ context.Context, in *ListMicrovmsInput, _ ...func(*Options)) (*ListMicrovmsOutput, error) {
	token := ""
	if in.NextToken != nil {
		token = *in.NextToken
	}
	return f(token)
}

func TestPaginatorErrors(t *testing.T) {
	broken := errors.New("broken")
	fail := true
	p := NewListMicrovmsPaginator(fakeList(func(token string) (*ListMicrovmsOutput, error) {
		if token == "2" && fail {
			return nil, broken
		}
		if token == "2" {
			return &ListMicrovmsOutput{}, nil
		}
		return &ListMicrovmsOutput{NextToken: new("2")}, nil
	}), nil)
	if _, err := p.NextPage(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := p.NextPage(t.Context()); !errors.Is(err, broken) || !p.HasMorePages() {
		t.Fatalf("error = %v, more pages %t", err, p.HasMorePages())
	}
	fail = false
	if _, err := p.NextPage(t.Context()); err != nil || p.HasMorePages() {
		t.Errorf("error = %v, more pages %t, want the last page", err, p.HasMorePages())
	}
}

func TestPaginatorStopsOnDuplicate(t *testing.T) {
	same := fakeList(func(string) (*ListMicrovmsOutput, error) { return &ListMicrovmsOutput{NextToken: new("same")}, nil })
	p := NewListMicrovmsPaginator(same, nil, func(o *ListMicrovmsPaginatorOptions) { o.StopOnDuplicateToken = true })
	pages := 0
	for p.HasMorePages() && pages < 10 {
		if _, err := p.NextPage(t.Context()); err != nil {
			t.Fatal(err)
		}
		pages++
	}
	if pages != 2 {
		t.Errorf("%d pages, want 2", pages)
	}
}
