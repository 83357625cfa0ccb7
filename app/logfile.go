package app

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"

	"github.com/arenero/arenero/app/internal/atomicfile"
	"github.com/arenero/arenero/app/internal/paths"
)

const (
	maxLog  = 4 << 20 // bytes of one log file
	oldLogs = 3       // kept beside the one that is written
)

// A LogFile is a log that is begun anew when it gets long, with the last few
// kept as name.1, name.2 and so on.
type LogFile struct {
	path string

	mu   sync.Mutex // guards what follows
	file *os.File
	size int64
}

// OpenLog opens the log of that name in our folder for logs.
func OpenLog(name string) (*LogFile, error) {
	dir, err := logDir()
	if err != nil {
		return nil, err
	}
	l := &LogFile{path: filepath.Join(dir, name)}
	if err := l.open(); err != nil {
		return nil, err
	}
	return l, nil
}

// crashLog gets what the runtime says when a program ends by a panic, which a
// log of lines never sees.
const crashLog = "crash.log"

// KeepCrashes has the panic that ends this program written to a file beside the
// logs, in addition to standard error, which often leads nowhere.
func KeepCrashes() error {
	dir, err := logDir()
	if err != nil {
		return err
	}
	path := filepath.Join(dir, crashLog)
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		flags |= os.O_TRUNC
	}
	f, err := atomicfile.Open(path, flags, 0o600)
	if err != nil {
		return fmt.Errorf("open log of crashes: %w", err)
	}
	defer f.Close() // the runtime keeps one of its own
	return debug.SetCrashOutput(f, debug.CrashOptions{})
}

func logDir() (string, error) {
	dirs, err := paths.Find()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(dirs.State, "log")
	return dir, paths.Private(dir)
}

func (l *LogFile) open() error {
	f, err := atomicfile.Open(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return fmt.Errorf("open log: %w", err)
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write adds to the log. A log that can't be written is no reason to fail.
func (l *LogFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > maxLog && l.size > 0 {
		l.turn()
	}
	if l.file != nil {
		n, _ := l.file.Write(p)
		l.size += int64(n)
	}
	return len(p), nil
}

// turn moves each log one place on, and begins a new one.
func (l *LogFile) turn() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
	for i := oldLogs; i > 1; i-- {
		os.Rename(fmt.Sprintf("%s.%d", l.path, i-1), fmt.Sprintf("%s.%d", l.path, i))
	}
	os.Rename(l.path, l.path+".1")
	l.size = 0
	l.open()
}

// Close ends the log.
func (l *LogFile) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
