package wire

import (
	"net/url"
	"testing"
)

func parse(t *testing.T, query string) url.Values {
	t.Helper()
	q, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestTarget(t *testing.T) {
	tests := []struct {
		name, op    string
		in          Input
		path, query string
	}{
		{
			"arn in path", "GetMicrovmImage", &GetMicrovmImageInput{ImageIdentifier: new("arn:aws:lambda:us-east-1:1:microvm-image:a")},
			"/2025-09-09/microvm-images/arn%3Aaws%3Alambda%3Aus-east-1%3A1%3Amicrovm-image%3Aa", "",
		},
		{
			"slash in path", "GetMicrovm", &GetMicrovmInput{MicrovmIdentifier: new("a/../b")},
			"/2025-09-09/microvms/a%2F..%2Fb", "",
		},
		{
			"cursor", "ListMicrovms", &ListMicrovmsInput{MaxResults: new(int32(5)), NextToken: new("a+b/c== d")},
			"/2025-09-09/microvms", "maxResults=5&nextToken=a%2Bb%2Fc%3D%3D%20d",
		},
		{
			"repeated key", "UntagResource", &UntagResourceInput{Resource: new("r"), TagKeys: []string{"a", "b&c"}},
			"/2017-03-31/tags/r", "tagKeys=a&tagKeys=b%26c",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op, _ := OperationOf(tt.op)
			path, query, err := op.Target(tt.in)
			if path != tt.path || query != tt.query || err != nil {
				t.Errorf("target = %q, %q, %v, want %q, %q", path, query, err, tt.path, tt.query)
			}
		})
	}
}

// A label that a server would clean away must not reach one.
func TestTargetRefusesDots(t *testing.T) {
	op, _ := OperationOf("TerminateMicrovm")
	for _, id := range []string{"", ".", ".."} {
		if path, _, err := op.Target(&TerminateMicrovmInput{MicrovmIdentifier: &id}); err == nil {
			t.Errorf("target of %q = %q, want an error", id, path)
		}
	}
}

func TestBindNamesTheMember(t *testing.T) {
	err := Bind(&ListMicrovmsInput{}, nil, url.Values{"maxResults": {"many"}})
	want := "1 validation error detected: Value at 'maxResults' failed to satisfy constraint: Member must be an integer"
	if err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("/2025-09-09/microvms/%zz/suspend")
	f.Add("/2017-03-31/tags/arn%3Aaws")
	f.Fuzz(func(t *testing.T, path string) {
		for _, op := range Operations {
			labels, ok := op.Match(path)
			in := inputs()[op.Name]
			if !ok || Bind(in, labels, nil) != nil {
				continue
			}
			again, _, err := op.Target(in)
			if err != nil {
				continue
			}
			if got, ok := op.Match(again); !ok || len(got) != len(labels) {
				t.Errorf("%s turned into %s, which has labels %q, want %q", path, again, got, labels)
			}
			for k, v := range labels {
				if got, _ := op.Match(again); got[k] != v {
					t.Errorf("label %s = %q, want %q", k, got[k], v)
				}
			}
		}
	})
}
