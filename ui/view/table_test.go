package view

import (
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

func someRows(from, to int) []Row {
	var rows []Row
	for i := from; i < to; i++ {
		rows = append(rows, Row{ID: fmt.Sprint("id-", i), Cells: []Cell{
			{Text: "awake", Icon: theme.MediaPlayIcon(), Color: theme.ColorNameSuccess},
			{Text: fmt.Sprint("a name that is long enough to be cut ", i), Bold: i == 3},
			{Bar: &Bar{Value: float64(i%10) / 10, Level: BarLevel(i % 3), Text: fmt.Sprint(i, " min")}},
			{Text: fmt.Sprintf("$%d.00", i)},
		}})
	}
	return rows
}

func someColumns() []Column {
	return []Column{
		{Title: "State", Width: 90, Sort: true},
		{Title: "Name", Width: 80, Grow: true, Sort: true},
		{Title: "Sleeps in", Width: 90},
		{Title: "Spend", Width: 60, Right: true, Sort: true},
	}
}

// tableIn shows a table with 1,000 rows in a window.
func tableIn(t testing.TB, size fyne.Size) (*Table, fyne.Window) {
	t.Helper()
	test.NewTempApp(t).Settings().SetTheme(NewTheme("light"))
	table := NewTable(Env{}, someColumns())
	w := test.NewTempWindow(t, table.Object())
	w.Resize(size)
	table.Show(someRows(0, 1000))
	return table, w
}

// snap writes a picture of w when the tests are asked for pictures.
func snap(t testing.TB, w fyne.Window, name string) {
	t.Helper()
	dir := os.Getenv("ARENERO_PICTURES")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, w.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}

func press(o fyne.Focusable, keys ...fyne.KeyName) {
	for _, k := range keys {
		o.TypedKey(&fyne.KeyEvent{Name: k})
	}
}

// firstSeen is the first row that is wholly seen.
func firstSeen(table *Table) string {
	i := int((table.scroll.Offset.Y + table.body.height - 1) / table.body.height)
	return table.rows[i].ID
}

func TestTableDrawsWhatIsSeen(t *testing.T) {
	table, w := tableIn(t, fyne.NewSize(500, 400))
	snap(t, w, "table")
	if n := len(table.body.lines); n == 0 || n > 20 {
		t.Errorf("%d rows have objects, want about a dozen", n)
	}
	table.scroll.ScrollToOffset(fyne.NewPos(0, 500*table.body.height))
	texts := textsOf(w)
	for _, want := range []string{"$500.00", "500 min", "$505.00"} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is not seen", want)
		}
	}
	if slices.Contains(texts, "$0.00") {
		t.Error("the first row is still seen")
	}
	if n := len(table.body.lines); n > 20 {
		t.Errorf("%d rows have objects after a scroll", n)
	}
	if !slices.ContainsFunc(texts, func(s string) bool { return strings.HasSuffix(s, "…") }) {
		w.Resize(fyne.NewSize(350, 400))
		if !slices.ContainsFunc(textsOf(w), func(s string) bool { return strings.HasSuffix(s, "…") }) {
			t.Error("no name is cut in a narrow window")
		}
	}
	snap(t, w, "table-narrow")
}

func TestTableKeys(t *testing.T) {
	table, w := tableIn(t, fyne.NewSize(500, 400))
	var selected, opened string
	table.OnSelect = func(id string) { selected = id }
	table.OnOpen = func(id string) { opened = id }
	table.OnMenu = func(id string) *fyne.Menu { return fyne.NewMenu("", fyne.NewMenuItem("menu of "+id, func() {})) }
	table.Focus()
	if w.Canvas().Focused() != fyne.Focusable(table.body) {
		t.Fatal("the rows have not the focus")
	}
	for _, step := range []struct {
		keys []fyne.KeyName
		want string
	}{
		{[]fyne.KeyName{fyne.KeyDown}, "id-0"},
		{[]fyne.KeyName{fyne.KeyDown, fyne.KeyDown, fyne.KeyUp}, "id-1"},
		{[]fyne.KeyName{fyne.KeyEnd}, "id-999"},
		{[]fyne.KeyName{fyne.KeyDown}, "id-999"},
		{[]fyne.KeyName{fyne.KeyHome}, "id-0"},
		{[]fyne.KeyName{fyne.KeyUp}, "id-0"},
	} {
		press(table.body, step.keys...)
		if selected != step.want || table.Selected() != step.want {
			t.Errorf("after %v %s is selected, want %s", step.keys, selected, step.want)
		}
	}
	press(table.body, fyne.KeyPageDown)
	if table.at < 5 || table.at > 15 || !table.selectedSeen() {
		t.Errorf("a page down led to row %d", table.at)
	}
	snap(t, w, "table-focus")
	press(table.body, fyne.KeyPageUp, fyne.KeyReturn)
	if opened != "id-0" {
		t.Errorf("Enter opened %q", opened)
	}
	press(table.body, desktop.KeyMenu)
	if w.Canvas().Overlays().Top() == nil {
		t.Error("the menu key shows no menu")
	}
}

