//go:build ignore

// Draw makes the pictures of the tray: SVG for whoever scales, PNG in all sizes
// that panels ask for, and ICO for Windows. Every size is drawn anew from shapes
// in a square of 16, so that lines stay as sharp as it allows.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"log"
	"math"
	"os"
	"strings"
)

// The colors stand out from white and from near black alike.
var (
	grey  = color.NRGBA{0x84, 0x84, 0x88, 0xff}
	sand  = color.NRGBA{0xb8, 0x79, 0x14, 0xff}
	night = color.NRGBA{0x6b, 0x74, 0xd6, 0xff}
	green = color.NRGBA{0x1f, 0x93, 0x4a, 0xff}
	red   = color.NRGBA{0xd9, 0x48, 0x3b, 0xff}
)

// A shape is a color within a distance: negative inside, in units of the square
// of 16. A nil color takes away what is below.
type shape struct {
	paint    *color.NRGBA
	distance func(x, y float64) float64
	svg      string // the same for SVG, with %s for its paint
}

// A picture is the shapes of one state, from back to front.
type picture struct {
	name   string
	shapes []shape
}

func box(x0, y0, x1, y1, r float64) func(x, y float64) float64 {
	cx, cy, hx, hy := (x0+x1)/2, (y0+y1)/2, (x1-x0)/2-r, (y1-y0)/2-r
	return func(x, y float64) float64 {
		dx, dy := math.Abs(x-cx)-hx, math.Abs(y-cy)-hy
		return math.Hypot(math.Max(dx, 0), math.Max(dy, 0)) + math.Min(math.Max(dx, dy), 0) - r
	}
}

func rect(paint *color.NRGBA, x0, y0, x1, y1, r float64) shape {
	return shape{paint, box(x0, y0, x1, y1, r), fmt.Sprintf(`<rect x="%g" y="%g" width="%g" height="%g" rx="%g" fill="%%s"/>`, x0, y0, x1-x0, y1-y0, r)}
}

// frame is the box that the sand lies in.
func frame(paint *color.NRGBA) shape {
	outer, inner := box(1, 1, 15, 15, 3), box(3, 3, 13, 13, 1.2)
	return shape{
		paint, func(x, y float64) float64 { return math.Max(outer(x, y), -inner(x, y)) },
		`<path fill="%s" fill-rule="evenodd" d="M4 1h8a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3H4a3 3 0 0 1-3-3V4a3 3 0 0 1 3-3zM4.2 3A1.2 1.2 0 0 0 3 4.2v7.6A1.2 1.2 0 0 0 4.2 13h7.6a1.2 1.2 0 0 0 1.2-1.2V4.2A1.2 1.2 0 0 0 11.8 3z"/>`,
	}
}

// dune is sand: a hill in the box.
func dune(paint *color.NRGBA) shape {
	hill, inside := circle(8, 14, 7.2), box(4, 4, 12, 12, 0.6)
	return shape{
		paint, func(x, y float64) float64 { return math.Max(hill(x, y), inside(x, y)) },
		`<path fill="%s" d="M4 7.99A7.2 7.2 0 0 1 12 7.99V11.4a.6 .6 0 0 1-.6 .6H4.6a.6 .6 0 0 1-.6-.6z"/>`,
	}
}

func circle(cx, cy, r float64) func(x, y float64) float64 {
	return func(x, y float64) float64 { return math.Hypot(x-cx, y-cy) - r }
}

func dot(paint *color.NRGBA, cx, cy, r float64) shape {
	return shape{paint, circle(cx, cy, r), fmt.Sprintf(`<circle cx="%g" cy="%g" r="%g" fill="%%s"/>`, cx, cy, r)}
}

// line is a stroke with round ends.
func line(paint *color.NRGBA, x0, y0, x1, y1, width float64) shape {
	return shape{
		paint, func(x, y float64) float64 {
			dx, dy := x1-x0, y1-y0
			t := math.Min(1, math.Max(0, ((x-x0)*dx+(y-y0)*dy)/(dx*dx+dy*dy)))
			return math.Hypot(x-x0-t*dx, y-y0-t*dy) - width/2
		},
		fmt.Sprintf(`<line x1="%g" y1="%g" x2="%g" y2="%g" stroke-width="%g" stroke-linecap="round" stroke="%%s"/>`, x0, y0, x1, y1, width),
	}
}

