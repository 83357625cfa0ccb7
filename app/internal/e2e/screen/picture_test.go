package screen_test

import (
	"image"
	"image/color"
	"image/draw"
	"testing"

	"github.com/arenero/arenero/app/internal/e2e/screen"
)

func TestDifferAndCut(t *testing.T) {
	p := image.NewRGBA(image.Rect(0, 0, 10, 10))
	q := image.NewRGBA(p.Bounds())
	draw.Draw(q, image.Rect(2, 2, 5, 4), image.NewUniform(color.White), image.Point{}, draw.Src)
	if n := screen.Differ(p, q); n != 6 {
		t.Errorf("%d pixels differ, want 6", n)
	}
	if c := screen.Cut(q, image.Rect(2, 2, 5, 40)); c.Bounds() != image.Rect(0, 0, 3, 8) || screen.Differ(c, screen.Cut(p, image.Rect(2, 2, 5, 40))) != 6 {
		t.Errorf("the part is %v", c.Bounds())
	}
}
