// Package wire holds the shapes of the AWS Lambda MicroVMs API: the input and
// output of every operation, the errors, where each member travels, and the
// limits the service holds it to. It is data only: the client (package
// microvm) and the local cloud (package cloud) both stand on it, so neither
// can drift from the other.
//
// The structs have the shape of the AWS SDK for Go: pointers for scalars that
// may be absent, named strings for enumerations, nil lists and maps for "not
// given". A union is a struct of pointers of which exactly one is set. A
// member tagged json:"-" travels in the path (tag label) or the query (tag
// query); see [Operation.Path] and [Bind].
package wire

// Version is the date of the API, the first path segment of all calls but
// those on tags.
const Version = "2025-09-09"

// SigningName is the service in the scope of every signature.
const SigningName = "lambda"

// AuthHeader is the only key of an auth token map, and the request header that
// carries its value to a VM's endpoint. The spelling is exact.
const AuthHeader = "X-aws-proxy-auth"

// An Input is what every operation takes.
type Input interface {
	// Validate checks required members and limits. The error is an
	// [*InvalidError] and holds no values of sensitive members.
	Validate() error
}

// A Unit is the empty structure, sent as {}.
type Unit struct{}
