package cloud

import (
	"context"
	"maps"
	"strings"
	"time"

	"github.com/arenero/arenero/app/internal/microvm/wire"
)

// maxTags is how many tags a resource may have.
const maxTags = 50

// taggable refuses resources that have no tags. VMs have no ARN at all.
func (s *Server) taggable(arn string) error {
	parts := strings.Split(arn, ":")
	if len(parts) < 7 || parts[0] != "arn" || !strings.HasPrefix(parts[1], "aws") || parts[2] != "lambda" || !accountID.MatchString(parts[4]) {
		return newError(wire.InvalidParameterValue, "1 validation error detected: Value at 'resource' failed to satisfy constraint: "+
			"Member must be the ARN of a Lambda resource that can be tagged")
	}
	if parts[5] != "microvm-image" || parts[4] == "aws" {
		return notFound("Resource", printable(arn))
	}
	return nil
}

func (s *Server) listTags(_ context.Context, in *wire.ListTagsInput) (*wire.ListTagsOutput, error) {
	if err := s.taggable(*in.Resource); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	img, err := s.imageLocked(*in.Resource)
	if err != nil {
		return nil, err
	}
	tags := maps.Clone(img.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	return &wire.ListTagsOutput{Tags: tags}, nil
}

func (s *Server) tagResource(_ context.Context, in *wire.TagResourceInput) (nothing, error) {
	if err := s.taggable(*in.Resource); err != nil {
		return nothing{}, err
	}
	_, err := s.changeImage(*in.Resource, func(img *image, _ time.Time) error {
		if img.Tags == nil {
			img.Tags = map[string]string{}
		}
		maps.Copy(img.Tags, in.Tags)
		if len(img.Tags) > maxTags {
			return newError(wire.InvalidParameterValue, "A resource can have at most 50 tags.")
		}
		return nil
	})
	return nothing{}, err
}

func (s *Server) untagResource(_ context.Context, in *wire.UntagResourceInput) (nothing, error) {
	if err := s.taggable(*in.Resource); err != nil {
		return nothing{}, err
	}
	_, err := s.changeImage(*in.Resource, func(img *image, _ time.Time) error {
		for _, key := range in.TagKeys {
			delete(img.Tags, key)
		}
		return nil
	})
	return nothing{}, err
}
