package cloud

import (
	"context"
	"slices"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// When the base image and its versions came out, newest first.
var baseBorn = []time.Time{
	time.Date(2026, time.August, 3, 0, 0, 0, 0, time.UTC),
	time.Date(2026, time.June, 22, 0, 0, 0, 0, time.UTC),
}

func (s *Server) listManagedImages(_ context.Context, in *wire.ListManagedMicrovmImagesInput) (*wire.ListManagedMicrovmImagesOutput, error) {
	page, next, err := paginate(s.cursors, scopeOf("ListManagedMicrovmImages"), in.MaxResults, in.NextToken,
		[]string{s.managedArn()}, func(arn string) string { return arn })
	if err != nil {
		return nil, err
	}
	out := &wire.ListManagedMicrovmImagesOutput{Items: []wire.ManagedMicrovmImageSummary{}, NextToken: next}
	for _, arn := range page {
		out.Items = append(out.Items, wire.ManagedMicrovmImageSummary{
			ImageArn: new(arn), CreatedAt: new(baseBorn[len(baseBorn)-1]), UpdatedAt: new(baseBorn[0]),
		})
	}
	return out, nil
}

func (s *Server) listManagedVersions(_ context.Context, in *wire.ListManagedMicrovmImageVersionsInput) (*wire.ListManagedMicrovmImageVersionsOutput, error) {
	arn, err := s.parseImageArn(*in.ImageIdentifier, "Invalid ARN format")
	if err != nil {
		return nil, err
	}
	if arn.account != "aws" || arn.name != ManagedImage {
		return nil, notFound(kindImage, *in.ImageIdentifier)
	}
	// The key of a page is the place in the list: it has no other order.
	key := func(v string) string { return string(rune('a' + slices.Index(baseVersions, v))) }
	page, next, err := paginate(s.cursors, scopeOf("ListManagedMicrovmImageVersions", in.ImageIdentifier), in.MaxResults, in.NextToken, baseVersions, key)
	if err != nil {
		return nil, err
	}
	out := &wire.ListManagedMicrovmImageVersionsOutput{Items: []wire.ManagedMicrovmImageVersion{}, NextToken: next}
	for _, v := range page {
		born := baseBorn[slices.Index(baseVersions, v)]
		out.Items = append(out.Items, wire.ManagedMicrovmImageVersion{
			ImageArn: new(s.managedArn()), ImageVersion: new(v), Status: wire.ManagedMicrovmImageVersionStatusAvailable,
			CreatedAt: new(born), UpdatedAt: new(born),
		})
	}
	return out, nil
}
