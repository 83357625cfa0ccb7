package wire

// CreateMicrovmAuthTokenInput asks for a token that opens ports of a VM's
// endpoint.
type CreateMicrovmAuthTokenInput struct {
	MicrovmIdentifier   *string             `json:"-" label:"microvmIdentifier"`
	ExpirationInMinutes *int32              `json:"expirationInMinutes,omitempty"`
	AllowedPorts        []PortSpecification `json:"allowedPorts,omitzero"`
}

// CreateMicrovmAuthTokenOutput holds the token under [AuthHeader].
type CreateMicrovmAuthTokenOutput struct {
	AuthToken Secrets `json:"authToken,omitzero"`
}

// CreateMicrovmShellAuthTokenInput asks for a token for the VM's shell.
type CreateMicrovmShellAuthTokenInput struct {
	MicrovmIdentifier   *string `json:"-" label:"microvmIdentifier"`
	ExpirationInMinutes *int32  `json:"expirationInMinutes,omitempty"`
}

// CreateMicrovmShellAuthTokenOutput holds the token under [AuthHeader].
type CreateMicrovmShellAuthTokenOutput struct {
	AuthToken Secrets `json:"authToken,omitzero"`
}

// A PortSpecification is one port, a range or all of them: a union.
type PortSpecification struct {
	Port     *int32     `json:"port,omitempty"`
	Range    *PortRange `json:"range,omitempty"`
	AllPorts *Unit      `json:"allPorts,omitempty"`
}

// A PortRange includes both its ends.
type PortRange struct {
	StartPort *int32 `json:"startPort,omitempty"`
	EndPort   *int32 `json:"endPort,omitempty"`
}
