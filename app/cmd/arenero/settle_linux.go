package main

import (
	"bufio"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// settle gives back what the start needed: memory that is free, and the pages of
// this program's own file that are mapped. Most of its code runs at the start and
// never after, yet would be counted as ours all day. What is needed again is
// mapped again by itself, from what the system keeps of the file anyway.
func settle() {
	debug.FreeOSMemory()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer maps.Close()
	for _, p := range untouched(maps, program) {
		// An error is that it stays, as it would without us.
		unix.Syscall(unix.SYS_MADVISE, p.from, p.size, unix.MADV_DONTNEED)
	}
}

// A stretch is a part of the memory.
type stretch struct{ from, size uintptr }

// untouched are the parts of the memory that are the same as in a program's file:
// they can't be written to, and nothing has been, as a linker does once.
func untouched(smaps io.Reader, program string) (out []stretch) {
	var at stretch
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) >= 6 && !strings.HasSuffix(fields[0], ":"):
			at = stretch{}
			if strings.HasPrefix(fields[1], "r-") && strings.Join(fields[5:], " ") == program {
				at = stretchOf(fields[0])
			}
		case len(fields) < 2:
		case !strings.HasSuffix(fields[0], ":"): // of nothing that has a name
			at = stretch{}
		case fields[0] == "Anonymous:" && fields[1] == "0" && at.size > 0:
			out = append(out, at)
		}
	}
	return out
}

// stretchOf reads one, as in "00400000-0157d000".
func stretchOf(s string) stretch {
	begin, end, _ := strings.Cut(s, "-")
	a, err1 := strconv.ParseUint(begin, 16, strconv.IntSize)
	b, err2 := strconv.ParseUint(end, 16, strconv.IntSize)
	if err1 != nil || err2 != nil || b <= a {
		return stretch{}
	}
	return stretch{uintptr(a), uintptr(b - a)}
}
