package extensions

import (
	"context"
	"fmt"
	"slices"
)

// Enter brings the extensions to those of a working folder, when the session
// goes there: those of the project that was left end when they have finished
// what they were called for, the project's own are started if it is trusted,
// and all others go on as they are. For the folder that they are of already it
// does nothing. It returns when the new ones are up, or have failed. When ctx
// ends first, those that are not are given up until the next reload, and it is
// an error. After Close the error is ErrClosed.
func (h *Host) Enter(ctx context.Context, dir string) error {
	select {
	case <-h.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	h.reloading.Lock()
	defer h.reloading.Unlock()
	if h.inForce().ProjectDir == dir {
		return nil
	}
	folder := Folder{ProjectDir: dir}
	if h.options.Elsewhere != nil {
		folder = h.options.Elsewhere(dir)
	}
	h.mu.Lock()
	if h.closing {
		h.mu.Unlock()
		return ErrClosed
	}
	h.folder = folder
	h.mu.Unlock()

	// What the project that was left brought has no say in the next.
	h.leave(h.discover(h.isTrusted()))
	if !h.isTrusted() {
		h.decideTrust(ctx)
	}
	err := h.join(ctx, h.discover(h.isTrusted()))
	h.setListeners()
	return err
}

// leave ends the extensions that are not among some sources.
func (h *Host) leave(sources []source) {
	var staying, leaving []*extension
	for _, x := range h.all() {
		if slices.ContainsFunc(sources, x.comesFrom) {
			staying = append(staying, x)
		} else {
			leaving = append(leaving, x)
		}
	}
	h.settle(staying)
	h.setListeners()
	for _, x := range leaving {
		x.retire()
		x.withdraw()
	}
}

// comesFrom says whether a source is that of the extension. Who named it counts
// too: it decides what the extension may.
func (x *extension) comesFrom(s source) bool {
	return x.source.path == s.path && x.source.info == s.info
}

// join starts the extensions of those sources that have none, side by side.
func (h *Host) join(ctx context.Context, sources []source) error {
	there := h.all()
	var list, fresh []*extension
	for _, s := range sources {
		at := slices.IndexFunc(there, func(x *extension) bool { return x.comesFrom(s) })
		if at >= 0 {
			list = append(list, there[at])
			continue
		}
		x := newExtension(h, s)
		x.takePlace()
		list, fresh = append(list, x), append(fresh, x)
	}
	h.settle(list)
	h.mu.Lock()
	if h.closing {
		h.mu.Unlock()
		return ErrClosed
	}
	for _, x := range fresh {
		h.supervisors.Go(x.supervise)
	}
	h.mu.Unlock()
	var cut error
	for _, x := range fresh {
		if !x.awaitStart(ctx) && ctx.Err() != nil && cut == nil {
			cut = fmt.Errorf("the start of %s was cut short, reload to try again: %w", x.displayName(), context.Cause(ctx))
		}
	}
	h.arrange()
	return cut
}
