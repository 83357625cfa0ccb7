// Command arenero-agent runs inside a sandbox: it answers the calls of
// rayito.v1 and the hooks of the platform. In a jail it is also the first
// process there.
package main
