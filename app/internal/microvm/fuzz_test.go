package microvm

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// Whatever a server sends, a call ends with an output or an error; and an
// output can be written and read again.
func FuzzAnswers(f *testing.F) {
	for i, op := range wire.Operations {
		b, err := os.ReadFile(filepath.Join("testdata", "answer", op.Name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), uint16(op.Status), "", string(b))
	}
	f.Add(uint8(0), uint16(400), "aws#ValidationException:x", `{"message":null}`)
	f.Add(uint8(0), uint16(429), "", `{"__type":"a#b:c","message":{}}`)
	f.Add(uint8(0), uint16(502), "", `<html>`)
	ins := samples()
	f.Fuzz(func(t *testing.T, which uint8, status uint16, class, body string) {
		op := wire.Operations[int(which)%len(wire.Operations)]
		c := newTestClient("http://localhost", once, func(o *Options) {
			o.NoRateLimit = true
			o.HTTPClient = httpFunc(func(*http.Request) (*http.Response, error) {
				h := http.Header{wire.HeaderErrorType: {class}}
				return &http.Response{StatusCode: int(status), Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
			})
		})
		out, err := invokeByName(t.Context(), c, op.Name, ins[op.Name])
		if err != nil {
			_ = err.Error()
			return
		}
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, newOutput(op.Name)); err != nil {
			t.Errorf("%s of %s can't be read again: %v", op.Name, b, err)
		}
	})
}
