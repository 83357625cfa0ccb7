// Picture runs a command in a terminal and draws what is on the screen in the
// end as SVG. "make demo-picture" makes the README's picture of the demo of it.
//
//	picture -o FILE.svg TITLE COMMAND [ARGUMENT...]
//
// The title is what the picture shows as typed. Of all that terminals can do it
// knows lines and colours; anything else is an error, so that no
// picture shows what a terminal would not.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"github.com/creack/pty"
)

const columns, rows = 100, 40

func main() {
	out := flag.String("o", "", "the file to write")
	flag.Parse()
	if *out == "" || flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: picture -o FILE.svg TITLE COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	if err := run(*out, flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(file, title string, argv []string) error {
	text, err := record(argv)
	if err != nil {
		return err
	}
	lines, err := parse(text)
	if err != nil {
		return err
	}
	return os.WriteFile(file, draw(title, lines), 0o644)
}

// record returns all that a command says to its terminal, which is passed on
// too.
func record(argv []string) ([]byte, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: columns, Rows: rows})
	if err != nil {
		return nil, err
	}
	defer tty.Close()
	var said bytes.Buffer
	// Linux says EIO once nobody has the other end open.
	if _, err := io.Copy(io.MultiWriter(&said, os.Stdout), tty); err != nil && !errors.Is(err, syscall.EIO) {
		return nil, err
	}
	return said.Bytes(), cmd.Wait()
}