func TestTableMouse(t *testing.T) {
	table, w := tableIn(t, fyne.NewSize(500, 400))
	var selected, opened string
	table.OnSelect = func(id string) { selected = id }
	table.OnOpen = func(id string) { opened = id }
	table.OnMenu = func(string) *fyne.Menu { return fyne.NewMenu("", fyne.NewMenuItem("x", func() {})) }
	at := fyne.NewPos(20, 2.5*table.body.height)
	table.body.MouseDown(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: at}})
	if selected != "id-2" || w.Canvas().Focused() == nil {
		t.Errorf("a press selected %q", selected)
	}
	test.DoubleTap(table.body)
	if opened != "id-0" {
		t.Errorf("a double click opened %q", opened)
	}
	test.TapSecondaryAt(table.body, at)
	if selected != "id-2" || w.Canvas().Overlays().Top() == nil {
		t.Errorf("the other button shows no menu of %q", selected)
	}
}

func TestTableSort(t *testing.T) {
	table, w := tableIn(t, fyne.NewSize(500, 400))
	type order struct {
		column     int
		descending bool
	}
	var got []order
	table.OnSort = func(column int, descending bool) {
		got = append(got, order{column, descending})
		table.Sorted(column, descending)
	}
	test.TapAt(table.head, fyne.NewPos(20, 10))
	test.TapAt(table.head, fyne.NewPos(20, 10))
	w.Canvas().Focus(table.head)
	press(table.head, fyne.KeyRight, fyne.KeyRight, fyne.KeySpace) // past the one that does not sort
	snap(t, w, "table-head")
	if want := []order{{0, false}, {0, true}, {3, false}}; !slices.Equal(got, want) {
		t.Errorf("sorted by %v, want %v", got, want)
	}
	test.TapAt(table.head, fyne.NewPos(340, 10))
	if len(got) != 3 {
		t.Error("a column sorts that does not")
	}
}

func TestTableKeepsItsPlace(t *testing.T) {
	table, _ := tableIn(t, fyne.NewSize(500, 400))
	table.Select("id-100")
	table.scroll.ScrollToOffset(fyne.NewPos(0, 300*table.body.height+3))
	table.Show(someRows(50, 1000))
	if got := firstSeen(table); got != "id-301" {
		t.Errorf("after rows above have gone, %s is the first", got)
	}
	if table.Selected() != "id-100" || table.at != 50 {
		t.Errorf("selected is %s at %d", table.Selected(), table.at)
	}
	table.Select("id-400") // and then that is what stays in its place
	y := float32(table.at)*table.body.height - table.scroll.Offset.Y
	table.Show(someRows(0, 1000))
	if got := float32(table.at)*table.body.height - table.scroll.Offset.Y; got < y-1 || got > y+1 {
		t.Errorf("the selected row moved from %v to %v", y, got)
	}
	table.Show(someRows(0, 10))
	if table.scroll.Offset.Y > 10*table.body.height {
		t.Errorf("scrolled to %v of 10 rows", table.scroll.Offset.Y)
	}
	press(table.body, fyne.KeyDown)
	if table.Selected() != "id-9" {
		t.Errorf("the last row is to be selected when the selected one has gone, not %s", table.Selected())
	}
}

