// Package agentpb is the wire of the agent: the messages and services of
// rayito.v1, generated from the .proto files under rayito/v1. The field numbers
// are those of rayito 0.10, whose clients and agents we talk to.
package agentpb

//go:generate sh generate.sh
