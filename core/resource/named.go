package resource

// named collects items that are called by name. Of two with one name the
// first is kept, or the one that was named for this run.
type named[T any] struct {
	items []T
	infos []Info
	index map[string]int
}

type clash struct{ kept, lost Info }

// add adds an item and says which of two was left out; nil: there was no
// other.
func (n *named[T]) add(name string, item T, info Info) *clash {
	at, twice := n.index[name]
	if !twice {
		if n.index == nil {
			n.index = map[string]int{}
		}
		n.index[name] = len(n.items)
		n.items = append(n.items, item)
		n.infos = append(n.infos, info)
		return nil
	}
	old := n.infos[at]
	if info.Scope == Temporary && old.Scope != Temporary {
		n.items[at], n.infos[at] = item, info
		return &clash{kept: info, lost: old}
	}
	return &clash{kept: old, lost: info}
}
