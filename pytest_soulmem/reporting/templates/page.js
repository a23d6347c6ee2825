// The filter over the cases, and opening the case that a link names. Everything else is plain HTML.
"use strict";
(() => {
  const form = document.getElementById("filter");
  // No control is named as a method of elements is: it would hide that method of the form.
  const { text, outcome, kind, file, found } = form.elements;
  const cases = Array.from(document.querySelectorAll(".case"));
  const groups = Array.from(document.querySelectorAll(".own"));
  const contents = new Map();

  const content = (own) => {
    if (!contents.has(own)) contents.set(own, own.textContent.toLowerCase());
    return contents.get(own);
  };

  const fits = (own, words) =>
    (!outcome.value || own.dataset.outcome === outcome.value) &&
    (!kind.value || own.dataset.kind === kind.value) &&
    (!file.value || own.dataset.file === file.value) &&
    words.every((word) => content(own).includes(word));

  const apply = () => {
    const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const own of cases) {
      own.hidden = !fits(own, words);
      if (!own.hidden) shown += 1;
    }
    for (const group of groups) group.hidden = !group.querySelector(".case:not([hidden])");
    found.value = shown === cases.length ? `${shown} cases` : `${shown} of ${cases.length} cases`;
  };

  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));

  const reveal = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const own = target && target.closest(".case");
    if (!own) return;
    if (own.hidden) {
      form.reset();
      for (const other of [...cases, ...groups]) other.hidden = false;
    }
    own.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);

  // Where the style sheet cannot open what is printed.
  if (!CSS.supports("selector(::details-content)")) {
    let closed = [];
    addEventListener("beforeprint", () => {
      closed = cases.filter((own) => !own.open);
      for (const own of closed) own.open = true;
    });
    addEventListener("afterprint", () => {
      for (const own of closed) own.open = false;
    });
  }

  form.hidden = false;
  apply();
  reveal();
})();
