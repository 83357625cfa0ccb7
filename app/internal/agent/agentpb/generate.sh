#!/bin/sh
# Writes *.pb.go from rayito/v1/*.proto. protoc is the system's (make setup);
# its two plugins are the Go tools pinned in go.mod.
set -eu
cd "$(dirname "$0")"
module=github.com/arenero/arenero/app/internal/agent/agentpb
protoc -I . \
  --plugin=protoc-gen-go="$(go tool -n protoc-gen-go)" \
  --plugin=protoc-gen-go-grpc="$(go tool -n protoc-gen-go-grpc)" \
  --go_out=. --go_opt=module=$module \
  --go-grpc_out=. --go-grpc_opt=module=$module \
  rayito/v1/*.proto
