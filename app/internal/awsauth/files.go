package awsauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/arenero/arenero/app/internal/atomicfile"
)

const (
	maxFile     = 8 << 20 // bytes of a file of AWS; real ones have some KiB
	maxChain    = 32      // profiles that lead to one by source_profile
	maxProfiles = 2000    // in the files, to be listed: the SDK reads them whole for each
)

// readFile is os.ReadFile for regular files of a decent size. Others would have us
// wait for whoever writes into them, or fill the memory.
func readFile(path string) ([]byte, error) {
	if path == os.DevNull { // how people say that there is none
		return nil, nil
	}
	f, err := atomicfile.Open(path, os.O_RDONLY, 0)
	if errors.Is(err, atomicfile.ErrNotRegular) {
		return nil, &ErrConfig{File: path, Why: "it is no regular file: move it away"}
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, &ErrConfig{File: path, Why: fmt.Sprintf("it has more than %d MiB", maxFile>>20)}
	}
	return text, nil
}

// apart reads files, and gives up on them when ctx is done: the disk that they are
// on may be that of another computer, which is away. Then read goes on alone.
func apart[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := read()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, gaveUp(ctx)
	}
}

// gaveUp says what was waited for when ctx ended.
func gaveUp(ctx context.Context) error {
	return fmt.Errorf("read the files of AWS: %w", context.Cause(ctx))
}

// A tokenFile has the token of a web identity.
type tokenFile string

// GetIdentityToken implements the interface of the SDK.
func (f tokenFile) GetIdentityToken() ([]byte, error) { return readFile(string(f)) }
