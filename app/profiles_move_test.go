package app

import (
	"testing"

	"github.com/arenero/arenero/app/internal/awsauth"
)

// What a line took the place of can be put back, whatever was around it, also
// where the rest of the file has changed since.
func TestRemovedLines(t *testing.T) {
	const line = "credential_process = us"
	tests := []struct{ name, before, want string }{
		{"together", "[a]\naws_access_key_id = X\naws_secret_access_key = S\nregion = r\n", "aws_access_key_id = X\naws_secret_access_key = S\n"},
		{"apart", "[a]\naws_access_key_id = X\n# of mine\naws_secret_access_key = S\nregion = r\n", "aws_access_key_id = X\naws_secret_access_key = S\n"},
		{"at the end, without one", "[b]\nregion = r\n[a]\naws_access_key_id = X\naws_secret_access_key = S", "aws_access_key_id = X\naws_secret_access_key = S"},
		{"with CRLF", "[a]\r\naws_access_key_id = X\r\naws_secret_access_key = S\r\n", "aws_access_key_id = X\r\naws_secret_access_key = S\r\n"},
	}
	for _, tt := range tests {
		after, err := awsauth.ReplaceKeys([]byte(tt.before), "a", line)
		if err != nil {
			t.Fatal(err)
		}
		if got := removed([]byte(tt.before), after, line); string(got) != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		patches := splice([]byte(tt.before), after)
		if got := patches.Apply([]byte(tt.before)); string(got) != string(after) {
			t.Errorf("%s: the splice makes %q, want %q", tt.name, got, after)
		}
		if back := patches.Reverse().Apply(after); string(back) != tt.before {
			t.Errorf("%s: back it is %q", tt.name, back)
		}
	}
	if splice([]byte("same"), []byte("same")) != nil {
		t.Error("nothing is spliced")
	}
}
