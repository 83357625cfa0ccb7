package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// maxSecret is the most bytes of a key or a passphrase.
const maxSecret = 64 << 10

// An asker gets what a verb needs from a person, or from whatever stands for one
// at standard input.
type asker struct {
	ctx      context.Context
	terminal bool
	in       *bufio.Reader
}

func newAsker(ctx context.Context) *asker {
	return &asker{ctx, term.IsTerminal(int(os.Stdin.Fd())), bufio.NewReader(os.Stdin)}
}

// line asks for a line. Without a terminal it is the next one of standard input.
func (a *asker) line(question string) (string, error) {
	return a.read(a.ctx, question, func() (string, error) {
		text, err := a.in.ReadString('\n')
		if err == io.EOF && text != "" {
			err = nil
		}
		return strings.TrimRight(text, "\r\n"), err
	})
}

// secret is line, of what shows nowhere. However this program is told to end, the
// terminal shows again what is typed into it.
func (a *asker) secret(question string) (string, error) {
	if !a.terminal {
		return a.line("")
	}
	fd := int(os.Stdin.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, before)
	ctx, stop := signal.NotifyContext(a.ctx, syscall.SIGHUP, syscall.SIGQUIT) // the others end a.ctx
	defer stop()
	text, err := a.read(ctx, question, func() (string, error) {
		b, err := term.ReadPassword(fd)
		return string(b), err
	})
	fmt.Fprintln(os.Stderr)
	return text, err
}

func (a *asker) read(ctx context.Context, question string, read func() (string, error)) (string, error) {
	if a.terminal {
		fmt.Fprint(os.Stderr, question+" ")
	}
	type said struct {
		text string
		err  error
	}
	got := make(chan said, 1)
	go func() {
		text, err := read()
		got <- said{text, err}
	}()
	select {
	case s := <-got:
		if s.err == io.EOF {
			s.err = errors.New(say("profiles.ask.ended"))
		}
		return s.text, s.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// file reads a secret from a file; "-" is standard input.
func (a *asker) file(path string) (string, error) {
	var from io.Reader = a.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxSecret+1))
	if err == nil && len(text) > maxSecret {
		err = errors.New(say("profiles.ask.long"))
	}
	return string(text), err
}

// errNoKey means that a text holds no key. It quotes nothing of it.
var errNoKey = errors.New("that is no key: give its id and its secret on two lines, the file that the AWS console offers, or JSON with AccessKeyId and SecretAccessKey")

// parseKey reads a key as people have it.
func parseKey(text string) (awsauth.Key, error) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	var k awsauth.Key
	if strings.HasPrefix(text, "{") {
		var many struct {
			awsauth.Key
			ID     string `json:"AccessKeyId"`
			Secret string `json:"SecretAccessKey"`
			Token  string `json:"SessionToken"`
		}
		if json.Unmarshal([]byte(text), &many) != nil {
			return k, errNoKey
		}
		k = many.Key
		if k.AccessKeyID == "" {
			k = awsauth.Key{AccessKeyID: many.ID, SecretAccessKey: many.Secret, SessionToken: many.Token}
		}
	} else if lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }); len(lines) > 0 && strings.Contains(lines[0], ",") {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) < 2 || len(rows[1]) < 2 {
			return k, errNoKey
		}
		for i, head := range rows[0] {
			switch strings.ToLower(strings.TrimSpace(head)) {
			case "access key id":
				k.AccessKeyID = strings.TrimSpace(rows[1][i])
			case "secret access key":
				k.SecretAccessKey = strings.TrimSpace(rows[1][i])
			}
		}
	} else if len(lines) == 2 || len(lines) == 3 {
		k.AccessKeyID, k.SecretAccessKey = strings.TrimSpace(lines[0]), strings.TrimSpace(lines[1])
		if len(lines) == 3 {
			k.SessionToken = strings.TrimSpace(lines[2])
		}
	}
	if k.AccessKeyID == "" || k.SecretAccessKey == "" || strings.ContainsAny(k.AccessKeyID, " =[\t") {
		return awsauth.Key{}, errNoKey
	}
	return k, nil
}

// key gets a key: from a file, from a person, or from standard input.
func (s *profilesSession) key(profile, file string) (awsauth.Key, error) {
	if file == "" && s.ask.terminal {
		id, err := s.ask.line(s.say("profiles.ask.key-id", "profile", profile))
		if err != nil {
			return awsauth.Key{}, err
		}
		secret, err := s.ask.secret(s.say("profiles.ask.key-secret"))
		if err != nil {
			return awsauth.Key{}, err
		}
		return parseKey(id + "\n" + secret)
	}
	if file == "" {
		file = "-"
	}
	text, err := s.ask.file(file)
	if err != nil {
		return awsauth.Key{}, err
	}
	return parseKey(text)
}
