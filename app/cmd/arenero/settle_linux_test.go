package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestUntouched(t *testing.T) {
	const smaps = `00400000-00401000 r-xp 00000000 08:01 11                     /opt/my apps/arenero
Size:                  4 kB
Anonymous:             0 kB
00401000-00403000 r--p 00001000 08:01 11                     /opt/my apps/arenero
Size:                  8 kB
Anonymous:             4 kB
00403000-00404000 rw-p 00003000 08:01 11                     /opt/my apps/arenero
Anonymous:             0 kB
00404000-00406000 r--p 00003000 08:01 11                     /opt/my apps/arenero
Anonymous:             0 kB
00406000-00407000 rw-p 00000000 00:00 0 
Anonymous:             0 kB
7f0000000000-7f0000001000 r-xp 00000000 08:01 12             /lib/other
Anonymous:             0 kB
VmFlags: rd ex
`
	want := []stretch{{0x400000, 0x1000}, {0x404000, 0x2000}}
	if got := untouched(strings.NewReader(smaps), "/opt/my apps/arenero"); !slices.Equal(got, want) {
		t.Errorf("untouched() = %x, want %x", got, want)
	}
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if got := untouched(maps, program); len(got) == 0 {
		t.Error("nothing of this program's own")
	}
	settle() // after which all runs as before
}
