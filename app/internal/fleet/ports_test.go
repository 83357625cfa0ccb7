package fleet

import (
	"fmt"
	"testing"
)

// TestListeners reads tables as the kernel writes them.
func TestListeners(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:1FBB 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0000000002959504 100 0 0 10 0
   1: 0100007F:2328 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 2 2 00000000ead03fcd 100 0 0 10 0
   2: 0100007F:8877 0100007F:2328 06 00000000:00000000 03:00001763 00000000     0        0 0 3 00000000dd0843e9
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:1F91 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 3 1 0 100 0 0 10 0
   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4 1 0 100 0 0 10 0
   2: 0000000000000000FFFF00000100007F:2328 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 5 1 0 100 0 0 10 0
   3: nonsense 0 0A
   4: 0100007F:XYZ 0 0A
   5: 0100007F0:1FBB 0 0A
   6: 01:1FBB 0 0A
 0A
`
	const want = "[[::1]:80 [::]:8081 0.0.0.0:8123 127.0.0.1:9000]"
	if got := fmt.Sprint(distinct(listeners(table))); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
