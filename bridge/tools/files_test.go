package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/sandbox"
)

func TestR52_R54_R57_FilesRoundTrip(t *testing.T) {
	m := newMemory()
	h := connect(t, m)
	golden(t, "files/write.json", h.call("write_file", args{"path": "notas/año.txt", "content": "ñandú\n"}).raw)
	golden(t, "files/read.json", h.call("read_file", args{"path": "notas/año.txt"}).raw)
	h.call("write_file", args{"path": "/home/user/b", "content": ""})
	m.mu.Lock()
	m.boxes[0].types["/home/user/fifo"] = sandbox.TypeOther
	m.boxes[0].types["/home/user/link"] = sandbox.TypeSymlink
	m.mu.Unlock()
	golden(t, "files/list.json", h.call("list_files", args{}).raw)
	golden(t, "files/list-deep.json", h.call("list_files", args{"path": "/home/user", "depth": 5}).raw)
}

func TestR53_OnlyRegularTextIsRead(t *testing.T) {
	m := newMemory()
	h := connect(t, m)
	h.call("write_file", args{"path": "dir/x", "content": "x"})
	bad := map[string]string{"latin1": "a\xf1o", "cut": "a\xc3", "long": strings.Repeat("a", 5000) + "\xff" + strings.Repeat("b", 5000)}
	m.mu.Lock()
	b := m.boxes[0]
	for name, data := range bad {
		b.files["/home/user/"+name] = []byte(data)
	}
	b.types["/dev/zero"] = sandbox.TypeOther
	b.types["/home/user/link"] = sandbox.TypeSymlink
	m.mu.Unlock()
	for path, want := range map[string]string{
		"latin1": "byte 1", "cut": "byte 1", "long": "byte 5000", "dir": "directorio", "/dev/zero": "no es un archivo normal", "link": "enlace",
	} {
		r := h.call("read_file", args{"path": path})
		if r.code(t) != "invalid_arguments" || !strings.Contains(r.text(), want) || !strings.Contains(r.text(), path) {
			t.Errorf("%s: %s", path, r.raw)
		}
	}
}

func TestR55_WriteReplaces(t *testing.T) {
	h := connect(t, newMemory())
	h.call("write_file", args{"path": "f", "content": "the first, long"})
	r := h.call("write_file", args{"path": "f", "content": "ñ"})
	if got := field[int](t, r.Structured, "size"); got != 2 {
		t.Errorf("size = %d, want 2", got)
	}
	if got := field[string](t, h.call("read_file", args{"path": "f"}).Structured, "content"); got != "ñ" {
		t.Errorf("content = %q", got)
	}
}

func TestR56_DepthOfListFiles(t *testing.T) {
	h := connect(t, newMemory())
	for _, bad := range []any{0, 6, "1", nil} {
		if got := h.call("list_files", args{"depth": bad}).code(t); got != "invalid_arguments" {
			t.Errorf("depth %v: code = %q", bad, got)
		}
	}
	h.call("write_file", args{"path": "a/b/c", "content": ""})
	r := h.call("list_files", args{})
	var got listOut
	if err := json.Unmarshal(r.Structured, &got); err != nil {
		t.Fatal(err)
	}
	if got.Path != "/home/user" || len(got.Entries) != 1 || got.Entries[0].Name != "a" {
		t.Errorf("list of the defaults = %+v", got)
	}
}

func TestR70_MissingFile(t *testing.T) {
	h := connect(t, newMemory())
	for _, tool := range []string{"read_file", "list_files"} {
		r := h.call(tool, args{"path": "/no/hay"})
		if r.code(t) != "not_found" || r.text() != "Ruta no encontrada: /no/hay" {
			t.Errorf("%s: %s", tool, r.raw)
		}
	}
}

func TestR41_R100_RX10_LongFiles(t *testing.T) {
	h := connect(t, newMemory())
	h.call("write_file", args{"path": "f", "content": strings.Repeat("ñ", maxChars+3)})
	r := h.call("read_file", args{"path": "f"})
	if want := strings.Repeat("ñ", maxChars) + "\n… [3 caracteres más]"; field[string](t, r.Structured, "content") != want {
		t.Errorf("content ends with %q", lastChars(field[string](t, r.Structured, "content"), 100))
	}
	if got := field[int](t, r.Structured, "size"); got != 2*(maxChars+3) {
		t.Errorf("size = %d, want the bytes of the file", got)
	}
	if !field[bool](t, r.Structured, "truncated") {
		t.Error("not marked as truncated")
	}
}
