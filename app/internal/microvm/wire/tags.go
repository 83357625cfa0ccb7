package wire

// ListTagsInput asks for the tags of an image or another Lambda resource. VMs
// have none.
type ListTagsInput struct {
	Resource *string `json:"-" label:"Resource"`
}

// ListTagsOutput holds the tags.
type ListTagsOutput struct {
	Tags map[string]string `json:"Tags,omitzero"`
}

// TagResourceInput adds or changes tags.
type TagResourceInput struct {
	Resource *string           `json:"-" label:"Resource"`
	Tags     map[string]string `json:"Tags,omitzero"`
}

// TagResourceOutput is empty.
type TagResourceOutput struct{}

// UntagResourceInput removes tags.
type UntagResourceInput struct {
	Resource *string  `json:"-" label:"Resource"`
	TagKeys  []string `json:"-" query:"tagKeys"`
}

// UntagResourceOutput is empty.
type UntagResourceOutput struct{}
