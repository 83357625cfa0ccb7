package microvm

import (
	"context"
	"errors"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// A Paginator walks through the pages of a list. Pages may be empty: only the
// lack of a next token is the end.
type Paginator[In, Out any] struct {
	list  func(context.Context, *In, ...func(*Options)) (*Out, error)
	in    In
	token func(*In) **string
	next  func(*Out) *string
	last  *string // the token of the next page
	begun bool
	stop  bool // on a token seen twice in a row
}

// PaginatorOptions is how a paginator goes about its work.
type PaginatorOptions struct {
	Limit                int32 // items per page; 0: as the service likes
	StopOnDuplicateToken bool  // end when the service hands out a token again
}

// HasMorePages reports whether NextPage may be called.
func (p *Paginator[In, Out]) HasMorePages() bool {
	return !p.begun || (p.last != nil && *p.last != "")
}

// NextPage returns the next page. After an error it can be called again.
func (p *Paginator[In, Out]) NextPage(ctx context.Context, optFns ...func(*Options)) (*Out, error) {
	if !p.HasMorePages() {
		return nil, errors.New("no more pages available")
	}
	in := p.in
	sent := p.token(&in)
	if p.begun {
		*sent = p.last
	}
	out, err := p.list(ctx, &in, optFns...)
	if err != nil {
		return nil, err
	}
	p.begun, p.last = true, p.next(out)
	if p.stop && *sent != nil && p.last != nil && **sent == *p.last {
		p.last = nil
	}
	return out, nil
}

func paginator[In, Out any](
	list func(context.Context, *In, ...func(*Options)) (*Out, error), in *In,
	token func(*In) **string, limit func(*In) **int32, next func(*Out) *string, optFns []func(*PaginatorOptions),
) *Paginator[In, Out] {
	p := &Paginator[In, Out]{list: list, token: token, next: next}
	if in != nil {
		p.in = *in
	}
	var o PaginatorOptions
	if n := *limit(&p.in); n != nil {
		o.Limit = *n
	}
	for _, fn := range optFns {
		fn(&o)
	}
	*limit(&p.in) = nil
	if o.Limit != 0 {
		*limit(&p.in) = &o.Limit
	}
	p.stop = o.StopOnDuplicateToken
	return p
}

// A ListMicrovmsAPIClient is what [NewListMicrovmsPaginator] needs.
type ListMicrovmsAPIClient interface {
	ListMicrovms(context.Context, *ListMicrovmsInput, ...func(*Options)) (*ListMicrovmsOutput, error)
}

// The names of the SDK for a list by ListMicrovms.
type (
	ListMicrovmsPaginator        = Paginator[wire.ListMicrovmsInput, wire.ListMicrovmsOutput]
	ListMicrovmsPaginatorOptions = PaginatorOptions
)

// NewListMicrovmsPaginator walks through ListMicrovms.
func NewListMicrovmsPaginator(c ListMicrovmsAPIClient, in *ListMicrovmsInput, optFns ...func(*ListMicrovmsPaginatorOptions)) *ListMicrovmsPaginator {
	return paginator(c.ListMicrovms, in,
		func(in *ListMicrovmsInput) **string { return &in.NextToken },
		func(in *ListMicrovmsInput) **int32 { return &in.MaxResults },
		func(out *ListMicrovmsOutput) *string { return out.NextToken }, optFns)
}

// A ListMicrovmImagesAPIClient is what [NewListMicrovmImagesPaginator] needs.
type ListMicrovmImagesAPIClient interface {
	ListMicrovmImages(context.Context, *ListMicrovmImagesInput, ...func(*Options)) (*ListMicrovmImagesOutput, error)
}

// The names of the SDK for a list by ListMicrovmImages.
type (
	ListMicrovmImagesPaginator        = Paginator[wire.ListMicrovmImagesInput, wire.ListMicrovmImagesOutput]
	ListMicrovmImagesPaginatorOptions = PaginatorOptions
)

// NewListMicrovmImagesPaginator walks through ListMicrovmImages.
func NewListMicrovmImagesPaginator(c ListMicrovmImagesAPIClient, in *ListMicrovmImagesInput, optFns ...func(*ListMicrovmImagesPaginatorOptions)) *ListMicrovmImagesPaginator {
	return paginator(c.ListMicrovmImages, in,
		func(in *ListMicrovmImagesInput) **string { return &in.NextToken },
		func(in *ListMicrovmImagesInput) **int32 { return &in.MaxResults },
		func(out *ListMicrovmImagesOutput) *string { return out.NextToken }, optFns)
}

// A ListMicrovmImageVersionsAPIClient is what [NewListMicrovmImageVersionsPaginator] needs.
type ListMicrovmImageVersionsAPIClient interface {
	ListMicrovmImageVersions(context.Context, *ListMicrovmImageVersionsInput, ...func(*Options)) (*ListMicrovmImageVersionsOutput, error)
}

// The names of the SDK for a list by ListMicrovmImageVersions.
type (
	ListMicrovmImageVersionsPaginator        = Paginator[wire.ListMicrovmImageVersionsInput, wire.ListMicrovmImageVersionsOutput]
	ListMicrovmImageVersionsPaginatorOptions = PaginatorOptions
)

// NewListMicrovmImageVersionsPaginator walks through ListMicrovmImageVersions.
func NewListMicrovmImageVersionsPaginator(c ListMicrovmImageVersionsAPIClient, in *ListMicrovmImageVersionsInput, optFns ...func(*ListMicrovmImageVersionsPaginatorOptions)) *ListMicrovmImageVersionsPaginator {
	return paginator(c.ListMicrovmImageVersions, in,
		func(in *ListMicrovmImageVersionsInput) **string { return &in.NextToken },
		func(in *ListMicrovmImageVersionsInput) **int32 { return &in.MaxResults },
		func(out *ListMicrovmImageVersionsOutput) *string { return out.NextToken }, optFns)
}

// A ListMicrovmImageBuildsAPIClient is what [NewListMicrovmImageBuildsPaginator] needs.
type ListMicrovmImageBuildsAPIClient interface {
	ListMicrovmImageBuilds(context.Context, *ListMicrovmImageBuildsInput, ...func(*Options)) (*ListMicrovmImageBuildsOutput, error)
}

// The names of the SDK for a list by ListMicrovmImageBuilds.
type (
	ListMicrovmImageBuildsPaginator        = Paginator[wire.ListMicrovmImageBuildsInput, wire.ListMicrovmImageBuildsOutput]
	ListMicrovmImageBuildsPaginatorOptions = PaginatorOptions
)

// NewListMicrovmImageBuildsPaginator walks through ListMicrovmImageBuilds.
func NewListMicrovmImageBuildsPaginator(c ListMicrovmImageBuildsAPIClient, in *ListMicrovmImageBuildsInput, optFns ...func(*ListMicrovmImageBuildsPaginatorOptions)) *ListMicrovmImageBuildsPaginator {
	return paginator(c.ListMicrovmImageBuilds, in,
		func(in *ListMicrovmImageBuildsInput) **string { return &in.NextToken },
		func(in *ListMicrovmImageBuildsInput) **int32 { return &in.MaxResults },
		func(out *ListMicrovmImageBuildsOutput) *string { return out.NextToken }, optFns)
}

// A ListManagedMicrovmImagesAPIClient is what [NewListManagedMicrovmImagesPaginator] needs.
type ListManagedMicrovmImagesAPIClient interface {
	ListManagedMicrovmImages(context.Context, *ListManagedMicrovmImagesInput, ...func(*Options)) (*ListManagedMicrovmImagesOutput, error)
}

// The names of the SDK for a list by ListManagedMicrovmImages.
type (
	ListManagedMicrovmImagesPaginator        = Paginator[wire.ListManagedMicrovmImagesInput, wire.ListManagedMicrovmImagesOutput]
	ListManagedMicrovmImagesPaginatorOptions = PaginatorOptions
)

// NewListManagedMicrovmImagesPaginator walks through ListManagedMicrovmImages.
func NewListManagedMicrovmImagesPaginator(c ListManagedMicrovmImagesAPIClient, in *ListManagedMicrovmImagesInput, optFns ...func(*ListManagedMicrovmImagesPaginatorOptions)) *ListManagedMicrovmImagesPaginator {
	return paginator(c.ListManagedMicrovmImages, in,
		func(in *ListManagedMicrovmImagesInput) **string { return &in.NextToken },
		func(in *ListManagedMicrovmImagesInput) **int32 { return &in.MaxResults },
		func(out *ListManagedMicrovmImagesOutput) *string { return out.NextToken }, optFns)
}

// A ListManagedMicrovmImageVersionsAPIClient is what [NewListManagedMicrovmImageVersionsPaginator] needs.
type ListManagedMicrovmImageVersionsAPIClient interface {
	ListManagedMicrovmImageVersions(context.Context, *ListManagedMicrovmImageVersionsInput, ...func(*Options)) (*ListManagedMicrovmImageVersionsOutput, error)
}

// The names of the SDK for a list by ListManagedMicrovmImageVersions.
type (
	ListManagedMicrovmImageVersionsPaginator        = Paginator[wire.ListManagedMicrovmImageVersionsInput, wire.ListManagedMicrovmImageVersionsOutput]
	ListManagedMicrovmImageVersionsPaginatorOptions = PaginatorOptions
)

// NewListManagedMicrovmImageVersionsPaginator walks through ListManagedMicrovmImageVersions.
func NewListManagedMicrovmImageVersionsPaginator(c ListManagedMicrovmImageVersionsAPIClient, in *ListManagedMicrovmImageVersionsInput, optFns ...func(*ListManagedMicrovmImageVersionsPaginatorOptions)) *ListManagedMicrovmImageVersionsPaginator {
	return paginator(c.ListManagedMicrovmImageVersions, in,
		func(in *ListManagedMicrovmImageVersionsInput) **string { return &in.NextToken },
		func(in *ListManagedMicrovmImageVersionsInput) **int32 { return &in.MaxResults },
		func(out *ListManagedMicrovmImageVersionsOutput) *string { return out.NextToken }, optFns)
}
