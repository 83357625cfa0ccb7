// Package screen is a desktop that nobody sits at: an X server without a
// monitor, with a program that looks after its windows. It gives programs keys
// and clicks, takes pictures of what they draw, and reads the words on them.
package screen

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Screen is a running one.
type Screen struct {
	display string
	size    image.Point
	dir     string
	server  *exec.Cmd
	keeper  *exec.Cmd
}

// programs are those that a screen needs, each with the package of Debian that
// has it.
var programs = [][2]string{{"Xvfb", "xvfb"}, {"openbox", "openbox"}, {"xdotool", "xdotool"}}

// Open starts a screen of a size in pixels, on a display that is free.
func Open(width, height int) (s *Screen, err error) {
	for _, p := range programs {
		if _, err := exec.LookPath(p[0]); err != nil {
			return nil, fmt.Errorf("%s is missing: install the package %s, or run \"make setup\"", p[0], p[1])
		}
	}
	dir, err := os.MkdirTemp("", "screen-")
	if err != nil {
		return nil, err
	}
	s = &Screen{dir: dir, size: image.Pt(width, height)}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s.server = exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", fmt.Sprintf("%dx%dx24", width, height), "-fbdir", dir, "-nolisten", "tcp", "-noreset")
	s.server.ExtraFiles = []*os.File{w}
	err = s.server.Start()
	w.Close()
	if err != nil {
		s.server = nil
		return nil, fmt.Errorf("start the X server: %w", err)
	}
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("the X server did not start: %w", err)
	}
	s.display = ":" + strings.TrimSpace(number)
	config := filepath.Join(dir, "openbox.xml")
	if err := os.WriteFile(config, []byte(openboxConfig), 0o600); err != nil {
		return nil, err
	}
	s.keeper = exec.Command("openbox", "--sm-disable", "--config-file", config)
	s.keeper.Env = append(os.Environ(), s.Env()...)
	if err := s.keeper.Start(); err != nil {
		s.keeper = nil
		return nil, fmt.Errorf("start the window manager: %w", err)
	}
	return s, nil
}

const closeKeys = "alt+F4"

// openboxConfig has windows without frames, in a corner, for pictures to be of
// the same place each time.
const openboxConfig = `<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<focus><focusNew>yes</focusNew><followMouse>no</followMouse></focus>
<keyboard><keybind key="A-F4"><action name="Close"/></keybind></keyboard>
<theme><keepBorder>no</keepBorder></theme>
<placement><policy>Smart</policy></placement>
<applications><application class="*"><decor>no</decor><position force="yes"><x>0</x><y>0</y></position><focus>yes</focus></application></applications>
</openbox_config>
`

// Env leads programs to the screen.
func (s *Screen) Env() []string {
	return []string{"DISPLAY=" + s.display, "WAYLAND_DISPLAY=", "XDG_SESSION_TYPE=x11", "LIBGL_ALWAYS_SOFTWARE=1"}
}

// Close ends the screen. Programs on it end too, or see that it has gone.
func (s *Screen) Close() error {
	for _, cmd := range []*exec.Cmd{s.keeper, s.server} {
		if cmd != nil {
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
		}
	}
	return os.RemoveAll(s.dir)
}

// do runs xdotool.
func (s *Screen) do(args ...string) (string, error) {
	cmd := exec.Command("xdotool", args...)
	cmd.Env = append(os.Environ(), s.Env()...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("xdotool %s: %w %s", strings.Join(args, " "), err, said.String())
	}
	return string(out), nil
}

// Keys presses keys by the names that X has for them, one after the other.
func (s *Screen) Keys(keys ...string) error {
	// A moment between them, as a person has: some toolkits drop faster ones.
	_, err := s.do(append([]string{"key", "--delay", "40"}, keys...)...)
	return err
}

// Type types a text.
func (s *Screen) Type(text string) error {
	_, err := s.do("type", "--delay", "40", text)
	return err
}

// Click clicks at a place.
func (s *Screen) Click(at image.Point) error {
	_, err := s.do("mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "click", "1")
	return err
}

// Rest puts the pointer into the last corner, where it is in few pictures.
func (s *Screen) Rest() error {
	_, err := s.do("mousemove", strconv.Itoa(s.size.X-1), strconv.Itoa(s.size.Y-1))
	return err
}

// Scroll turns the wheel at a place, down or up by so many steps.
func (s *Screen) Scroll(at image.Point, steps int) error {
	button := "5"
	if steps < 0 {
		button, steps = "4", -steps
	}
	_, err := s.do("mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "click", "--repeat", strconv.Itoa(steps), "--delay", "16", button)
	return err
}

// A Window is one that is on the screen.
type Window struct {
	ID    string
	Title string
	At    image.Rectangle
}

// Windows are those that a process shows.
func (s *Screen) Windows(pid int) ([]Window, error) {
	out, err := s.do("search", "--onlyvisible", "--pid", strconv.Itoa(pid))
	if err != nil {
		if e, ok := errors.AsType[*exec.ExitError](err); ok && e.ExitCode() == 1 {
			return nil, nil
		}
		return nil, err
	}
	var all []Window
	for _, id := range strings.Fields(out) {
		w := Window{ID: id}
		text, err := s.do("getwindowgeometry", "--shell", id, "getwindowname", id)
		if err != nil {
			continue // it has gone
		}
		var x, y, width, height int
		for line := range strings.Lines(text) {
			key, value, ok := strings.Cut(strings.TrimSpace(line), "=")
			n, err := strconv.Atoi(value)
			switch {
			case !ok || err != nil:
				w.Title = strings.TrimSpace(line)
			case key == "X":
				x = n
			case key == "Y":
				y = n
			case key == "WIDTH":
				width = n
			case key == "HEIGHT":
				height = n
			}
		}
		w.At = image.Rect(x, y, x+width, y+height)
		all = append(all, w)
	}
	return all, nil
}

// CloseWindow asks the window that has the keys to close, as a button of its
// frame would.
func (s *Screen) CloseWindow() error { return s.Keys(closeKeys) }

// Still waits until nothing has changed for a while, at most as long as limit,
// and returns the last picture.
func (s *Screen) Still(quiet, limit time.Duration) (*image.RGBA, error) {
	return s.Calm(0, quiet, limit)
}

// Calm is Still, though a few pixels may change, as those do that count seconds.
func (s *Screen) Calm(few int, quiet, limit time.Duration) (*image.RGBA, error) {
	var last *image.RGBA
	var since time.Time
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		now, err := s.Picture()
		if err != nil {
			return nil, err
		}
		if last == nil || Differ(last, now) > few {
			last, since = now, time.Now()
		}
		if time.Since(since) > quiet || time.Since(begin) > limit {
			return now, nil
		}
	}
}
