package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/arenero/arenero/app/internal/awsauth"
)

func TestParseKey(t *testing.T) {
	key := awsauth.Key{AccessKeyID: "AKIAX", SecretAccessKey: "a/b+c=", SessionToken: ""}
	session := key
	session.SessionToken = "t"
	tests := []struct {
		name, text string
		want       awsauth.Key // empty: it is none
	}{
		{"two lines", "AKIAX\na/b+c=\n", key},
		{"two lines of Windows, with a mark", "\ufeffAKIAX\r\na/b+c=\r\n", key},
		{"three lines", "AKIAX\na/b+c=\nt", session},
		{"of the console", "Access key ID,Secret access key\nAKIAX,a/b+c=\n", key},
		{"of the console, with a name", "User name,Access key ID,Secret access key\r\nana,AKIAX,a/b+c=\r\n", key},
		{"of credential_process", `{"Version": 1, "AccessKeyId": "AKIAX", "SecretAccessKey": "a/b+c=", "SessionToken": "t"}`, session},
		{"our own", `{"access_key_id": "AKIAX", "secret_access_key": "a/b+c="}`, key},
		{"nothing", "", awsauth.Key{}},
		{"one line", "AKIAX", awsauth.Key{}},
		{"a section", "[default]\naws_access_key_id = AKIAX\n", awsauth.Key{}},
		{"damaged JSON", `{"AccessKeyId": "SECRET`, awsauth.Key{}},
		{"JSON of something else", `{"a": 1}`, awsauth.Key{}},
		{"damaged CSV", "a,b\n\"SECRET", awsauth.Key{}},
		{"CSV of something else", "a,b\n1,2\n", awsauth.Key{}},
	}
	for _, tt := range tests {
		got, err := parseKey(tt.text)
		if got != tt.want || (err == nil) != (tt.want != awsauth.Key{}) {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
		if err != nil && (!errors.Is(err, errNoKey) || strings.Contains(err.Error(), "SECRET")) {
			t.Errorf("%s: error %v", tt.name, err)
		}
	}
}
