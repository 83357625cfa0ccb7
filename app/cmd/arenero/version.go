package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/arenero/arenero/app/control"
	"github.com/arenero/arenero/app/sandbox"
)

// version is set by the linker.
var version string

type versionCommand struct{ asJSON }

// Run prints the version and what it was built with, and that of the engine.
func (c *versionCommand) Run() error {
	ctx, stop := interruptible()
	defer stop()
	client, err := look()
	if err != nil {
		return err
	}
	engine, missing := client.Status(ctx)
	if c.JSON {
		return writeJSON(os.Stdout, versionsOf(engine, missing))
	}
	fmt.Printf("arenero %s %s/%s %s%s\n", versionText(), runtime.GOOS, runtime.GOARCH, runtime.Version(), buildText(build()))
	switch {
	case missing == nil:
		fmt.Println(say("cli.version.engine", "version", engine.Version+buildText(engine.Build), "pid", strconv.Itoa(engine.PID)))
	case sandbox.CodeOf(missing) == sandbox.Unreachable:
		fmt.Println(say("cli.version.none"))
	default:
		fmt.Println(say("cli.version.failed", "why", message(missing)))
	}
	return nil
}

type versions struct {
	Version string        `json:"version"`
	Build   string        `json:"build"`
	OS      string        `json:"os"`
	Arch    string        `json:"arch"`
	Go      string        `json:"go"`
	Engine  *engineOf     `json:"engine"` // null: none runs
	Error   *sandbox.Code `json:"engine_error,omitempty"`
}

type engineOf struct {
	Version  string `json:"version"`
	Build    string `json:"build"`
	PID      int    `json:"pid"`
	Protocol int    `json:"protocol"`
}

func versionsOf(engine control.Status, missing error) versions {
	v := versions{Version: versionText(), Build: build(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
	switch code := sandbox.CodeOf(missing); code {
	case "":
		v.Engine = &engineOf{engine.Version, engine.Build, engine.PID, engine.Protocol}
	case sandbox.Unreachable:
	default:
		v.Error = &code
	}
	return v
}

func buildText(build string) string {
	if build == "" {
		return ""
	}
	return say("cli.version.build", "build", build[:min(len(build), 12)])
}

func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
