package bridge_test

import (
	"testing"

	"github.com/arenero/arenero/bridge"
)

func TestRX6_Loopback(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.9.9.9": true, "127.255.255.254": true, "::1": true, "[::1]": true,
		"0:0:0:0:0:0:0:1": true, "::ffff:127.0.0.1": true,
		"128.0.0.1": false, "126.9.9.9": false, "192.168.1.7": false, "::2": false, "fe80::1": false, "example.org": false,
		"localhost.example.org": false, "notlocalhost": false, "127.0.0.1.example.org": false, "": false, "0.0.0.0": false,
	} {
		if got := bridge.IsLoopback(host); got != want {
			t.Errorf("IsLoopback(%q) = %t", host, got)
		}
	}
}
