package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/arenero/arenero/app/control"
)

type ledgerCommand struct {
	Check  ledgerCheckCommand  `cmd:""`
	Export ledgerExportCommand `cmd:""`
	Clock  ledgerClockCommand  `cmd:""`
}

type ledgerCheckCommand struct{ asJSON }

// Run is "arenero ledger check".
func (c *ledgerCheckCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		found, err := client.CheckLedger(ctx)
		if err != nil {
			return err
		}
		switch {
		case c.JSON:
			err = writeJSON(os.Stdout, found)
		case len(found) == 0:
			_, err = fmt.Println(say("cli.ledger.clean"))
		default:
			rows := [][]string{strings.Split(say("cli.ledger.columns"), "|")}
			for _, v := range found {
				rows = append(rows, []string{v.Rule, v.Subject, v.Text})
			}
			if err = writeTable(os.Stdout, rows); err == nil {
				fmt.Fprintln(os.Stderr, say("cli.ledger.wrong"))
			}
		}
		if err == nil && len(found) > 0 {
			err = &exitError{exitFailed}
		}
		return err
	})
}

type ledgerExportCommand struct {
	asJSON
	Format string `enum:"auto,csv,json" default:"auto" placeholder:"FORMAT"`
	File   string `arg:"" optional:"" complete:"file"`
	Force  bool
}

// format is that which was asked for, else what the name of the file says.
func (c *ledgerExportCommand) format() string {
	switch {
	case c.Format != "auto":
		return c.Format
	case strings.EqualFold(filepath.Ext(c.File), ".json"):
		return "json"
	}
	return "csv"
}

// Run is "arenero ledger export".
func (c *ledgerExportCommand) Run() error {
	format := c.format()
	return withMoney(func(ctx context.Context, client *control.Client) error {
		export := func(to io.Writer) error {
			return client.ExportLedger(ctx, format, func(part []byte) error {
				_, err := to.Write(part)
				return err
			})
		}
		if c.File == "" || c.File == "-" {
			return export(os.Stdout)
		}
		if err := c.write(export); err != nil {
			return err
		}
		path, err := filepath.Abs(c.File)
		if err != nil {
			path = c.File
		}
		if c.JSON {
			return writeJSON(os.Stdout, map[string]any{"file": path, "format": format})
		}
		_, err = fmt.Println(say("cli.ledger.exported", "file", printable(path)))
		return err
	})
}

// write makes the file, whole or not at all. Only its owner may read it: it has
// the names of what they work on.
func (c *ledgerExportCommand) write(export func(io.Writer) error) (err error) {
	if !c.Force {
		f, err := os.OpenFile(c.File, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return failure("cli.ledger.exists", "file", printable(c.File))
		}
		if err != nil {
			return err
		}
		return fill(f, export)
	}
	f, err := os.CreateTemp(filepath.Dir(c.File), "."+filepath.Base(c.File)+".*")
	if err != nil {
		return err
	}
	if err := fill(f, export); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), c.File); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// fill writes a new file, and takes it away again if that fails.
func fill(f *os.File, export func(io.Writer) error) error {
	err := export(f)
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

type ledgerClockCommand struct {
	asJSON
	Yes bool `short:"y"`
}

// Run is "arenero ledger clock".
func (c *ledgerClockCommand) Run() error {
	return withMoney(func(ctx context.Context, client *control.Client) error {
		if err := agree(ctx, c.Yes, "cli.ledger.clock.ask", "now", time.Now().Format("2006-01-02 15:04:05 -07:00")); err != nil {
			return err
		}
		if err := client.ConfirmClock(ctx); err != nil {
			return err
		}
		if c.JSON {
			return writeJSON(os.Stdout, map[string]any{"confirmed": true})
		}
		_, err := fmt.Println(say("cli.ledger.clock.done"))
		return err
	})
}
