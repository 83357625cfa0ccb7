# "make help" lists the targets. Scripts do what takes more than a line.

.DEFAULT_GOAL := help
.PHONY: setup build build-core build-here build-window test race bench check demo demo-picture screenshots package windows run help

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
PROGRAMS := ./app/cmd/arenero ./bridge/cmd/arenero-bridge
AGENT    := ./app/cmd/arenero-agent
GOOS     := $(shell go env GOOS)
comma    := ,
# OpenGL ES builds in a third of the time, and runs on Linux alone. Without its
# metadata the toolkit keeps no files of its own.
WINDOW   := -tags no_metadata$(if $(filter linux,$(GOOS)),$(comma)gles)
GUI      := $(if $(filter windows,$(GOOS)),-H=windowsgui)

setup: ## Install what tests and checks need and this machine lacks (Debian and Ubuntu)
	@.ci/setup

build: build-core build-window ## Build every program into bin/; the window needs a C compiler (make setup)

build-window: # the program with the windows
	CGO_ENABLED=1 go build $(WINDOW) -trimpath -ldflags "-s -w $(GUI) -X main.version=$(VERSION)" -o bin/arenero-window$(shell go env GOEXE) .

build-core: build-here ## Build the programs that need no C compiler into bin/
	GOOS=linux GOARCH=amd64 $(GO_BUILD) -o bin/arenero-agent-linux-amd64 $(AGENT)
	GOOS=linux GOARCH=arm64 $(GO_BUILD) -o bin/arenero-agent-linux-arm64 $(AGENT)

build-here: # what this computer alone needs of them
	$(GO_BUILD) -o bin/ $(PROGRAMS)
	GOOS=linux $(GO_BUILD) -o bin/arenero-agent $(AGENT)

test: setup build ## Run every test with the race detector (PKG=./app/... for some of them)
	@.ci/test -timeout 30m $(or $(PKG),./app/internal/e2e ./...) # the longest first

race: setup build ## Run every test three times over, in a random order
	@.ci/test -timeout 60m -count 3 -shuffle on $(or $(PKG),./...)

bench: setup build ## Measure against the goals, each beside its anchor in the same run
	go test -run '^$$' -bench . -timeout 60m ./app/internal/e2e

check: setup ## Check format, types, lint, arrows, generated files, known vulnerabilities; fuzz (FUZZTIME=30s)
	@.ci/check

demo: ## Show an MCP client run code in a sandbox of this computer
	@.ci/setup demo
	@echo "building the programs; the first time takes minutes"
	@$(MAKE) --silent build-here
	@CGO_ENABLED=0 go run -trimpath ./app/internal/e2e/demo

demo-picture: ## Run the demo again for the picture of it in assets/
	@.ci/setup demo
	@$(MAKE) --silent build-here
	CGO_ENABLED=0 go run -trimpath ./app/internal/e2e/demo/picture -o assets/demo.svg '$$ make demo' go run -trimpath ./app/internal/e2e/demo

screenshots: setup build ## Take pictures of every page of the windows into bin/screenshots
	CGO_ENABLED=0 go run -trimpath ./app/internal/e2e/screenshots $(FLAGS)

package: build ## Pack the programs for Linux into bin/package: a .deb, and a tar.xz for any other
	@.ci/package

windows: ## Build the programs for Windows into bin/windows (needs gcc-mingw-w64-x86-64)
	@mkdir -p bin/windows
	CGO_ENABLED=1 GOOS=windows GOARCH=amd64 CC=x86_64-w64-mingw32-gcc go build -trimpath -ldflags "-s -w -H=windowsgui -X main.version=$(VERSION)" -o bin/windows/arenero-window.exe .
	GOOS=windows GOARCH=amd64 $(GO_BUILD) -o bin/windows/ $(PROGRAMS)
	for arch in amd64 arm64; do GOOS=linux GOARCH=$$arch $(GO_BUILD) -o bin/windows/arenero-agent-linux-$$arch $(AGENT) || exit 1; done

run: build-core ## Run the tray until Ctrl-C, with the window if it can be built here
	@if [ $(GOOS) != linux ] || echo '#include <X11/Xcursor/Xcursor.h>' | cc -E - >/dev/null 2>&1; then $(MAKE) --silent build-window; else echo "without the window: run .ci/setup window to build it"; fi
	bin/arenero tray

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' Makefile