// A tick that changes no text draws nothing.
func TestTableDrawsNothingTwice(t *testing.T) {
	table, _ := tableIn(t, fyne.NewSize(500, 400))
	was := table.body.lines[0].cells[1].text.Text
	table.body.lines[0].cells[1].text.Text = "as it was"
	table.Show(someRows(0, 1000))
	if got := table.body.lines[0].cells[1].text.Text; got != "as it was" {
		t.Errorf("a cell was drawn again, as %q", got)
	}
	rows := someRows(0, 1000)
	rows[0].Cells[1].Text = "another"
	table.Show(rows)
	if got := table.body.lines[0].cells[1].text.Text; got == "as it was" || got == was {
		t.Errorf("a cell that changed is still %q", got)
	}
}

func TestTableNarrow(t *testing.T) {
	table, w := tableIn(t, fyne.NewSize(200, 300))
	if got := table.body.Size().Width; got < table.least() {
		t.Errorf("the rows are %v wide, less than %v", got, table.least())
	}
	press(table.body, fyne.KeyRight, fyne.KeyRight)
	if table.head.offset == 0 || table.head.offset != table.scroll.Offset.X {
		t.Errorf("the titles are at %v and the rows at %v", table.head.offset, table.scroll.Offset.X)
	}
	snap(t, w, "table-200")
}

// TestTableClicksBeyondIt clicks below a table, where rows would be if it were
// higher.
func TestTableClicksBeyondIt(t *testing.T) {
	table, w := tableIn(t, fyne.NewSize(960, 300))
	table.Show(someRows(0, 100))
	below := widget.NewLabel("below")
	rows := container.NewGridWithRows(2, table.Object(), below)
	w.SetContent(rows)
	w.Resize(fyne.NewSize(960, 300))
	chosen := ""
	table.OnSelect = func(id string) { chosen = id }
	test.TapCanvas(w.Canvas(), fyne.NewPos(100, 220))
	if chosen != "" {
		t.Errorf("a click below the table selects %s, which is scrolled out of sight", chosen)
	}
	test.TapCanvas(w.Canvas(), fyne.NewPos(100, 100))
	if chosen == "" {
		t.Error("a click at a row does not select it")
	}
}

func TestTableWheel(t *testing.T) {
	table, _ := tableIn(t, fyne.NewSize(960, 300))
	table.Show(someRows(0, 100))
	notch := 3 * table.body.height
	if runtime.GOOS == "darwin" {
		notch = wheelNotch // the system says how far its wheels go
	}
	turn := func(by float32) float32 {
		was := table.scroll.Offset.Y
		table.scroll.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -by)})
		return table.scroll.Offset.Y - was
	}
	if got, want := turn(wheelNotch), notch; got != want {
		t.Errorf("a notch moves the rows by %v, want %v", got, want)
	}
	if got, want := turn(2*wheelNotch), 2*notch; got != want {
		t.Errorf("two notches move the rows by %v, want %v", got, want)
	}
	if got := turn(7); got != 7 {
		t.Errorf("a finger that moves by 7 moves the rows by %v", got)
	}
	if turn(-1e6); table.scroll.Offset.Y != 0 {
		t.Errorf("the rows are at %v, above the first", table.scroll.Offset.Y)
	}
	if table.body.lines[0].cells[1].text.Text == "" {
		t.Error("nothing is drawn")
	}
}

// textsOf is all text that is seen.
func textsOf(w fyne.Window) (out []string) {
	for _, o := range test.LaidOutObjects(w.Content()) {
		if text, ok := o.(*canvas.Text); ok && text.Text != "" {
			out = append(out, text.Text)
		}
	}
	return out
}

// BenchmarkTable is from a snapshot of 1,000 rows that are all new to a list
// that is drawn.
func BenchmarkTable(b *testing.B) {
	table, w := tableIn(b, fyne.NewSize(960, 640))
	all := [][]Row{someRows(0, 1000), someRows(500, 1500)}
	for i := 0; b.Loop(); i++ {
		table.Show(all[i%2])
		w.Canvas().Capture()
	}
}

// BenchmarkTableScroll is a step of the wheel and the picture after it.
func BenchmarkTableScroll(b *testing.B) {
	table, w := tableIn(b, fyne.NewSize(960, 640))
	for i := 0; b.Loop(); i++ {
		table.scroll.ScrollToOffset(fyne.NewPos(0, float32(i*40%20000)))
		w.Canvas().Capture()
	}
}
