// The rankings of a case, drawn from its data: tables, and what association moved.
"use strict";
const rankings = (() => {
  const [ROW, PAD] = [19, 22];
  const ID_COLUMNS = 20;

  const elements = (space) => (name, attributes, ...children) => {
    const own = document.createElementNS(space, name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== "") own.setAttribute(key, value);
    }
    own.append(...children);
    return own;
  };
  const html = elements("http://www.w3.org/1999/xhtml");
  const svg = elements("http://www.w3.org/2000/svg");

  // As Python rounds: a half goes to the even digit. And no zero has a minus.
  const fixed = (value, digits) => {
    const half = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
    const rounded = value.toFixed(digits);
    const odd = half && rounded.at(-1) % 2 === 1;
    const less = value - Math.sign(value) * (10 ** -digits / 4);
    return (odd ? less.toFixed(digits) : rounded).replace(/^-(?=[0.]+$)/, "");
  };

  const similarity = ({ channels }) => channels.similarity ?? 0;
  const pagerank = ({ channels }) => channels.pagerank ?? 0;
  const lifted = (hit) => pagerank(hit) > similarity(hit);
  const came = (hit) => hit.rank !== null;
  const withRole = (hits, role) => hits.filter((hit) => hit.role === role);

  // What came back, best first, then what should have.
  const listed = ({ expected, retrieved }) => [
    ...retrieved,
    ...expected.filter((hit) => !came(hit)),
  ];

  // Of the expected ids their place among those, or that they are a bonus.
  const placesOf = (expected) =>
    new Map([
      ...expected.map((hit) => [hit.id, "bonus"]),
      ...withRole(expected, "must").map((hit, at) => [hit.id, at + 1]),
    ]);

  // Places that each memory stands higher than by similarity alone; none if none moved.
  const movesOf = (retrieved, channels) => {
    if (!channels.includes("pagerank")) return null;
    // Of two alike, the one that stands higher comes first: sorting is stable.
    const sorted = [...retrieved].sort((one, other) => similarity(other) - similarity(one));
    const moves = new Map(sorted.map((hit, at) => [hit.id, at + 1 - hit.rank]));
    return [...moves.values()].some(Boolean) ? moves : null;
  };

  const found = (expected) => {
    const parts = [["must", "expected"], ["bonus", "bonus"]].flatMap(([role, name]) => {
      const own = withRole(expected, role);
      return own.length ? [`${own.filter(came).length} of ${own.length} ${name}`] : [];
    });
    return parts.length ? `${parts.join(" and ")} came back` : "nothing was expected";
  };

  const arrow = (places = 0) => (places ? `${places > 0 ? "▲" : "▼"} ${Math.abs(places)}` : "");

  const score = (value) => html("td", {}, value === null ? "" : fixed(value, 4));

  const bar = ({ channels }, channel, highest) => {
    const value = Object.hasOwn(channels, channel) ? channels[channel] : null;
    if (value === null) return html("td", {}, "·");
    const text = fixed(value, 3);
    const share = Math.floor(Math.round(1000 * Math.min(Math.max(text, 0), 1)) / 10);
    const strong = value === highest && text > 0 ? " strong" : "";
    return html("td", { class: `b${share}${strong}` }, text);
  };

  const row = (hit, { places, moves, keyed, channels }) => {
    const place = places.get(hit.id) ?? "";
    const style = came(hit) ? place && "wanted" : "missing";
    const highest = Math.max(similarity(hit), pagerank(hit));
    return html(
      "tr",
      { class: style },
      html("td", {}, came(hit) ? hit.rank : "missing"),
      html("td", {}, place),
      html("th", { scope: "row" }, hit.id),
      ...(moves ? [html("td", {}, arrow(moves.get(hit.id)))] : []),
      score(hit.score),
      ...(keyed ? [score(hit.key)] : []),
      ...channels.map((channel) => bar(hit, channel, highest)),
    );
  };

  const table = (hits, view) => {
    const head = (name, style = "n") => html("th", { scope: "col", class: style }, name);
    const heads = [
      head("rank"),
      head("expected"),
      head("memory", ""),
      ...(view.moves ? [head("moved", "")] : []),
      head("score"),
      ...(view.keyed ? [head("key")] : []),
      ...view.channels.map((channel) => head(channel)),
    ];
    return html(
      "table",
      { class: "ranking" },
      html("thead", {}, html("tr", {}, ...heads)),
      html("tbody", {}, ...hits.map((hit) => row(hit, view))),
    );
  };

  // What stands for one character; older browsers cannot tell, and take code points.
  const graphemes = Intl.Segmenter && new Intl.Segmenter();
  const characters = (text) =>
    graphemes ? Array.from(graphemes.segment(text), ({ segment }) => segment) : Array.from(text);
  const WIDE =
    /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}\p{Emoji_Presentation}\u3001-\u303e\uff01-\uff60]/u;

  // The beginning of an id, as much as fits beside the drawing.
  const clipped = (id) => {
    let columns = 0;
    let fitting = "";
    let whole = "";
    for (const character of characters(id)) {
      if (columns < ID_COLUMNS) fitting = whole;
      columns += WIDE.test(character) ? 2 : 1;
      whole += character;
    }
    return columns > ID_COLUMNS ? `${fitting}…` : id;
  };

  // One memory: its height by similarity on the left, by rank on the right.
  const slope = (hit, moved) => {
    const right = PAD + ROW * hit.rank;
    const left = right + ROW * moved;
    const direction = moved > 0 ? "up" : moved < 0 ? "down" : "";
    const style = lifted(hit) ? `lifted ${direction}`.trim() : direction;
    return [
      svg("path", { class: `slope ${style}`.trim(), d: `M154 ${left}L226 ${right}` }),
      svg("text", { class: `end ${style}`.trim(), x: 146, y: left + 4 }, fixed(similarity(hit), 3)),
      svg("text", { class: style, x: 234, y: right + 4 }, clipped(hit.id)),
    ];
  };

  // Order by similarity alone against the final order.
  const slopes = (title, retrieved, moves) => {
    const ups = retrieved
      .filter((hit) => moves.get(hit.id) > 0)
      .map((hit) => {
        const why = lifted(hit) ? " (PageRank above similarity)" : "";
        return `${hit.id} up ${moves.get(hit.id)}${why}`;
      });
    const words = `Moved up: ${ups.join("; ")}`;
    return html(
      "figure",
      { class: "slopes" },
      svg(
        "svg",
        {
          viewBox: `0 0 380 ${2 * PAD + ROW * retrieved.length}`,
          role: "img",
          "aria-label": `${title}: order by similarity alone against the final order. ${words}`,
        },
        svg(
          "g",
          { "aria-hidden": "true" },
          svg("text", { class: "end title", x: 146, y: 14 }, "by similarity"),
          svg("text", { class: "title", x: 234, y: 14 }, "final order"),
          ...retrieved.flatMap((hit) => slope(hit, moves.get(hit.id))),
        ),
      ),
      html("figcaption", { class: "words" }, `${words}.`),
    );
  };

  const drawn = (ranking, number) => {
    const { title, expected, retrieved } = ranking;
    const hits = listed(ranking);
    const heading = html("h4", {}, `${title} `, html("small", {}, found(expected)));
    if (!hits.length) return [heading, html("p", { class: "quiet" }, "Nothing came back.")];
    const channels = [...new Set(hits.flatMap((hit) => Object.keys(hit.channels)))];
    const moves = movesOf(retrieved, channels);
    const keyed = hits.some((hit) => hit.key !== null);
    const scroll = {
      class: "scroll",
      tabindex: "0",
      role: "group",
      "aria-label": `${title}, case ${number}`,
    };
    return [
      heading,
      html("div", scroll, table(hits, { places: placesOf(expected), moves, keyed, channels })),
      ...(moves ? [slopes(title, retrieved, moves)] : []),
    ];
  };

  // What each sub-query found on its own, where there are several.
  const answers = (subQueries) =>
    (subQueries.length > 1 ? subQueries : []).map(({ q, retrieved }) => [
      `sub-query ${q}`,
      retrieved.map((hit) => `${hit.id} ${fixed(hit.score, 4)}`).join(", ") || "nothing",
    ]);

  const asked = (subQueries) => {
    const facts = answers(subQueries).map(([name, found]) =>
      html("div", {}, html("dt", {}, name), html("dd", {}, found)),
    );
    if (!facts.length) return [];
    return [html("h4", {}, "Sub-queries"), html("dl", { class: "facts" }, ...facts)];
  };

  return {
    draw: ({ rankings, sub_queries }, number) => [
      ...rankings.flatMap((ranking) => drawn(ranking, number)),
      ...asked(sub_queries),
    ],
    // What the filter finds in them.
    words: ({ rankings, sub_queries }) =>
      [
        ...rankings.flatMap((ranking) => [
          ranking.title,
          ...listed(ranking).map((hit) => (came(hit) ? hit.id : `${hit.id} missing`)),
        ]),
        ...answers(sub_queries).flat(),
      ].join("\n"),
  };
})();
