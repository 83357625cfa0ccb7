package icons_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"testing"

	"github.com/arenero/arenero/assets/icons"
	"github.com/arenero/arenero/ui"
)

func decode(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// luminance is how bright a color is, as WCAG has it.
func luminance(c color.Color) float64 {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	linear := func(b byte) float64 {
		v := float64(b) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n.R) + 0.7152*linear(n.G) + 0.0722*linear(n.B)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestLegible holds that every picture stands out from light and dark panels at
// every size, as much as graphics must, and that nothing of it is cut off.
func TestLegible(t *testing.T) {
	panels := map[string]color.Color{"light": color.White, "dark": color.Gray{0x1e}}
	for _, icon := range ui.Icons() {
		for _, size := range icons.Sizes() {
			img := decode(t, icons.PNG(string(icon), size))
			if b := img.Bounds(); b.Dx() != size || b.Dy() != size {
				t.Errorf("%s: %v, want %d", icon, b, size)
			}
			solid := 0
			for y := range size {
				for x := range size {
					c := img.At(x, y)
					if _, _, _, a := c.RGBA(); a < 0xe000 {
						continue
					}
					solid++
					for name, panel := range panels {
						if got := contrast(c, panel); got < 3 {
							t.Fatalf("%s at %d: %.2f to a %s panel at %d, %d", icon, size, got, name, x, y)
						}
					}
				}
			}
			if part := float64(solid) / float64(size*size); part < 0.1 {
				t.Errorf("%s at %d: no more than %.0f%% are solid", icon, size, 100*part)
			}
		}
	}
}

// TestStatesDiffer holds that no two states look alike, even without color.
func TestStatesDiffer(t *testing.T) {
	for i, a := range ui.Icons() {
		for _, b := range ui.Icons()[:i] {
			x, y := decode(t, icons.PNG(string(a), 16)), decode(t, icons.PNG(string(b), 16))
			differ := 0
			for p := range 16 * 16 {
				_, _, _, ax := x.At(p%16, p/16).RGBA()
				_, _, _, ay := y.At(p%16, p/16).RGBA()
				if max(ax, ay)-min(ax, ay) > 0x8000 {
					differ++
				}
			}
			if differ < 12 {
				t.Errorf("%s and %s differ in the shape of %d pixels of 256", a, b, differ)
			}
		}
	}
}

func TestTemplatesAndVectors(t *testing.T) {
	for _, icon := range ui.Icons() {
		img := decode(t, icons.Template(string(icon)))
		for p := range img.Bounds().Dx() * img.Bounds().Dy() {
			if r, g, b, _ := img.At(p%44, p/44).RGBA(); r+g+b != 0 {
				t.Fatalf("the template of %s has color", icon)
			}
		}
		dec := xml.NewDecoder(bytes.NewReader(icons.SVG(string(icon))))
		for n := 0; ; n++ {
			if _, err := dec.Token(); errors.Is(err, io.EOF) && n > 3 {
				break
			} else if err != nil {
				t.Fatalf("%s.svg: %v", icon, err)
			}
		}
	}
	if icons.PNG("none-such", 16) != nil {
		t.Error("a picture that there is not")
	}
}
