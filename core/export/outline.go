package export

// outlineDepth is how far the outline indents at most: the screens of phones
// are narrow.
const outlineDepth = 5

// outlineChunk is chunkSize for the outline.
const outlineChunk = 64

// outlineItem is a line of the outline: a place in the conversation to go to.
type outlineItem struct {
	ID      string
	Segment int
	Depth   int
	Kind    string // class of the card
	Label   string
	Text    string
	Off     bool // it is not on the path that is shown first
}

// outlined says whether a card has a line in the outline: what people said,
// what stands for what was said, and what somebody has put a label on.
func (c *card) outlined() bool {
	return c.Kind == "user" || c.Kind == "summary" || c.Label != ""
}

// note puts a card into the outline of its segment. The first card of a branch
// is there in any case, so that there is a way to it.
func (s *segment) note(c *card) {
	if c.ID == "" || !c.outlined() && (len(s.siblings) == 1 || len(s.items) > 0) {
		return
	}
	text := c.Title
	if text == "" {
		text = c.Who
	}
	s.items = append(s.items, outlineItem{ID: c.ID, Segment: s.number, Kind: c.Kind, Label: c.Label, Text: text, Off: !s.active})
}

// outline lists the lines of all segments in the order of the conversation. At
// a branch, the ways that were left come first and are indented, so that the
// main way goes on below them at the left.
func outline(segments []*segment) []outlineItem {
	type step struct {
		segment *segment
		depth   int
	}
	var items []outlineItem
	var todo []step
	push := func(siblings []*segment, depth int) {
		on := mainWay(siblings)
		if on != nil {
			todo = append(todo, step{on, depth})
		}
		for i := len(siblings) - 1; i >= 0; i-- {
			if siblings[i] != on {
				todo = append(todo, step{siblings[i], min(depth+1, outlineDepth)})
			}
		}
	}
	if len(segments) > 0 {
		push(segments[0].siblings, 0)
	}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, item := range at.segment.items {
			item.Depth = at.depth
			items = append(items, item)
		}
		push(at.segment.children, at.depth)
	}
	return items
}
