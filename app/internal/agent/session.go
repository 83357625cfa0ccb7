package agent

// A session is what the run hook has brought.
type session struct {
	id      string      // of the sandbox
	payload *runPayload // nil if there was none, or none that could be used
}

// digest is that of the access token, nil if there is none.
func (s *session) digest() *[32]byte {
	if s == nil || s.payload == nil {
		return nil
	}
	return &s.payload.token
}

// terms is the payload, or an empty one.
func (s *session) terms() runPayload {
	if s == nil || s.payload == nil {
		return runPayload{}
	}
	return *s.payload
}
