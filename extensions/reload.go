package extensions

import (
	"context"
	"fmt"
)

// Reload brings the extensions to what is on disk now. New processes are
// started first; then they take the place of the old ones, which end when
// they have finished what they were called for. An extension that does not
// start any more is reported, and its old process stays. Reload returns when
// the new ones are up. When ctx ends first, those that are not are given up,
// and it is an error.
func (h *Host) Reload(ctx context.Context) error {
	select {
	case <-h.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	h.reloading.Lock()
	defer h.reloading.Unlock()
	fresh, old, err := h.startAnew(ctx)
	if err != nil {
		return err
	}
	list, leaving, cut := relieve(ctx, fresh, old)
	h.settle(list)
	for _, x := range leaving {
		x.retire()
	}
	for _, x := range list {
		x.takeOver()
	}
	h.arrange()
	h.setListeners()
	return cut
}

// startAnew starts what is on disk now beside what runs, which it gives by
// path.
func (h *Host) startAnew(ctx context.Context) (fresh []*extension, old map[string]*extension, err error) {
	sources := h.discover(h.isTrusted() || h.decideTrust(ctx))
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closing {
		return nil, nil, ErrClosed
	}
	old = map[string]*extension{}
	for _, x := range h.extensions {
		old[x.source.path] = x
	}
	for _, s := range sources {
		x := newExtension(h, s)
		x.candidate = true
		h.supervisors.Go(x.supervise)
		fresh = append(fresh, x)
	}
	return fresh, old, nil
}

// relieve waits for those that were started anew, and says who is to be there
// then and who leaves. cut is the error where ctx did not let all come up.
func relieve(ctx context.Context, fresh []*extension, old map[string]*extension) (list, leaving []*extension, cut error) {
	for _, x := range fresh {
		up := x.awaitStart(ctx)
		if !up && ctx.Err() != nil {
			cut = fmt.Errorf("the reload was cut short, and what was not up yet stays as it was: %w", context.Cause(ctx))
		}
		before := old[x.source.path]
		delete(old, x.source.path)
		switch {
		case !up && before != nil && (before.running() || cut != nil):
			list, leaving = append(list, before), append(leaving, x)
		case before != nil:
			list, leaving = append(list, x), append(leaving, before)
		default:
			x.takePlace()
			list = append(list, x)
		}
	}
	for _, gone := range old {
		leaving = append(leaving, gone)
		gone.retire()
		gone.withdraw()
	}
	return list, leaving, cut
}
