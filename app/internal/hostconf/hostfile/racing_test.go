//go:build race

package hostfile_test

// racing: the race detector keeps several bytes for each of ours.
const racing = true
