//go:build !race

package hostfile_test

const racing = false
