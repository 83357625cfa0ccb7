package microvm

import "context"

// RunMicrovm starts a VM. It is PENDING when the call returns, and it costs money from
// then on.
func (c *Client) RunMicrovm(ctx context.Context, in *RunMicrovmInput, optFns ...func(*Options)) (*RunMicrovmOutput, error) {
	return invoke[RunMicrovmOutput](ctx, c, "RunMicrovm", in, optFns)
}

// GetMicrovm describes a VM. The state it tells may be late.
func (c *Client) GetMicrovm(ctx context.Context, in *GetMicrovmInput, optFns ...func(*Options)) (*GetMicrovmOutput, error) {
	return invoke[GetMicrovmOutput](ctx, c, "GetMicrovm", in, optFns)
}

// ListMicrovms returns a page of VMs, ended ones included; see
// [NewListMicrovmsPaginator].
func (c *Client) ListMicrovms(ctx context.Context, in *ListMicrovmsInput, optFns ...func(*Options)) (*ListMicrovmsOutput, error) {
	return invoke[ListMicrovmsOutput](ctx, c, "ListMicrovms", in, optFns)
}

// SuspendMicrovm puts a VM to sleep. A sleeping one is left as it is.
func (c *Client) SuspendMicrovm(ctx context.Context, in *SuspendMicrovmInput, optFns ...func(*Options)) (*SuspendMicrovmOutput, error) {
	return invoke[SuspendMicrovmOutput](ctx, c, "SuspendMicrovm", in, optFns)
}

// ResumeMicrovm wakes a VM. A running one is left as it is.
func (c *Client) ResumeMicrovm(ctx context.Context, in *ResumeMicrovmInput, optFns ...func(*Options)) (*ResumeMicrovmOutput, error) {
	return invoke[ResumeMicrovmOutput](ctx, c, "ResumeMicrovm", in, optFns)
}

// TerminateMicrovm ends a VM. An ended one is left as it is.
func (c *Client) TerminateMicrovm(ctx context.Context, in *TerminateMicrovmInput, optFns ...func(*Options)) (*TerminateMicrovmOutput, error) {
	return invoke[TerminateMicrovmOutput](ctx, c, "TerminateMicrovm", in, optFns)
}

// CreateMicrovmAuthToken makes a token for ports of a VM's endpoint.
func (c *Client) CreateMicrovmAuthToken(ctx context.Context, in *CreateMicrovmAuthTokenInput, optFns ...func(*Options)) (*CreateMicrovmAuthTokenOutput, error) {
	return invoke[CreateMicrovmAuthTokenOutput](ctx, c, "CreateMicrovmAuthToken", in, optFns)
}

// CreateMicrovmShellAuthToken makes a token for a VM's shell, which must have the shell's
// ingress connector.
func (c *Client) CreateMicrovmShellAuthToken(ctx context.Context, in *CreateMicrovmShellAuthTokenInput, optFns ...func(*Options)) (*CreateMicrovmShellAuthTokenOutput, error) {
	return invoke[CreateMicrovmShellAuthTokenOutput](ctx, c, "CreateMicrovmShellAuthToken", in, optFns)
}
