package microvm

import "context"

// CreateMicrovmImage makes an image and starts to build its first version.
func (c *Client) CreateMicrovmImage(ctx context.Context, in *CreateMicrovmImageInput, optFns ...func(*Options)) (*CreateMicrovmImageOutput, error) {
	return invoke[CreateMicrovmImageOutput](ctx, c, "CreateMicrovmImage", in, optFns)
}

// UpdateMicrovmImage starts to build a new version, which takes over nothing from those
// before it.
func (c *Client) UpdateMicrovmImage(ctx context.Context, in *UpdateMicrovmImageInput, optFns ...func(*Options)) (*UpdateMicrovmImageOutput, error) {
	return invoke[UpdateMicrovmImageOutput](ctx, c, "UpdateMicrovmImage", in, optFns)
}

// GetMicrovmImage describes an image.
func (c *Client) GetMicrovmImage(ctx context.Context, in *GetMicrovmImageInput, optFns ...func(*Options)) (*GetMicrovmImageOutput, error) {
	return invoke[GetMicrovmImageOutput](ctx, c, "GetMicrovmImage", in, optFns)
}

// DeleteMicrovmImage removes an image and all its versions.
func (c *Client) DeleteMicrovmImage(ctx context.Context, in *DeleteMicrovmImageInput, optFns ...func(*Options)) (*DeleteMicrovmImageOutput, error) {
	return invoke[DeleteMicrovmImageOutput](ctx, c, "DeleteMicrovmImage", in, optFns)
}

// ListMicrovmImages returns a page of images; see [NewListMicrovmImagesPaginator].
func (c *Client) ListMicrovmImages(ctx context.Context, in *ListMicrovmImagesInput, optFns ...func(*Options)) (*ListMicrovmImagesOutput, error) {
	return invoke[ListMicrovmImagesOutput](ctx, c, "ListMicrovmImages", in, optFns)
}

// GetMicrovmImageVersion describes a version.
func (c *Client) GetMicrovmImageVersion(ctx context.Context, in *GetMicrovmImageVersionInput, optFns ...func(*Options)) (*GetMicrovmImageVersionOutput, error) {
	return invoke[GetMicrovmImageVersionOutput](ctx, c, "GetMicrovmImageVersion", in, optFns)
}

// ListMicrovmImageVersions returns a page of an image's versions; see
// [NewListMicrovmImageVersionsPaginator].
func (c *Client) ListMicrovmImageVersions(ctx context.Context, in *ListMicrovmImageVersionsInput, optFns ...func(*Options)) (*ListMicrovmImageVersionsOutput, error) {
	return invoke[ListMicrovmImageVersionsOutput](ctx, c, "ListMicrovmImageVersions", in, optFns)
}

// UpdateMicrovmImageVersion makes a version active or inactive.
func (c *Client) UpdateMicrovmImageVersion(ctx context.Context, in *UpdateMicrovmImageVersionInput, optFns ...func(*Options)) (*UpdateMicrovmImageVersionOutput, error) {
	return invoke[UpdateMicrovmImageVersionOutput](ctx, c, "UpdateMicrovmImageVersion", in, optFns)
}

// DeleteMicrovmImageVersion removes a version that is not the last.
func (c *Client) DeleteMicrovmImageVersion(ctx context.Context, in *DeleteMicrovmImageVersionInput, optFns ...func(*Options)) (*DeleteMicrovmImageVersionOutput, error) {
	return invoke[DeleteMicrovmImageVersionOutput](ctx, c, "DeleteMicrovmImageVersion", in, optFns)
}

// GetMicrovmImageBuild describes a build.
func (c *Client) GetMicrovmImageBuild(ctx context.Context, in *GetMicrovmImageBuildInput, optFns ...func(*Options)) (*GetMicrovmImageBuildOutput, error) {
	return invoke[GetMicrovmImageBuildOutput](ctx, c, "GetMicrovmImageBuild", in, optFns)
}

// ListMicrovmImageBuilds returns a page of a version's builds; see
// [NewListMicrovmImageBuildsPaginator].
func (c *Client) ListMicrovmImageBuilds(ctx context.Context, in *ListMicrovmImageBuildsInput, optFns ...func(*Options)) (*ListMicrovmImageBuildsOutput, error) {
	return invoke[ListMicrovmImageBuildsOutput](ctx, c, "ListMicrovmImageBuilds", in, optFns)
}

// ListManagedMicrovmImages returns a page of AWS's base images; see
// [NewListManagedMicrovmImagesPaginator].
func (c *Client) ListManagedMicrovmImages(ctx context.Context, in *ListManagedMicrovmImagesInput, optFns ...func(*Options)) (*ListManagedMicrovmImagesOutput, error) {
	return invoke[ListManagedMicrovmImagesOutput](ctx, c, "ListManagedMicrovmImages", in, optFns)
}

// ListManagedMicrovmImageVersions returns a page of a base image's versions; see
// [NewListManagedMicrovmImageVersionsPaginator].
func (c *Client) ListManagedMicrovmImageVersions(ctx context.Context, in *ListManagedMicrovmImageVersionsInput, optFns ...func(*Options)) (*ListManagedMicrovmImageVersionsOutput, error) {
	return invoke[ListManagedMicrovmImageVersionsOutput](ctx, c, "ListManagedMicrovmImageVersions", in, optFns)
}

// ListTags returns the tags of an image.
func (c *Client) ListTags(ctx context.Context, in *ListTagsInput, optFns ...func(*Options)) (*ListTagsOutput, error) {
	return invoke[ListTagsOutput](ctx, c, "ListTags", in, optFns)
}

// TagResource adds or changes tags of an image.
func (c *Client) TagResource(ctx context.Context, in *TagResourceInput, optFns ...func(*Options)) (*TagResourceOutput, error) {
	return invoke[TagResourceOutput](ctx, c, "TagResource", in, optFns)
}

// UntagResource removes tags of an image.
func (c *Client) UntagResource(ctx context.Context, in *UntagResourceInput, optFns ...func(*Options)) (*UntagResourceOutput, error) {
	return invoke[UntagResourceOutput](ctx, c, "UntagResource", in, optFns)
}
