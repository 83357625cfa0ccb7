package cloud

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

func TestPages(t *testing.T) {
	r := newRig(t, nil)
	want := map[string]bool{}
	for range 7 {
		want[r.run(nil)] = true
	}
	r.must("CreateMicrovmImage", boxImage("box"), nil)
	r.clock.Advance(time.Second)
	box := r.ImageARN("box")
	boxed := r.run(&wire.RunMicrovmInput{ImageIdentifier: &box})

	in := &wire.ListMicrovmsInput{MaxResults: new(int32(3)), ImageIdentifier: new(r.ImageARN(LocalImage))}
	seen := map[string]int{}
	var sizes []int
	for {
		var page wire.ListMicrovmsOutput
		r.must("ListMicrovms", in, &page)
		sizes = append(sizes, len(page.Items))
		for _, v := range page.Items {
			seen[*v.MicrovmId]++
		}
		if page.NextToken == nil {
			break
		}
		if n := len(*page.NextToken); n < 688 || n > 800 {
			t.Errorf("a cursor of %d characters", n)
		}
		in.NextToken = page.NextToken
		// What a cursor stands on may be gone by the next page.
		last := r.vm(*page.Items[len(page.Items)-1].MicrovmId)
		last.doom(ending{reason: reasonTerminated})
		r.forget(last)
	}
	if len(sizes) != 3 || sizes[0] != 3 || sizes[1] != 3 || sizes[2] != 1 {
		t.Errorf("pages of %v", sizes)
	}
	for id := range want {
		if seen[id] != 1 {
			t.Errorf("%s seen %d times", id, seen[id])
		}
	}
	var page wire.ListMicrovmsOutput
	r.must("ListMicrovms", &wire.ListMicrovmsInput{ImageIdentifier: &box, ImageVersion: new("1")}, &page)
	if len(page.Items) != 1 || *page.Items[0].MicrovmId != boxed {
		t.Errorf("items of the box = %+v", page.Items)
	}
	r.must("ListMicrovms", &wire.ListMicrovmsInput{ImageVersion: new("9")}, &page)
	if page.Items == nil || len(page.Items) != 0 {
		t.Errorf("items of no image = %v", page.Items)
	}
}

// TestFilterAfterPage has more images than a page holds, and a filter that
// only one on the second page passes: the first page is empty and goes on.
func TestFilterAfterPage(t *testing.T) {
	r := newRig(t, nil)
	r.must("CreateMicrovmImage", boxImage("zebra"), nil)
	in := &wire.ListMicrovmImagesInput{MaxResults: new(int32(1)), NameFilter: new("ebr")}
	var page wire.ListMicrovmImagesOutput
	r.must("ListMicrovmImages", in, &page)
	if len(page.Items) != 0 || page.NextToken == nil {
		t.Fatalf("first page = %+v", page)
	}
	in.NextToken = page.NextToken
	page = wire.ListMicrovmImagesOutput{}
	r.must("ListMicrovmImages", in, &page)
	if len(page.Items) != 1 || *page.Items[0].Name != "zebra" || page.NextToken != nil {
		t.Errorf("second page = %+v", page)
	}
}

func TestCursors(t *testing.T) {
	r := newRig(t, nil)
	r.run(nil)
	r.run(nil)
	var page wire.ListMicrovmsOutput
	r.must("ListMicrovms", &wire.ListMicrovmsInput{MaxResults: new(int32(1))}, &page)
	good := *page.NextToken
	flip := func(i int) string {
		c := byte('A')
		if good[i] == c {
			c = 'B'
		}
		return good[:i] + string(c) + good[i+1:]
	}
	for name, token := range map[string]string{
		"first character": flip(0), "middle": flip(len(good) / 2), "last block": flip(len(good) - 5), "cut": good[:len(good)-4],
		"longer": good + "AAAA", "words": "next please", "one character": "A",
	} {
		if got := r.call("ListMicrovms", &wire.ListMicrovmsInput{NextToken: &token}, nil); got.class != wire.Validation || !strings.Contains(got.text, "nextToken") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// A cursor belongs to its list and its filters.
	if got := r.call("ListMicrovmImages", &wire.ListMicrovmImagesInput{NextToken: &good}, nil); got.class != wire.Validation {
		t.Errorf("in another list: %+v", got)
	}
	if got := r.call("ListMicrovms", &wire.ListMicrovmsInput{NextToken: &good, ImageVersion: new("1")}, nil); got.class != wire.Validation {
		t.Errorf("with another filter: %+v", got)
	}
}

func FuzzCursor(f *testing.F) {
	box, err := newCursorBox(make([]byte, 32))
	if err != nil {
		f.Fatal(err)
	}
	good, err := box.seal(cursor{Scope: "list", After: "x"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("")
	f.Add("AAAA")
	f.Add(good[:40])
	f.Fuzz(func(t *testing.T, token string) {
		// The seed alone opens, and as what it is. Each process of the fuzzer
		// has a seed of its own, so its text can't be compared.
		after, err := box.open(token, "list")
		if err == nil && after != "x" && token != "" {
			t.Errorf("%q opened as %q", token, after)
		}
		if _, ok := errors.AsType[*apiError](err); err != nil && !ok {
			t.Errorf("open = %v, not an answer", err)
		}
	})
}