var pictures = []picture{
	{"none", []shape{frame(&grey)}},
	{"running", []shape{frame(&sand), dune(&sand)}},
	{"suspended", []shape{frame(&night), rect(&night, 5, 5, 7, 11, 0.4), rect(&night, 9, 5, 11, 11, 0.4)}},
	{"working", []shape{rect(&green, 1, 1, 15, 15, 3), line(nil, 4.75, 5.25, 7.25, 8, 1.7), line(nil, 7.25, 8, 4.75, 10.75, 1.7), line(nil, 8.75, 11, 11.25, 11, 1.7)}},
	{"attention", []shape{dot(&red, 8, 8, 7.25), rect(nil, 7, 3.5, 9, 9.5, 0.6), rect(nil, 7, 10.75, 9, 12.75, 0.6)}},
	{"lost", []shape{frame(&grey), line(nil, 2, 14, 14, 2, 4.4), line(&grey, 2.2, 13.8, 13.8, 2.2, 1.8)}},
}

// draw paints p at a size. black paints it as a stencil.
func (p picture) draw(size int, black bool) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	const fine = 8 // samples of a pixel, each way
	for y := range size {
		for x := range size {
			var r, g, b, covered float64
			for i := range fine * fine {
				sx, sy := float64(x)+(float64(i%fine)+0.5)/fine, float64(y)+(float64(i/fine)+0.5)/fine
				if c := p.at(sx*16/float64(size), sy*16/float64(size)); c != nil {
					r, g, b, covered = r+float64(c.R), g+float64(c.G), b+float64(c.B), covered+1
				}
			}
			if covered == 0 {
				continue
			}
			c := color.NRGBA{byte(r/covered + 0.5), byte(g/covered + 0.5), byte(b/covered + 0.5), byte(covered*255/(fine*fine) + 0.5)}
			if black {
				c.R, c.G, c.B = 0, 0, 0
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// at is the color of p at a point, nil for none.
func (p picture) at(x, y float64) (c *color.NRGBA) {
	for _, s := range p.shapes {
		if s.distance(x, y) < 0 {
			c = s.paint
		}
	}
	return c
}

// svg is p as text. What takes away is a mask over what stands below it.
func (p picture) svg() []byte {
	var body, mask strings.Builder
	group := ""
	for _, s := range p.shapes {
		if s.paint == nil {
			fmt.Fprintf(&mask, s.svg, "#000")
			continue
		}
		if mask.Len() > 0 && group == "" {
			group, body = body.String(), strings.Builder{}
		}
		fmt.Fprintf(&body, s.svg, fmt.Sprintf("#%02x%02x%02x", s.paint.R, s.paint.G, s.paint.B))
	}
	text := body.String()
	if mask.Len() > 0 {
		below, above := text, ""
		if group != "" {
			below, above = group, text
		}
		text = `<mask id="m"><rect width="16" height="16" fill="#fff"/>` + mask.String() + `</mask><g mask="url(#m)">` + below + `</g>` + above
	}
	return []byte(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">` + text + "</svg>\n")
}

// ico puts pictures of several sizes into one file, as bitmaps: not every part
// of Windows reads PNG in it.
func ico(images []*image.NRGBA) []byte {
	var out, data bytes.Buffer
	put := func(w *bytes.Buffer, values ...any) {
		for _, v := range values {
			binary.Write(w, binary.LittleEndian, v)
		}
	}
	put(&out, uint16(0), uint16(1), uint16(len(images)))
	for _, img := range images {
		n := img.Bounds().Dx()
		row := (n + 31) / 32 * 4 // of the mask, one bit a pixel
		size := 40 + 4*n*n + row*n
		put(&out, uint8(n), uint8(n), uint16(0), uint16(1), uint16(32), uint32(size), uint32(6+16*len(images)+data.Len()))
		put(&data, uint32(40), int32(n), int32(2*n), uint16(1), uint16(32), uint32(0), uint32(4*n*n), [4]uint32{})
		for y := n - 1; y >= 0; y-- {
			for x := range n {
				c := img.NRGBAAt(x, y)
				data.Write([]byte{c.B, c.G, c.R, c.A})
			}
		}
		data.Write(make([]byte, row*n)) // all of it shows: the alpha decides
	}
	return append(out.Bytes(), data.Bytes()...)
}

func main() {
	write := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o644); err != nil {
			log.Fatal(err)
		}
	}
	encode := func(img image.Image) []byte {
		var b bytes.Buffer
		if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, img); err != nil {
			log.Fatal(err)
		}
		return b.Bytes()
	}
	for _, p := range pictures {
		write(p.name+".svg", p.svg())
		for _, size := range []int{16, 22, 24, 32, 48, 64} {
			write(fmt.Sprintf("%s-%d.png", p.name, size), encode(p.draw(size, false)))
		}
		write(p.name+"-template.png", encode(p.draw(44, true)))
		var sizes []*image.NRGBA
		for _, size := range []int{16, 20, 24, 32, 48, 64} {
			sizes = append(sizes, p.draw(size, false))
		}
		write(p.name+".ico", ico(sizes))
	}
}
