"use strict";
(() => {
  const sections = new Map();
  for (const s of document.querySelectorAll("section[data-segment]")) sections.set(s.dataset.segment, s);
  const children = new Map();
  for (const s of sections.values()) {
    const list = children.get(s.dataset.parent) || [];
    list.push(s);
    children.set(s.dataset.parent, list);
  }

  // show makes a segment visible, with the way to it and one way on from it.
  function show(segment) {
    const path = new Set();
    for (let s = segment; s; s = sections.get(s.dataset.parent)) path.add(s);
    for (let s = segment; s;) {
      path.add(s);
      const next = children.get(s.dataset.segment) || [];
      s = next.find((n) => !n.hidden) || next[next.length - 1];
    }
    for (const s of sections.values()) s.hidden = !path.has(s);
  }

  function reveal(element) {
    const section = element.closest("section[data-segment]");
    if (section && section.hidden) show(section);
    for (let d = element.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    element.scrollIntoView({ block: "start" });
  }

  function followHash() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) reveal(target);
  }

  const form = document.querySelector(".search");
  const input = form.querySelector("input");
  const counter = form.querySelector("output");
  let texts = null;
  let hits = [];
  let at = -1;

  function find() {
    for (const h of hits) h.classList.remove("hit");
    const wanted = input.value.trim().toLowerCase();
    hits = [];
    at = -1;
    if (wanted !== "") {
      if (!texts) texts = Array.from(document.querySelectorAll("article"), (a) => [a, a.textContent.toLowerCase()]);
      for (const [article, text] of texts) if (text.includes(wanted)) hits.push(article);
    }
    count();
  }

  function count() {
    counter.textContent = input.value.trim() === "" ? "" : (hits.length ? Math.max(at + 1, 1) : 0) + " / " + hits.length;
  }

  function go(step) {
    if (!hits.length) return;
    if (at >= 0) hits[at].classList.remove("hit");
    at = (at + step + hits.length) % hits.length;
    hits[at].classList.add("hit");
    reveal(hits[at]);
    count();
  }

  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, 150);
  });
  form.addEventListener("submit", (e) => {
    e.preventDefault();
    go(1);
  });
  document.addEventListener("click", (e) => {
    const button = e.target.closest("button");
    if (!button) return;
    if (button.dataset.show !== undefined) {
      const segment = sections.get(button.dataset.show);
      if (segment) {
        show(segment);
        segment.scrollIntoView({ block: "nearest" });
      }
    } else if (button.dataset.go !== undefined) {
      go(Number(button.dataset.go));
    } else if (button.dataset.fold !== undefined) {
      const open = button.textContent === "Unfold";
      for (const d of document.querySelectorAll("details")) d.open = open;
      button.textContent = open ? "Fold" : "Unfold";
    }
  });
  window.addEventListener("hashchange", followHash);
  followHash();
})();
