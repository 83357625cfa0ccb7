package kernel

import (
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The program of the kernel, in parts; boot.py is given to python3 -c and
// loads the others, which arrive in the first frame.
//
//go:embed program/*.py
var program embed.FS

// maxFrame bounds what a kernel may say at once. Its own limit for a result
// is 12 MiB, which JSON escapes may double; user code that writes to the line
// itself gets no more out of us than this.
const maxFrame = 32 << 20

// A setup is the first frame to a new kernel.
type setup struct {
	Program map[string]string `json:"program"`
	Plain   bool              `json:"plain,omitempty"`
}

// A message is a request to a kernel.
type message struct {
	Op   string            `json:"op"` // run, ping or setup
	Cell uint64            `json:"cell,omitempty"`
	Code string            `json:"code"`
	Env  map[string]string `json:"env,omitempty"`
	Dir  string            `json:"cwd,omitempty"`
	Seed bool              `json:"seed,omitempty"`
}

// A frame is what a kernel says.
type frame struct {
	Type    string            `json:"t"` // ready, start, result, sync, done or pong
	Cell    uint64            `json:"cell"`
	Sync    uint32            `json:"sync"` // wants this number back once the frame is handled
	Count   uint64            `json:"count"`
	Main    bool              `json:"main"`
	Data    map[string]string `json:"data"`
	Error   *Error            `json:"error"`
	Python  string            `json:"python"`
	IPython string            `json:"ipython"`
}

// boot returns the text for python3 -c and the first frame.
func boot(plain bool) (string, []byte, error) {
	s := setup{Program: map[string]string{}, Plain: plain}
	names, err := fs.Glob(program, "program/*.py")
	if err != nil {
		return "", nil, err
	}
	for _, name := range names {
		text, err := program.ReadFile(name)
		if err != nil {
			return "", nil, err
		}
		s.Program[strings.TrimSuffix(strings.TrimPrefix(name, "program/"), ".py")] = string(text)
	}
	code := s.Program["boot"]
	delete(s.Program, "boot")
	first, err := encode(s)
	return code, first, err
}

// encode makes a frame: four bytes of length, then JSON.
func encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(body)), uint32(len(body))), body...), nil
}

var errFrame = errors.New("the kernel's line holds what is no frame")

// frames collects bytes and cuts them into frames.
type frames struct {
	buf []byte
}

func (f *frames) add(p []byte) { f.buf = append(f.buf, p...) }

// next returns the first whole frame, or false when more bytes are needed.
func (f *frames) next() (frame, bool, error) {
	if len(f.buf) < 4 {
		return frame{}, false, nil
	}
	n := binary.BigEndian.Uint32(f.buf)
	if n > maxFrame {
		return frame{}, false, errFrame
	}
	if len(f.buf) < 4+int(n) {
		return frame{}, false, nil
	}
	var fr frame
	if err := json.Unmarshal(f.buf[4:4+n], &fr); err != nil {
		return frame{}, false, errFrame // the cause would quote user data
	}
	f.buf = f.buf[4+n:]
	if len(f.buf) == 0 && cap(f.buf) > 1<<20 {
		f.buf = nil
	}
	return fr, true, nil
}
