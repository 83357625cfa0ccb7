package view

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// border puts objects at the edges and in the middle, as the one of the
// toolkit does, but has Tab go through them as they are read: the one of the
// toolkit begins in the middle. Those of the edges may be nil.
func border(top, bottom, left, right fyne.CanvasObject, middle ...fyne.CanvasObject) *fyne.Container {
	box := container.New(layout.NewBorderLayout(top, bottom, left, right))
	for _, o := range append(append([]fyne.CanvasObject{top, left}, middle...), right, bottom) {
		if o != nil {
			box.Objects = append(box.Objects, o)
		}
	}
	return box
}

// folded is more to fill in, that a button shows and hides again.
func folded(title string, content *fyne.Container, open bool) fyne.CanvasObject {
	var b *Button
	fold := func() {
		b.SetIcon(theme.MenuExpandIcon())
		if content.Visible() {
			b.SetIcon(theme.MenuDropDownIcon())
		}
	}
	b = NewButton(title, nil, func() {
		visible(content, !content.Visible())
		fold()
	})
	b.Alignment, b.Importance = widget.ButtonAlignLeading, widget.LowImportance
	content.Hidden = !open
	fold()
	return container.NewVBox(b, content)
}
