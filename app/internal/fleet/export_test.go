package fleet

// Kept is how many bytes of output are kept of a call.
func (f *Fleet) Kept(id string) int {
	r, err := f.runByID(id)
	if err != nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, o := range r.kept {
		n += len(o.Data)
	}
	return n
}
