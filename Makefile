# "make help" lists the targets. Scripts do what takes more than a line.

.DEFAULT_GOAL := help
.PHONY: setup build build-core build-here test race bench check demo demo-picture run help

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
PROGRAMS := ./app/cmd/arenero ./bridge/cmd/arenero-bridge
AGENT    := ./app/cmd/arenero-agent

setup: ## Install what tests and checks need and this machine lacks (Debian and Ubuntu)
	@.ci/setup

build: build-core ## Build every program into bin/

build-core: build-here ## Build the programs that need no C compiler into bin/
	GOOS=linux GOARCH=amd64 $(GO_BUILD) -o bin/arenero-agent-linux-amd64 $(AGENT)
	GOOS=linux GOARCH=arm64 $(GO_BUILD) -o bin/arenero-agent-linux-arm64 $(AGENT)

build-here: # what this computer alone needs of them
	$(GO_BUILD) -o bin/ $(PROGRAMS)
	GOOS=linux $(GO_BUILD) -o bin/arenero-agent $(AGENT)

test: setup build-core ## Run every test with the race detector (PKG=./app/... for some of them)
	@.ci/test -timeout 20m $(or $(PKG),./app/internal/e2e ./...) # the longest first

race: setup build-core ## Run every test three times over, in a random order
	@.ci/test -timeout 60m -count 3 -shuffle on $(or $(PKG),./...)

bench: setup build-core ## Measure against the goals, each beside its anchor in the same run
	go test -run '^$$' -bench . -timeout 30m ./app/internal/e2e

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

run: build-core ## Run the tray until Ctrl-C
	bin/arenero tray

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-13s %s\n", $$1, $$2}' Makefile
