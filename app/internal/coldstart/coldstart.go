// Package coldstart keeps the memory from being tidied while a program starts:
// what is set up then is all kept, so that looking through it finds nothing, and
// takes as long as much of the rest. A program imports it for that, and says when
// its start is over.
package coldstart

import "runtime/debug"

// Of packages that import nothing but the standard library, Go sets up those
// first whose path comes first, and most others wait for many. Four times the
// usual growth lets a program come to 16 MiB first.
var usual = debug.SetGCPercent(400)

// Over has memory tidied as always, or as GOGC in the environment has it. It is
// to be called once what there is to start has started.
func Over() { debug.SetGCPercent(usual) }
