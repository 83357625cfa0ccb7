package view

import (
	"path"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/arenero/arenero/app/sandbox"
	"github.com/arenero/arenero/ui"
)

// What there is to say of the files of a sandbox, in place of them.
const (
	FilesAsleep  = "asleep"  // and nobody has said that it may be woken
	FilesWaking  = "waking"  // somebody has
	FilesAway    = "away"    // it can't be asked: it starts, or has ended, or is others'
	FilesLoading = "loading" // they have been asked for
	FilesAsk     = "ask"     // it is awake, and to look would keep it so: nobody has said that they want that
	FilesListed  = ""
)

// A FilesShown is what a browser of files shows.
type FilesShown struct {
	State string
	Dir   string
	Files []sandbox.File
	By    ui.FileColumn
	Down  bool   // descending
	Note  string // about the looking itself
}

// A FilesView browses the files of a sandbox.
type FilesView struct {
	OnWake   func()
	OnOpen   func() // look at the files though it counts as use
	OnGo     func(dir string)
	OnAgain  func()
	OnSort   func(by ui.FileColumn, descending bool)
	OnPut    func()                  // bring in a file of this computer
	OnGet    func(file sandbox.File) // save one on this computer
	OnMake   func(path string)
	OnMove   func(from, to string)
	OnRemove func(file sandbox.File)
	OnCancel func() // what is being copied

	env   Env
	shown FilesShown
	index map[string]sandbox.File

	object *fyne.Container
	banner *localBanner
	state  *fyne.Container
	told   string // of state
	note   *widget.Label
	whole  *fyne.Container
	way    *fyne.Container
	wayOf  string
	table  *Table
	put, get, fresh, rename, remove,
	again *Button
	progress *fyne.Container
	bar      *BarWidget
}

// up is the row that leads to the folder above.
const up = ".."

func newFilesView(env Env) *FilesView {
	v := &FilesView{env: env, banner: newLocalBanner(), bar: NewBar(), shown: FilesShown{State: FilesLoading}}
	v.table = NewTable(env, []Column{
		{Title: v.say("name"), Width: 120, Grow: true, Sort: true},
		{Title: v.say("size"), Width: 84, Right: true, Sort: true},
		{Title: v.say("modified"), Width: 136, Sort: true, From: 420},
	})
	v.table.OnSelect = func(string) { v.enable() }
	v.table.OnOpen = v.open
	v.table.OnSort = func(column int, descending bool) {
		if v.OnSort != nil {
			v.OnSort(ui.FileColumn(column), descending)
		}
	}
	v.table.OnMenu = v.menu
	v.put = NewButton(v.say("put"), theme.UploadIcon(), func() { call0(v.OnPut) })
	v.get = NewButton(v.say("get"), theme.DownloadIcon(), v.save)
	v.fresh = NewButton(v.say("folder"), theme.FolderNewIcon(), v.makeDir)
	v.rename = NewButton(v.say("rename"), theme.DocumentCreateIcon(), v.move)
	v.remove = NewButton(v.say("remove"), theme.DeleteIcon(), v.confirmRemove)
	v.again = NewButton("", theme.ViewRefreshIcon(), func() { call0(v.OnAgain) })
	v.way = container.New(flow{})
	cancel := NewButton(env.Texts.Get("window.cancel"), nil, func() { call0(v.OnCancel) })
	v.progress = border(nil, nil, nil, cancel, v.bar)
	v.progress.Hide()
	v.state = container.NewStack()
	tools := container.New(&toolRow{}, v.put, v.get, v.fresh, v.rename, v.remove, v.again)
	v.note = Muted("")
	v.note.SizeName = theme.SizeNameCaptionText
	v.note.Hide()
	v.whole = border(container.NewVBox(v.way, tools, v.note), v.progress, nil, nil, v.table.Object())
	v.object = border(v.banner.Object(), nil, nil, nil, container.NewStack(v.state, v.whole))
	v.banner.around = v.object
	v.Show(FilesShown{State: FilesLoading, Dir: ui.HomePath}, time.Time{})
	return v
}

func (v *FilesView) say(key string, args ...string) string {
	return v.env.Texts.Get("sandboxes.files."+key, args...)
}

