package control

// Serving is how the tools are served over HTTP to apps that start no program.
type Serving struct {
	On      bool   `json:"on"`
	Address string `json:"address"`          // "host:port", also while it is off
	Auth    string `json:"auth"`             // one of those below
	Open    bool   `json:"open"`             // other computers may reach the address
	State   string `json:"state"`            // one of those below
	URL     string `json:"url,omitempty"`    // for the apps, while it is served
	Why     *Text  `json:"why,omitempty"`    // it failed
	Remedy  *Text  `json:"remedy,omitempty"` // what to do about that
}

// Who may use what is served over HTTP.
const (
	AuthNone  = "none"  // whoever reaches it: nobody is asked
	AuthToken = "token" // who brings a token of the owner's
)

// The states of [Serving].
const (
	ServingOff      = "off"
	ServingStarting = "starting"
	ServingOn       = "serving"
	ServingFailed   = "failed" // it is tried again now and then
)

// A ServingEdit changes what is not nil.
type ServingEdit struct {
	On      *bool   `json:"on,omitempty"`
	Address *string `json:"address,omitempty"`
	Auth    *string `json:"auth,omitempty"`
}
