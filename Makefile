# "make help" lists the targets. Scripts do what takes more than a line.

.DEFAULT_GOAL := help
.PHONY: setup build build-core test race bench check demo run help

VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GO_BUILD := CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$(VERSION)"
PROGRAMS := ./app/cmd/arenero ./bridge/cmd/arenero-bridge
AGENT    := ./app/cmd/arenero-agent

setup: ## Install what tests and checks need and this machine lacks (Debian and Ubuntu)
	@.ci/setup

build: build-core ## Build every program into bin/

build-core: ## Build the programs that need no C compiler into bin/
	$(GO_BUILD) -o bin/ $(PROGRAMS)
	GOOS=linux $(GO_BUILD) -o bin/arenero-agent $(AGENT)
	GOOS=linux GOARCH=amd64 $(GO_BUILD) -o bin/arenero-agent-linux-amd64 $(AGENT)
	GOOS=linux GOARCH=arm64 $(GO_BUILD) -o bin/arenero-agent-linux-arm64 $(AGENT)

test: setup build-core ## Run every test with the race detector (PKG=./app/... for some of them)
	@.ci/test -timeout 20m $(or $(PKG),./...)

race: setup build-core ## Run every test three times over, in a random order
	@.ci/test -timeout 60m -count 3 -shuffle on $(or $(PKG),./...)

bench: setup build-core ## Measure against the goals, each beside its anchor in the same run
	go test -run '^$$' -bench . -timeout 30m ./app/internal/e2e

check: setup ## Check format, types, lint, arrows, generated files, known vulnerabilities; fuzz (FUZZTIME=30s)
	@.ci/check

demo: setup build-core ## Show an MCP client run code in a sandbox of this computer
	@go run ./app/internal/e2e/demo

run: build-core ## Run the local cloud until Ctrl-C
	bin/arenero cloud

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' Makefile
