package app

import "sync"

// A queue does what it is given in order, and whoever gives it need not wait.
type queue struct {
	mu    sync.Mutex // guards what follows
	jobs  []func()
	ended bool
	more  *sync.Cond
	done  chan struct{}
}

func newQueue() *queue {
	q := &queue{done: make(chan struct{})}
	q.more = sync.NewCond(&q.mu)
	go q.work()
	return q
}

// add has do done in its turn. After close it is not.
func (q *queue) add(do func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ended {
		q.jobs = append(q.jobs, do)
		q.more.Signal()
	}
}

// flush waits until all that was added before is done.
func (q *queue) flush() {
	done := make(chan struct{})
	q.add(func() { close(done) })
	select {
	case <-done:
	case <-q.done:
	}
}

// close waits until all is done.
func (q *queue) close() {
	q.mu.Lock()
	q.ended = true
	q.more.Signal()
	q.mu.Unlock()
	<-q.done
}

func (q *queue) work() {
	defer close(q.done)
	for {
		q.mu.Lock()
		for len(q.jobs) == 0 && !q.ended {
			q.more.Wait()
		}
		jobs := q.jobs
		q.jobs = nil
		q.mu.Unlock()
		if len(jobs) == 0 {
			return
		}
		for _, do := range jobs {
			do()
		}
	}
}
