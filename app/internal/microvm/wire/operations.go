package wire

import (
	"net/http"
	"slices"
)

// An Operation is how one call travels.
type Operation struct {
	Name   string
	Method string
	Path   string // with {labels}, each one path segment
	Status int    // of a success
	Body   bool   // the request has a JSON body
	Token  bool   // the input has a ClientToken to be filled in
	Paged  bool   // the answer has items and may have a nextToken
	Rate   int    // calls per second and burst per account and region; 0: not published
	Errors []string
}

// The five errors that nearly every operation has.
var five = []string{AccessDenied, InternalServer, ResourceNotFound, Throttling, Validation}

// The same for lists that are about no one thing.
var four = []string{AccessDenied, InternalServer, Throttling, Validation}

var tagErrors = []string{
	InvalidParameterValue, ResourceNotFound, ServiceFault, TooManyRequests, ResourceConflict,
	AccessDenied, InternalServer, Throttling, Validation,
}

func fiveAnd(more ...string) []string { return slices.Concat(five, more) }

const (
	microvms = "/" + Version + "/microvms"
	oneVM    = microvms + "/{microvmIdentifier}"
	images   = "/" + Version + "/microvm-images"
	oneImage = images + "/{imageIdentifier}"
	versions = oneImage + "/versions"
	oneVer   = versions + "/{imageVersion}"
	builds   = oneVer + "/builds"
	oneBuild = builds + "/{buildId}"
	managed  = "/" + Version + "/managed-microvm-images"
	tags     = "/2017-03-31/tags/{Resource}"
)

// Operations lists all calls of the API. It is not to be changed.
var Operations = []Operation{
	{
		Name: "RunMicrovm", Method: http.MethodPost, Path: microvms, Status: 200, Body: true, Token: true, Rate: 5,
		Errors: fiveAnd(Conflict, ServiceQuotaExceeded, InsufficientCapacity),
	},
	{Name: "GetMicrovm", Method: http.MethodGet, Path: oneVM, Status: 200, Rate: 100, Errors: five},
	{Name: "ListMicrovms", Method: http.MethodGet, Path: microvms, Status: 200, Paged: true, Errors: five},
	{Name: "SuspendMicrovm", Method: http.MethodPost, Path: oneVM + "/suspend", Status: 200, Rate: 2, Errors: fiveAnd(Conflict)},
	{Name: "ResumeMicrovm", Method: http.MethodPost, Path: oneVM + "/resume", Status: 200, Rate: 5, Errors: fiveAnd(Conflict)},
	{Name: "TerminateMicrovm", Method: http.MethodDelete, Path: oneVM, Status: 200, Rate: 10, Errors: fiveAnd(Conflict)},
	{
		Name: "CreateMicrovmAuthToken", Method: http.MethodPost, Path: oneVM + "/auth-token", Status: 200, Body: true, Rate: 50,
		Errors: fiveAnd(Conflict),
	},
	{
		Name: "CreateMicrovmShellAuthToken", Method: http.MethodPost, Path: oneVM + "/shell-auth-token", Status: 200, Body: true, Rate: 5,
		Errors: fiveAnd(Conflict),
	},
	{
		Name: "CreateMicrovmImage", Method: http.MethodPost, Path: images, Status: 201, Body: true, Token: true,
		Errors: fiveAnd(Conflict, ServiceQuotaExceeded),
	},
	{
		Name: "UpdateMicrovmImage", Method: http.MethodPut, Path: oneImage, Status: 200, Body: true, Token: true,
		Errors: fiveAnd(Conflict, ServiceQuotaExceeded),
	},
	{Name: "GetMicrovmImage", Method: http.MethodGet, Path: oneImage, Status: 200, Errors: five},
	{Name: "DeleteMicrovmImage", Method: http.MethodDelete, Path: oneImage, Status: 200, Errors: fiveAnd(Conflict)},
	{Name: "ListMicrovmImages", Method: http.MethodGet, Path: images, Status: 200, Paged: true, Errors: four},
	{Name: "GetMicrovmImageVersion", Method: http.MethodGet, Path: oneVer, Status: 200, Errors: five},
	{Name: "ListMicrovmImageVersions", Method: http.MethodGet, Path: versions, Status: 200, Paged: true, Errors: five},
	{Name: "UpdateMicrovmImageVersion", Method: http.MethodPatch, Path: oneVer, Status: 200, Body: true, Errors: fiveAnd(Conflict)},
	{Name: "DeleteMicrovmImageVersion", Method: http.MethodDelete, Path: oneVer, Status: 200, Errors: fiveAnd(Conflict)},
	{Name: "GetMicrovmImageBuild", Method: http.MethodGet, Path: oneBuild, Status: 200, Errors: five},
	{Name: "ListMicrovmImageBuilds", Method: http.MethodGet, Path: builds, Status: 200, Paged: true, Errors: five},
	{Name: "ListManagedMicrovmImages", Method: http.MethodGet, Path: managed, Status: 200, Paged: true, Errors: four},
	{
		Name: "ListManagedMicrovmImageVersions", Method: http.MethodGet, Path: managed + "/{imageIdentifier}/versions", Status: 200,
		Paged: true, Errors: five,
	},
	{Name: "ListTags", Method: http.MethodGet, Path: tags, Status: 200, Errors: tagErrors},
	{Name: "TagResource", Method: http.MethodPost, Path: tags, Status: 204, Body: true, Errors: tagErrors},
	{Name: "UntagResource", Method: http.MethodDelete, Path: tags, Status: 204, Errors: tagErrors},
}

// OperationOf returns the operation with that name.
func OperationOf(name string) (Operation, bool) {
	for _, op := range Operations {
		if op.Name == name {
			return op, true
		}
	}
	return Operation{}, false
}