// Banner is the line for what went wrong.
func (v *FilesView) Banner() LocalBanner { return v.banner }

// Show draws a folder.
func (v *FilesView) Show(s FilesShown, now time.Time) {
	v.shown = s
	visible(v.whole, s.State == FilesListed)
	visible(v.state, s.State != FilesListed)
	if s.State != FilesListed {
		v.tell(s.State)
		return
	}
	v.index = map[string]sandbox.File{}
	var rows []Row
	if path.Clean("/"+s.Dir) != "/" {
		rows = append(rows, Row{ID: up, Cells: []Cell{{Text: up, Icon: theme.MoveUpIcon()}}})
	}
	for _, f := range s.Files {
		v.index[f.Path] = f
		texts := ui.FileCells(v.env.Texts, f, now)
		rows = append(rows, Row{ID: f.Path, Cells: []Cell{{Text: texts[0], Icon: fileIcon(f)}, {Text: texts[1]}, {Text: texts[2], Color: ColorMuted}}})
	}
	v.table.Sorted(int(s.By), s.Down)
	if v.wayOf != s.Dir || len(v.way.Objects) == 0 {
		v.wayOf = s.Dir
		v.way.Objects = nil
		for _, c := range ui.Crumbs(s.Dir) {
			b := NewButton(c.Label, nil, func() { v.goTo(c.Path) })
			b.Importance = widget.LowImportance
			v.way.Add(b)
		}
		v.table.Select("")
	}
	v.table.Show(rows)
	v.enable()
	if s.Note != v.note.Text {
		set(v.note, s.Note)
		visible(v.note, s.Note != "")
		v.whole.Refresh()
	}
}

// tell says why there are no files to see.
func (v *FilesView) tell(state string) {
	if v.told == state {
		return
	}
	v.told = state
	var o fyne.CanvasObject
	switch state {
	case FilesAsleep:
		o = EmptyState(theme.MediaPauseIcon(), v.say("asleep"), v.say("asleep.text"), Action{Label: v.say("wake"), Do: func() { call0(v.OnWake) }, Primary: true})
	case FilesAsk:
		o = EmptyState(theme.FolderIcon(), v.say("ask"), v.say("ask.text"), Action{Label: v.say("ask.do"), Do: func() { call0(v.OnOpen) }, Primary: true})
	case FilesWaking:
		o = EmptyState(nil, v.say("waking"), "")
	case FilesAway:
		o = EmptyState(nil, v.say("away"), "")
	default:
		o = EmptyState(nil, v.say("loading"), "")
	}
	v.state.Objects = []fyne.CanvasObject{o}
	v.state.Refresh()
}

func fileIcon(f sandbox.File) fyne.Resource {
	switch f.Type {
	case sandbox.TypeDir:
		return theme.FolderIcon()
	case sandbox.TypeSymlink:
		return theme.MailForwardIcon()
	}
	return theme.FileIcon()
}

// chosen is the file that is selected.
func (v *FilesView) chosen() (sandbox.File, bool) {
	f, ok := v.index[v.table.Selected()]
	return f, ok
}

func (v *FilesView) enable() {
	f, ok := v.chosen()
	enabled(v.get, ok && f.Type == sandbox.TypeFile)
	enabled(v.rename, ok)
	enabled(v.remove, ok)
}

func (v *FilesView) goTo(dir string) {
	if v.OnGo != nil {
		v.OnGo(dir)
	}
}

// open goes into a folder, and saves a file.
func (v *FilesView) open(id string) {
	if id == up {
		v.goTo(path.Dir(path.Clean("/" + v.shown.Dir)))
		return
	}
	f := v.index[id]
	switch f.Type {
	case sandbox.TypeDir:
		v.goTo(f.Path)
	case sandbox.TypeSymlink: // that of a file can't be gone into, and says so
		target := f.Target
		if !path.IsAbs(target) {
			target = path.Join(path.Dir(f.Path), target)
		}
		v.goTo(target)
	case sandbox.TypeFile:
		v.save()
	}
}

