package awsauth

import "strings"

// principal tells from an ARN what kind of principal it is, and its name.
func principal(arn string) (kind, name string) {
	parts := strings.SplitN(arn, ":", 6)
	if len(parts) < 6 {
		return "", ""
	}
	kind, name, _ = strings.Cut(parts[5], "/")
	switch kind {
	case "assumed-role": // the rest is the name of the session
		name, _, _ = strings.Cut(name, "/")
	case "user": // a user may be in a path
		name = name[strings.LastIndex(name, "/")+1:]
	}
	return kind, name
}
