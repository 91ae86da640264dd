"use strict";
(() => {
  const body = document.body;
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => Array.from(document.querySelectorAll(selector));

  // Branches. The page shows one path of segments. A segment remembers which
  // of those behind it was shown last.
  const segments = new Map(); // by number
  const behind = new Map(); // segments by the number of their parent
  const chosen = new Map(); // the segment shown last, by the number of its parent
  for (const s of all("section[data-segment]")) {
    const parent = s.dataset.parent;
    segments.set(s.dataset.segment, s);
    if (!behind.has(parent)) behind.set(parent, []);
    behind.get(parent).push(s);
    if (!s.hidden || !chosen.has(parent)) chosen.set(parent, s);
  }
  for (const [parent, list] of behind) {
    if (list.every((s) => s.hidden)) chosen.set(parent, list[list.length - 1]);
  }
  const outline = all("nav.outline li");

  function show(segment) {
    for (let s = segment; s; s = segments.get(s.dataset.parent)) chosen.set(s.dataset.parent, s);
    const path = new Set();
    for (let s = chosen.get("-1"); s; s = chosen.get(s.dataset.segment)) path.add(s);
    for (const s of segments.values()) s.hidden = !path.has(s);
    for (const item of outline) item.classList.toggle("off", !path.has(segments.get(item.dataset.segment)));
  }

  // reveal makes an element visible, whatever hides it, and scrolls there. The
  // sizes of what was never on the screen are guesses, so it looks again when
  // they are known.
  function reveal(element, block) {
    const section = element.closest("section[data-segment]");
    if (section && section.hidden) show(section);
    if (element.closest("article.tool")) tools(true);
    for (let d = element.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    const scroll = (again) => {
      element.scrollIntoView({ block });
      if (again > 0) requestAnimationFrame(() => scroll(again - 1));
    };
    scroll(3);
  }

  // aimed is where a link led, until the reader scrolls away from it. It need
  // not be at the top: the page may be too short below it.
  let aimed = null;
  for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"]) {
    window.addEventListener(kind, () => (aimed = null), { passive: true });
  }

  function followHash() {
    let id = location.hash.slice(1);
    try {
      id = decodeURIComponent(id);
    } catch {
      return; // not a link of ours
    }
    aimed = id && document.getElementById(id);
    if (!aimed) return;
    reveal(aimed, "start");
    follow();
  }

  // Search goes through all branches, a little at a time, so that typing and
  // scrolling go on meanwhile.
  const form = one("form[role=search]");
  const input = form.querySelector("input");
  const counter = form.querySelector("output");
  const found = typeof Highlight === "function" && CSS.highlights ? new Highlight() : null;
  if (found) CSS.highlights.set("found", found);
  let articles = null;
  let wanted = null; // nothing is looked for
  let hits = [];
  let at = -1;
  let searches = 0;
  let searching = null; // what the last search will end as

  const pause = () => new Promise((done) => setTimeout(done));

  async function find(text) {
    const search = ++searches;
    unmark();
    hits = [];
    at = -1;
    wanted = text ? new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi") : null;
    count();
    if (!wanted) return;
    articles = articles || all("article");
    let begun = performance.now();
    for (let i = 0; i < articles.length; i++) {
      if (articles[i].textContent.search(wanted) >= 0) hits.push(articles[i]);
      if (i % 16 === 0 && performance.now() - begun > 20) {
        count();
        await pause();
        if (search !== searches) return;
        begun = performance.now();
      }
    }
    count();
  }

  function count() {
    counter.textContent = wanted ? (at + 1 ? at + 1 + " / " : "") + hits.length : "";
  }

  function unmark() {
    if (found) found.clear();
    if (at >= 0) hits[at].classList.remove("hit");
  }

  async function go(step) {
    await searching;
    if (!hits.length) return;
    unmark();
    at = at < 0 && step < 0 ? hits.length - 1 : (at + step + hits.length) % hits.length;
    hits[at].classList.add("hit");
    const first = mark(hits[at]);
    reveal(first || hits[at], first ? "center" : "start");
    count();
  }

  // mark marks where the text stands in an article, and gives the element of
  // the first place.
  function mark(article) {
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    const nodes = [];
    let text = "";
    for (let n = walker.nextNode(); n; n = walker.nextNode()) {
      nodes.push({ node: n, start: text.length });
      text += n.data;
    }
    let first = null;
    let from = 0;
    let marked = 0;
    for (const match of text.matchAll(wanted)) {
      const place = (offset) => {
        while (from + 1 < nodes.length && nodes[from + 1].start <= offset) from++;
        return [nodes[from].node, offset - nodes[from].start];
      };
      const range = new Range();
      range.setStart(...place(match.index));
      first = first || range.startContainer.parentElement;
      range.setEnd(...place(match.index + match[0].length));
      if (found) found.add(range);
      if (++marked === 500) break;
    }
    return first;
  }

  let typing = 0;
  input.addEventListener("input", () => {
    clearTimeout(typing);
    searching = new Promise((done) => {
      typing = setTimeout(() => done(find(input.value.trim())), 150);
    });
  });
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    go(1);
  });
  document.addEventListener("keydown", (e) => {
    if (e.target === input) {
      if (e.key === "Escape") {
        input.value = "";
        find("");
        input.blur();
      } else if (e.key === "Enter" && e.shiftKey) {
        e.preventDefault();
        go(-1);
      }
    } else if (e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      input.focus();
    } else if (e.key === "Escape") {
      open(false);
    }
  });

  // Buttons.
  const button = (name) => one("button[data-do=" + name + "]");
  function tools(on) {
    body.classList.toggle("no-tools", !on);
    button("tools").setAttribute("aria-pressed", String(on));
  }
  function open(on) {
    body.classList.toggle("outlined", on);
    button("outline").setAttribute("aria-expanded", String(on));
    if (on) follow();
  }
  const actions = {
    next: () => go(1),
    previous: () => go(-1),
    tools: () => tools(body.classList.contains("no-tools")),
    outline: () => open(!body.classList.contains("outlined")),
    unfold: (b) => {
      const on = b.getAttribute("aria-pressed") !== "true";
      for (const d of all("details")) d.open = on;
      b.setAttribute("aria-pressed", String(on));
    },
  };
  document.addEventListener("click", (e) => {
    const b = e.target.closest("button");
    if (b && b.dataset.do) actions[b.dataset.do](b);
    if (b && b.dataset.show !== undefined) {
      const segment = segments.get(b.dataset.show);
      if (segment) {
        show(segment);
        reveal(segment, "start");
      }
    }
    const link = e.target.closest("a[href^='#']");
    if (link) {
      open(false);
      if (link.hash === location.hash) followHash(); // no event comes
    }
  });
  window.addEventListener("hashchange", followHash);

  // The outline shows where the reader is.
  const lines = new Map();
  for (const item of outline) lines.set(decodeURIComponent(item.firstElementChild.hash.slice(1)), item);
  const outlined = all("article[id]").filter((a) => lines.has(a.id));
  let current = null;
  // place is the line of the last outlined article above the reader's eyes.
  function place() {
    const bar = one(".bar").getBoundingClientRect();
    const main = one("main").getBoundingClientRect();
    const element = document.elementFromPoint(main.left + main.width / 2, Math.max(bar.bottom, 0) + 48);
    const article = element && element.closest("article");
    if (!article) return null;
    let low = 0;
    let high = outlined.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (outlined[middle].compareDocumentPosition(article) & Node.DOCUMENT_POSITION_PRECEDING) high = middle;
      else low = middle + 1;
    }
    let at = low - 1;
    while (at >= 0 && outlined[at].closest("section").hidden) at--;
    return at < 0 ? null : lines.get(outlined[at].id);
  }
  function follow() {
    const item = (aimed && lines.get(aimed.id)) || place();
    if (item === current) return;
    if (current) current.removeAttribute("aria-current");
    current = item;
    if (!item) return;
    item.setAttribute("aria-current", "true");
    const list = item.closest("nav");
    const box = item.getBoundingClientRect();
    const frame = list.getBoundingClientRect();
    if (box.top < frame.top || box.bottom > frame.bottom) list.scrollTop += box.top - frame.top - frame.height / 3;
  }
  let resting = 0;
  window.addEventListener(
    "scroll",
    () => {
      clearTimeout(resting);
      resting = setTimeout(follow, 100);
    },
    { passive: true },
  );

  followHash();
  follow();
})();