func (v *FilesView) menu(id string) *fyne.Menu {
	f, ok := v.index[id]
	if !ok {
		return nil
	}
	v.enable()
	items := []*fyne.MenuItem{fyne.NewMenuItem(v.say("get"), v.save), fyne.NewMenuItem(v.say("rename"), v.move), fyne.NewMenuItem(v.say("remove"), v.confirmRemove)}
	items[0].Disabled = f.Type != sandbox.TypeFile
	if f.Type == sandbox.TypeDir {
		items[0] = fyne.NewMenuItem(v.say("open"), func() { v.open(id) })
	}
	return fyne.NewMenu("", items...)
}

// save has the file that is selected be saved.
func (v *FilesView) save() {
	if f, ok := v.chosen(); ok && f.Type == sandbox.TypeFile && v.OnGet != nil {
		v.OnGet(f)
	}
}

func (v *FilesView) makeDir() {
	v.ask(v.say("folder.title"), v.say("folder.do"), "", func(p string) {
		if v.OnMake != nil {
			v.OnMake(p)
		}
	})
}

func (v *FilesView) move() {
	f, ok := v.chosen()
	if !ok {
		return
	}
	v.ask(v.say("rename.title", "name", ui.Visible(f.Name)), v.say("rename.do"), f.Name, func(p string) {
		if v.OnMove != nil && p != f.Path {
			v.OnMove(f.Path, p)
		}
	})
}

// ask has the user type a name in the folder that is shown.
func (v *FilesView) ask(title, verb, name string, do func(path string)) {
	f := newForm(v.env)
	row := f.text(f.box, "name", v.say("name"), "", name, false)
	dir := v.shown.Dir
	t := newTask(v.env, title, verb, false, f.box, func(done func(string)) {
		p, err := ui.FileIn(dir, row.value())
		if err != nil {
			f.problems(map[string]string{"name": v.env.Texts.Get(err.Error())}, true)
			done(stay)
			return
		}
		done("")
		do(p)
	}, nil)
	row.enter = func() { t.ok.OnTapped() }
	f.begin()
}

func (v *FilesView) confirmRemove() {
	f, ok := v.chosen()
	if !ok {
		return
	}
	text := v.say("remove.text")
	if f.Type == sandbox.TypeDir {
		text = v.say("remove.folder")
	}
	Confirm(v.env, v.say("remove.title", "name", ui.Visible(f.Name)), text, v.say("remove"), true, func() {
		if v.OnRemove != nil {
			v.OnRemove(f)
		}
	})
}

// Progress shows how far a copy is; "" is that there is none.
func (v *FilesView) Progress(text string, part float64) {
	if visible(v.progress, text != "") {
		v.whole.Refresh()
	}
	if text != "" {
		v.bar.Set(Bar{Value: part, Text: text})
	}
}

// A toolRow is a row of buttons, which show their pictures alone where there is
// no room for their labels.
type toolRow struct {
	labels []string
	short  bool
}

func (l *toolRow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(0, 0)
	for _, o := range objects {
		size.Height = max(size.Height, o.MinSize().Height)
		size.Width += size.Height + theme.Padding() // of a picture
	}
	return size
}

// wide is the width of the row with its labels.
func (l *toolRow) wide(objects []fyne.CanvasObject) (width float32) {
	th := fyne.CurrentApp().Settings().Theme()
	for i, o := range objects {
		width += o.MinSize().Width + theme.Padding()
		if b, ok := o.(*Button); ok && l.short && l.labels[i] != "" {
			width += fyne.MeasureText(l.labels[i], th.Size(theme.SizeNameText), fyne.TextStyle{Bold: true}).Width + b.Theme().Size(theme.SizeNamePadding)*2
		}
	}
	return width
}

func (l *toolRow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if l.labels == nil {
		for _, o := range objects {
			b, _ := o.(*Button)
			l.labels = append(l.labels, b.Text)
		}
	}
	if short := l.wide(objects) > size.Width; short != l.short {
		l.short = short
		for i, o := range objects {
			b, _ := o.(*Button)
			if b.Text = l.labels[i]; short {
				b.Text = ""
			}
			b.Refresh()
		}
	}
	x := float32(0)
	for _, o := range objects {
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(o.MinSize().Width, size.Height))
		x += o.MinSize().Width + theme.Padding()
	}
}
