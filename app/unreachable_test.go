package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/arenero/arenero/app/internal/awsauth"
	"github.com/arenero/arenero/app/sandbox"
)

// What keeps us from AWS is told as that, whether it was met when credentials were
// had or later. A request that could not be signed was never sent, so that nothing
// is in doubt.
func TestUnreachableIsTold(t *testing.T) {
	for why, want := range map[awsauth.Obstacle]string{
		awsauth.Offline: "HTTPS_PROXY", awsauth.Stranger: "browser", awsauth.Untrusted: "AWS_CA_BUNDLE", awsauth.Busy: "in a moment",
	} {
		err := error(&awsauth.ErrUnreachable{Profile: "k", Action: "get a session", Host: "sts.example", Why: why, Err: errors.New("x")})
		signing := fmt.Errorf("run: %w", &v4.SigningError{Err: fmt.Errorf("get credentials: %w", err)})
		for name, got := range map[string]error{"account": accountError(err), "configuration": authError(err), "call": apiError(signing), "run": runError(signing)} {
			e, ok := errors.AsType[*sandbox.Error](got)
			if !ok || e.Code != sandbox.CloudDown || !e.Retryable || !strings.Contains(e.Msg, "profile k: ") || !strings.Contains(e.Msg, "sts.example") || !strings.Contains(e.Hint, want) {
				t.Errorf("%s, %s: %+v", why, name, got)
			}
			if ok && (e.Details["why"] != string(why) || e.Details["profile"] != "k") {
				t.Errorf("%s, %s: details %v", why, name, e.Details)
			}
		}
	}
	if got := authError(fmt.Errorf("read: %w", context.DeadlineExceeded)); sandbox.CodeOf(sandbox.ToError(got)) != sandbox.Timeout {
		t.Errorf("whoever waited too long: %v", got)
	}
}
