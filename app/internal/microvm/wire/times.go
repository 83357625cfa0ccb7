package wire

// The structs with times need methods of their own, since encoding/json knows
// times as strings only.

// MarshalJSON writes times as epoch seconds.
func (o RunMicrovmOutput) MarshalJSON() ([]byte, error) {
	type plain RunMicrovmOutput
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *RunMicrovmOutput) UnmarshalJSON(b []byte) error {
	type plain RunMicrovmOutput
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o GetMicrovmOutput) MarshalJSON() ([]byte, error) {
	type plain GetMicrovmOutput
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *GetMicrovmOutput) UnmarshalJSON(b []byte) error {
	type plain GetMicrovmOutput
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o MicrovmItem) MarshalJSON() ([]byte, error) {
	type plain MicrovmItem
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *MicrovmItem) UnmarshalJSON(b []byte) error {
	type plain MicrovmItem
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o CreateMicrovmImageOutput) MarshalJSON() ([]byte, error) {
	type plain CreateMicrovmImageOutput
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *CreateMicrovmImageOutput) UnmarshalJSON(b []byte) error {
	type plain CreateMicrovmImageOutput
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o UpdateMicrovmImageOutput) MarshalJSON() ([]byte, error) {
	type plain UpdateMicrovmImageOutput
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *UpdateMicrovmImageOutput) UnmarshalJSON(b []byte) error {
	type plain UpdateMicrovmImageOutput
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o GetMicrovmImageOutput) MarshalJSON() ([]byte, error) {
	type plain GetMicrovmImageOutput
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *GetMicrovmImageOutput) UnmarshalJSON(b []byte) error {
	type plain GetMicrovmImageOutput
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o MicrovmImageSummary) MarshalJSON() ([]byte, error) {
	type plain MicrovmImageSummary
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *MicrovmImageSummary) UnmarshalJSON(b []byte) error {
	type plain MicrovmImageSummary
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o MicrovmImageVersionSummary) MarshalJSON() ([]byte, error) {
	type plain MicrovmImageVersionSummary
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *MicrovmImageVersionSummary) UnmarshalJSON(b []byte) error {
	type plain MicrovmImageVersionSummary
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o GetMicrovmImageVersionOutput) MarshalJSON() ([]byte, error) {
	type plain GetMicrovmImageVersionOutput
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *GetMicrovmImageVersionOutput) UnmarshalJSON(b []byte) error {
	type plain GetMicrovmImageVersionOutput
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o UpdateMicrovmImageVersionOutput) MarshalJSON() ([]byte, error) {
	type plain UpdateMicrovmImageVersionOutput
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *UpdateMicrovmImageVersionOutput) UnmarshalJSON(b []byte) error {
	type plain UpdateMicrovmImageVersionOutput
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o GetMicrovmImageBuildOutput) MarshalJSON() ([]byte, error) {
	type plain GetMicrovmImageBuildOutput
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *GetMicrovmImageBuildOutput) UnmarshalJSON(b []byte) error {
	type plain GetMicrovmImageBuildOutput
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o MicrovmImageBuildSummary) MarshalJSON() ([]byte, error) {
	type plain MicrovmImageBuildSummary
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *MicrovmImageBuildSummary) UnmarshalJSON(b []byte) error {
	type plain MicrovmImageBuildSummary
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o ManagedMicrovmImageSummary) MarshalJSON() ([]byte, error) {
	type plain ManagedMicrovmImageSummary
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *ManagedMicrovmImageSummary) UnmarshalJSON(b []byte) error {
	type plain ManagedMicrovmImageSummary
	return unmarshal(b, (*plain)(o))
}

// MarshalJSON writes times as epoch seconds.
func (o ManagedMicrovmImageVersion) MarshalJSON() ([]byte, error) {
	type plain ManagedMicrovmImageVersion
	return marshal(plain(o))
}

// UnmarshalJSON reads times as epoch seconds.
func (o *ManagedMicrovmImageVersion) UnmarshalJSON(b []byte) error {
	type plain ManagedMicrovmImageVersion
	return unmarshal(b, (*plain)(o))
}
