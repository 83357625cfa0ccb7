// Package agent speaks rayito.v1, the protocol between a client and the
// program inside a sandbox. Server is the inside: processes, terminals, files,
// code and the hooks of the platform. Client is the outside.
package agent
