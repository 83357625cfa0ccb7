package screen

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The fields of the header of a picture of X, each of four bytes, that matter.
const (
	xwdHeader  = 0
	xwdWidth   = 4
	xwdHeight  = 5
	xwdBits    = 11
	xwdLine    = 12
	xwdRed     = 14
	xwdColors  = 19
	xwdFields  = 25
	xwdColor   = 12 // bytes of one
	redOnTop   = 0xff0000
	bitsInWord = 32
)

// Picture is what is on the screen. The X server keeps it in a file, so that
// taking one disturbs nobody.
func (s *Screen) Picture() (*image.RGBA, error) {
	raw, err := os.ReadFile(filepath.Join(s.dir, "Xvfb_screen0"))
	if err != nil {
		return nil, err
	}
	if len(raw) < 4*xwdFields {
		return nil, errors.New("the picture of the screen is cut short")
	}
	field := func(n int) int { return int(binary.BigEndian.Uint32(raw[4*n:])) }
	width, height, line := field(xwdWidth), field(xwdHeight), field(xwdLine)
	if field(xwdBits) != bitsInWord || field(xwdRed) != redOnTop {
		return nil, errors.New("the screen has pixels of a kind that can't be read")
	}
	at := field(xwdHeader) + xwdColor*field(xwdColors)
	if len(raw) < at+line*height {
		return nil, errors.New("the picture of the screen is cut short")
	}
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		from, to := raw[at+y*line:], out.Pix[y*out.Stride:]
		for x := 0; x < 4*width; x += 4 { // blue, green, red, nothing
			to[x], to[x+1], to[x+2], to[x+3] = from[x+2], from[x+1], from[x], 0xff
		}
	}
	return out, nil
}

// Cut is a part of a picture, as one of its own.
func Cut(p *image.RGBA, at image.Rectangle) *image.RGBA {
	at = at.Intersect(p.Bounds())
	out := image.NewRGBA(image.Rect(0, 0, at.Dx(), at.Dy()))
	for y := range at.Dy() {
		copy(out.Pix[y*out.Stride:], p.Pix[p.PixOffset(at.Min.X, at.Min.Y+y):][:4*at.Dx()])
	}
	return out
}

// Differ is how many pixels of two pictures differ.
func Differ(a, b *image.RGBA) (n int) {
	if a.Bounds() != b.Bounds() {
		return max(len(a.Pix), len(b.Pix)) / 4
	}
	if bytes.Equal(a.Pix, b.Pix) {
		return 0
	}
	for i := 0; i < len(a.Pix); i += 4 {
		if a.Pix[i] != b.Pix[i] || a.Pix[i+1] != b.Pix[i+1] || a.Pix[i+2] != b.Pix[i+2] {
			n++
		}
	}
	return n
}

// A Word is one that can be read on a picture.
type Word struct {
	Text string
	At   image.Rectangle
	line [3]int
}

// Read reads the words of a picture, in a language as tesseract names it, line by line.
func Read(p image.Image, language string) ([]Word, error) {
	if _, err := exec.LookPath("tesseract"); err != nil {
		return nil, errors.New("tesseract is missing: install the package tesseract-ocr, or run \"make setup\"")
	}
	var b, said bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, p); err != nil {
		return nil, err
	}
	cmd := exec.Command("tesseract", "-", "-", "-l", language, "--psm", "11", "tsv")
	cmd.Env = append(os.Environ(), "OMP_THREAD_LIMIT=1")
	cmd.Stdin, cmd.Stderr = &b, &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("tesseract: %w %s", err, said.String())
	}
	var words []Word
	for row := range strings.Lines(string(out)) {
		// level, page, block, paragraph, line, word, left, top, width, height, confidence, text
		f := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
		if len(f) != 12 || f[0] != "5" || strings.TrimSpace(f[11]) == "" {
			continue
		}
		var n [10]int
		for i := range n {
			n[i], _ = strconv.Atoi(f[i])
		}
		words = append(words, Word{Text: f[11], At: image.Rect(n[6], n[7], n[6]+n[8], n[7]+n[9]), line: [3]int{n[2], n[3], n[4]}})
	}
	return words, nil
}

// Text is words as lines.
func Text(words []Word) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i == 0:
		case w.line != words[i-1].line:
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
	}
	return b.String()
}
