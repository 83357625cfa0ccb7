package microvm

import "github.com/arenero/arenero/app/internal/microvm/wire"

// The inputs and outputs of the operations; see package wire.
type (
	RunMicrovmInput  = wire.RunMicrovmInput
	RunMicrovmOutput = wire.RunMicrovmOutput

	GetMicrovmInput  = wire.GetMicrovmInput
	GetMicrovmOutput = wire.GetMicrovmOutput

	ListMicrovmsInput  = wire.ListMicrovmsInput
	ListMicrovmsOutput = wire.ListMicrovmsOutput

	SuspendMicrovmInput  = wire.SuspendMicrovmInput
	SuspendMicrovmOutput = wire.SuspendMicrovmOutput

	ResumeMicrovmInput  = wire.ResumeMicrovmInput
	ResumeMicrovmOutput = wire.ResumeMicrovmOutput

	TerminateMicrovmInput  = wire.TerminateMicrovmInput
	TerminateMicrovmOutput = wire.TerminateMicrovmOutput

	CreateMicrovmAuthTokenInput  = wire.CreateMicrovmAuthTokenInput
	CreateMicrovmAuthTokenOutput = wire.CreateMicrovmAuthTokenOutput

	CreateMicrovmShellAuthTokenInput  = wire.CreateMicrovmShellAuthTokenInput
	CreateMicrovmShellAuthTokenOutput = wire.CreateMicrovmShellAuthTokenOutput

	CreateMicrovmImageInput  = wire.CreateMicrovmImageInput
	CreateMicrovmImageOutput = wire.CreateMicrovmImageOutput

	UpdateMicrovmImageInput  = wire.UpdateMicrovmImageInput
	UpdateMicrovmImageOutput = wire.UpdateMicrovmImageOutput

	GetMicrovmImageInput  = wire.GetMicrovmImageInput
	GetMicrovmImageOutput = wire.GetMicrovmImageOutput

	DeleteMicrovmImageInput  = wire.DeleteMicrovmImageInput
	DeleteMicrovmImageOutput = wire.DeleteMicrovmImageOutput

	ListMicrovmImagesInput  = wire.ListMicrovmImagesInput
	ListMicrovmImagesOutput = wire.ListMicrovmImagesOutput

	GetMicrovmImageVersionInput  = wire.GetMicrovmImageVersionInput
	GetMicrovmImageVersionOutput = wire.GetMicrovmImageVersionOutput

	ListMicrovmImageVersionsInput  = wire.ListMicrovmImageVersionsInput
	ListMicrovmImageVersionsOutput = wire.ListMicrovmImageVersionsOutput

	UpdateMicrovmImageVersionInput  = wire.UpdateMicrovmImageVersionInput
	UpdateMicrovmImageVersionOutput = wire.UpdateMicrovmImageVersionOutput

	DeleteMicrovmImageVersionInput  = wire.DeleteMicrovmImageVersionInput
	DeleteMicrovmImageVersionOutput = wire.DeleteMicrovmImageVersionOutput

	GetMicrovmImageBuildInput  = wire.GetMicrovmImageBuildInput
	GetMicrovmImageBuildOutput = wire.GetMicrovmImageBuildOutput

	ListMicrovmImageBuildsInput  = wire.ListMicrovmImageBuildsInput
	ListMicrovmImageBuildsOutput = wire.ListMicrovmImageBuildsOutput

	ListManagedMicrovmImagesInput  = wire.ListManagedMicrovmImagesInput
	ListManagedMicrovmImagesOutput = wire.ListManagedMicrovmImagesOutput

	ListManagedMicrovmImageVersionsInput  = wire.ListManagedMicrovmImageVersionsInput
	ListManagedMicrovmImageVersionsOutput = wire.ListManagedMicrovmImageVersionsOutput

	ListTagsInput  = wire.ListTagsInput
	ListTagsOutput = wire.ListTagsOutput

	TagResourceInput  = wire.TagResourceInput
	TagResourceOutput = wire.TagResourceOutput

	UntagResourceInput  = wire.UntagResourceInput
	UntagResourceOutput = wire.UntagResourceOutput
)
