package dataplane

import (
	"net/http"
	"testing"
)

func TestThin(t *testing.T) {
	r := newRig(t)
	r.vm.serve(t, 8080, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Write([]byte(q.Host))
	}))
	for _, h2 := range []bool{false, true} {
		resp, err := r.client(t, h2).Do(r.request(t, "GET", "/", 8080, nil))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got := readAll(t, resp.Body); got != testHost || resp.StatusCode != 200 {
			t.Errorf("got %d %q", resp.StatusCode, got)
		}
	}
}
