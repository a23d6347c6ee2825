// The filter over the cases, opening the case that a link names, and drawing its rankings once it
// is opened. Everything else is plain HTML.
"use strict";
(() => {
  const form = document.getElementById("filter");
  // No control is named as a method of elements is: it would hide that method of the form.
  const { text, outcome, kind, file, found } = form.elements;
  const cases = Array.from(document.querySelectorAll(".case"));
  const groups = Array.from(document.querySelectorAll(".own"));
  const contents = new Map();
  const drawn = new Set();

  const numberOf = (own) => own.querySelector(".inside").id.slice(1);
  // A line per case, read when it is needed.
  const lines = document.getElementById("rankings").textContent.split("\n");
  const rankingsOf = (own) => JSON.parse(lines[numberOf(own) - 1]);

  const content = (own) => {
    if (!contents.has(own)) {
      const words = `${own.textContent}\n${rankings.words(rankingsOf(own))}`;
      contents.set(own, words.toLowerCase());
    }
    return contents.get(own);
  };

  const draw = (own) => {
    if (drawn.has(own)) return;
    drawn.add(own);
    content(own); // What the filter finds does not depend on what was opened before.
    const figures = rankings.draw(rankingsOf(own), numberOf(own));
    const failure = own.querySelector(".failure");
    if (failure) failure.after(...figures);
    else own.querySelector(".inside").prepend(...figures);
  };
  // The event does not bubble.
  const toggled = ({ target }) => target.open && target.matches(".case") && draw(target);
  document.addEventListener("toggle", toggled, true);
  addEventListener("beforeprint", () => cases.filter((own) => !own.hidden).forEach(draw));

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
    draw(own);
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
