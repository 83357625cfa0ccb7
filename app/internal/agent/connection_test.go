package agent

import (
	"context"
	"net"
	"testing"

	"google.golang.org/grpc/peer"
)

func TestConnection(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(client, server net.Conn)
	}{
		{"read", func(client, server net.Conn) { client.Close(); server.Read(make([]byte, 1)) }},
		{"close", func(_, server net.Conn) { server.Close() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client, raw := net.Pipe()
			defer client.Close()
			defer raw.Close()
			server, info, err := plain{}.ServerHandshake(raw)
			if err != nil {
				t.Fatal(err)
			}
			ctx := peer.NewContext(t.Context(), &peer.Peer{AuthInfo: info})
			over, cancel := context.WithCancel(ctx)
			cancelled, open, left := watchCall(over), watchCall(ctx), watchCall(ctx)
			cancel()
			left.leave()
			tt.end(client, server)
			late := watchCall(ctx)
			for _, f := range []struct {
				name string
				*fate
				want bool
			}{
				{"cancelled", cancelled, false},
				{"open", open, true},
				{"left", left, false},
				{"late", late, false},
				{"of no connection", watchCall(t.Context()), false},
			} {
				if got := f.wasCut(); got != f.want {
					t.Errorf("call %s: cut = %v, want %v", f.name, got, f.want)
				}
				f.leave()
			}
		})
	}
}
