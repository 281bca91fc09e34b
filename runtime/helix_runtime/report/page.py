"""The style and the script of `report.html`: constants, no word of a stranger.

The page's policy names both by their hash, so nothing else can style or run.
The script builds every node with `textContent`: no text can become markup.
"""

from typing import Final

STYLE: Final = r"""
:root {
  color-scheme: light dark;
  --bg: #f6f7f9; --card: #ffffff; --ink: #1a1f2b; --dim: #565e6f; --line: #dfe3ea;
  --pass: #146b3e; --fail: #c0262d; --open: #8f5b00; --accent: #2456c8;
  --pass-bg: #e3f5ea; --fail-bg: #fdeaea; --open-bg: #fdf1d8; --code: #f0f2f6;
  --bar-open: #e0a526; --bar-none: #d3d8e0; --mark: #ffe08a;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --bg: #12151b; --card: #1a1e27; --ink: #e7eaf0; --dim: #a3abbb; --line: #2c3240;
    --pass: #5fd394; --fail: #ff8a8a; --open: #f0bd57; --accent: #8fb4ff;
    --pass-bg: #14331f; --fail-bg: #421c20; --open-bg: #3a2c0f; --code: #232936;
    --bar-open: #d39a2a; --bar-none: #3a4150; --mark: #6b5310;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--bg); color: var(--ink); overflow-wrap: anywhere;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main, header.top, footer { max-width: 1180px; margin: 0 auto; padding: 0 24px; }
header.top { padding-top: 32px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 12px; top: 12px; background: var(--card); padding: 8px 12px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0; overflow-wrap: anywhere; }
h1 small { font-size: 15px; font-weight: 400; color: var(--dim); margin-left: 6px; }
h2 { font-size: 17px; margin: 36px 0 12px; }
h3 { font-size: 15px; margin: 0; }
a { color: var(--accent); }
code, pre, .mono { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code { font-size: 13px; }
.meta { margin: 8px 0 0; padding: 0; list-style: none; color: var(--dim);
  display: flex; flex-wrap: wrap; gap: 4px 22px; font-size: 14px; }
.meta b { font-weight: 500; color: var(--ink); overflow-wrap: anywhere; }
.gate { display: flex; gap: 20px; align-items: center; margin: 22px 0 0; padding: 18px 22px;
  border-radius: 12px; border: 1px solid var(--line); border-left: 8px solid;
  background: var(--card); }
.gate strong { font-size: 22px; letter-spacing: .04em; white-space: nowrap; }
.gate p { margin: 0; font-size: 16px; overflow-wrap: anywhere; }
.named { list-style: none; margin: 6px 0 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: 4px 18px; font-size: 14.5px; }
.named .fail a { color: var(--fail); } .named .open a { color: var(--open); }
.gate .held { color: var(--open); font-weight: 600; font-size: 15px; margin-top: 2px; }
.broken { margin: 0; padding: 8px 18px; list-style: none; border-left: 4px solid var(--fail); }
.broken li { padding: 6px 0; overflow-wrap: anywhere; }
.broken b { font-weight: 600; }
.broken .why { color: var(--dim); margin: 2px 0 0; font-size: 14px; }
.gate.pass { border-left-color: var(--pass); } .gate.pass strong { color: var(--pass); }
.gate.fail { border-left-color: var(--fail); } .gate.fail strong { color: var(--fail); }
.gate.incomplete { border-left-color: var(--open); }
.gate.incomplete strong { color: var(--open); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.two { display: grid; grid-template-columns: 3fr 2fr; gap: 20px; align-items: start; }
.two.one { grid-template-columns: 1fr; }
.two h2 { margin-top: 28px; }
@media (max-width: 860px) { .two { grid-template-columns: 1fr; gap: 0; } }
.parts { list-style: none; margin: 0; padding: 6px 18px; }
.parts li { padding: 9px 0; border-bottom: 1px solid var(--line); display: grid;
  grid-template-columns: 108px 1fr; gap: 2px 12px; }
.parts li:last-child { border: 0; }
.parts .why { grid-column: 2; color: var(--dim); font-size: 14px; margin: 0;
  overflow-wrap: anywhere; }
.parts .why a { color: inherit; }
.parts .name { overflow-wrap: anywhere; font-weight: 600; }
ol.steps { margin: 0; padding: 14px 18px 14px 40px; }
ol.steps li { margin: 4px 0; overflow-wrap: anywhere; }
.badge { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 12.5px;
  font-weight: 600; white-space: nowrap; line-height: 1.6; justify-self: start;
  align-self: start; }
.badge.pass { color: var(--pass); background: var(--pass-bg); }
.badge.fail { color: var(--fail); background: var(--fail-bg); }
.badge.open { color: var(--open); background: var(--open-bg); }
.badge.none { color: var(--dim); background: var(--code); }
.filters { display: flex; flex-wrap: wrap; gap: 10px 16px; align-items: center;
  padding: 12px 16px; border-bottom: 1px solid var(--line); }
.filters label { font-size: 14px; display: inline-flex; gap: 6px; align-items: center; }
.filters output { margin-left: auto; color: var(--dim); font-size: 14px; }
input[type=search], select, button { font: inherit; font-size: 14px; color: var(--ink);
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 6px 10px; }
input[type=search] { min-width: 220px; }
button { cursor: pointer; }
button:hover { border-color: var(--accent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; font-weight: 500; color: var(--dim); font-size: 13px;
  padding: 10px 12px; border-bottom: 1px solid var(--line); white-space: nowrap; }
td { padding: 11px 12px; border-bottom: 1px solid var(--line); vertical-align: top; }
tbody:last-child tr:last-child td { border-bottom: 0; }
td.num, th.num { text-align: right; font-variant-numeric: tabular-nums;
  white-space: nowrap; }
td.num small { display: block; color: var(--dim); font-size: 12.5px; }
.criterion { min-width: 250px; }
.criterion > button { border: 0; padding: 0; background: none; font-weight: 600;
  text-align: left; overflow-wrap: anywhere; font-size: 14.5px; color: var(--ink); }
.criterion > button::before { content: "\25B8"; display: inline-block; width: 1.1em;
  color: var(--dim); }
.criterion > button[aria-expanded=true]::before { content: "\25BE"; }
.criterion > button:hover { color: var(--accent); }
.criterion p { margin: 2px 0 0 1.15em; color: var(--dim); font-size: 13.5px;
  overflow-wrap: anywhere; }
.sev { font-weight: 600; font-size: 13px; } .sev.advises { font-weight: 400;
  color: var(--dim); }
svg.bar { display: block; width: 170px; height: 10px; border-radius: 5px;
  margin: 6px 0 3px; }
.bar .p { fill: var(--pass); } .bar .f { fill: var(--fail); }
.bar .o { fill: var(--bar-open); } .bar .n { fill: var(--bar-none); }
.tally { color: var(--dim); font-size: 13px; white-space: nowrap; }
td.panel { background: var(--bg); padding: 18px 20px; }
.lead { margin: 0 0 4px; overflow-wrap: anywhere; white-space: pre-wrap; }
.dim { color: var(--dim); }
.small { font-size: 13.5px; }
.unit { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 13px 16px; margin: 12px 0 0; }
.unit header { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; }
.unit h4, .plain h3 { margin: 0; font-size: 14.5px; }
.plain { padding: 14px 18px; margin: 0 0 14px; } .plain .lead { margin-top: 6px; }
.unit h3 { overflow-wrap: anywhere; font-size: 14.5px; }
.unit .said { margin: 8px 0 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.refs { margin: 10px 0 0; padding: 0; list-style: none; }
.refs li { border-left: 3px solid var(--line); padding: 1px 0 1px 10px; margin: 5px 0; }
.refs .place { color: var(--dim); font-size: 13px; overflow-wrap: anywhere; }
.refs pre, .turn pre { margin: 2px 0 0; white-space: pre-wrap; overflow-wrap: anywhere;
  font-size: 13px; }
.unit > button, .more { margin-top: 12px; }
.turn { margin: 10px 0 0; padding: 8px 12px; border-radius: 8px; background: var(--code); }
.turn b { font-size: 12.5px; color: var(--dim); font-weight: 600; }
.turn.bad { box-shadow: inset 3px 0 0 var(--fail); }
.turn.quoted { outline: 2px solid var(--bar-open); outline-offset: -2px; }
.turn b i { font-style: normal; color: var(--open); margin-left: 8px; }
mark { background: var(--mark); color: var(--ink); border-radius: 3px;
  box-shadow: 0 0 0 2px var(--mark); }
.refs button.place { border: 0; padding: 0; background: none; color: var(--accent);
  font-size: 13px; text-align: left; text-decoration: underline; }
.said, .query, .lead, .criterion p, .refs pre, .turn pre { unicode-bidi: plaintext; }
.criterion > button, .case > button, .name, .named a, code, h3, h4 { unicode-bidi: isolate; }
.note { margin: 0; padding: 10px 16px; color: var(--dim); font-size: 13.5px; }
.legend span.key { display: inline-block; margin-left: 10px; white-space: nowrap; }
.case { border-top: 1px solid var(--line); padding: 10px 16px; display: grid;
  grid-template-columns: minmax(0, 4fr) minmax(0, 5fr) minmax(0, 5fr); gap: 4px 16px;
  align-items: start; }
.case > button { border: 0; padding: 0; background: none; font-weight: 600;
  text-align: left; overflow-wrap: anywhere; font-size: 14px; color: var(--ink); }
.case > button::before { content: "\25B8"; display: inline-block; width: 1.1em;
  color: var(--dim); }
.case > button[aria-expanded=true]::before { content: "\25BE"; }
.case > button:hover { color: var(--accent); }
.case .query, .unit .query { margin: 0; color: var(--dim); font-size: 13.5px;
  overflow-wrap: anywhere; }
.unit .query { margin-top: 6px; }
.case .inside { grid-column: 1 / -1; }
.chips { display: flex; flex-wrap: wrap; gap: 4px; }
.chip { display: inline-block; min-width: 21px; text-align: center; border-radius: 5px;
  font-size: 12px; line-height: 19px; font-weight: 700; }
.chip.pass { color: var(--pass); background: var(--pass-bg); }
.chip.fail { color: var(--fail); background: var(--fail-bg); }
.chip.open { color: var(--open); background: var(--open-bg); }
.chip.none { color: var(--dim); background: var(--code); font-weight: 400; }
.inside .line { margin: 6px 0 0; display: flex; gap: 10px; flex-wrap: wrap;
  align-items: baseline; overflow-wrap: anywhere; font-size: 14px; }
#more-cases { margin: 12px 16px; }
.panel .filters { padding: 0; border: 0; margin: 12px 0 0; }
footer { padding-top: 28px; padding-bottom: 48px; color: var(--dim); font-size: 13.5px; }
footer code { overflow-wrap: anywhere; }
@media (max-width: 760px) {
  main, header.top, footer { padding-left: 14px; padding-right: 14px; }
  .gate { flex-direction: column; align-items: flex-start; gap: 6px; padding: 14px 16px; }
  .parts li { grid-template-columns: 1fr; } .parts .why { grid-column: 1; }
  .case { grid-template-columns: minmax(0, 1fr); padding: 10px 14px; }
  .filters label { flex: 1 1 100%; } .filters label > * { flex: 1; min-width: 0; }
  .filters output { margin-left: 0; }
}
@media print, (max-width: 1000px) {
  thead { position: absolute; left: -9999px; }
  table, tbody, td { display: block; }
  tbody { border-bottom: 1px solid var(--line); padding: 10px 14px; }
  tbody[data-criterion] > tr:first-child { display: flex; flex-wrap: wrap; gap: 4px 16px; }
  tr.detail { display: block; }
  td { border: 0; padding: 0; }
  td.criterion { flex: 1 0 100%; min-width: 0; }
  td.units { flex: 0 0 200px; } td.units .tally { white-space: normal; }
  td.num { text-align: left; white-space: normal; font-size: 13.5px; }
  td.num small { display: inline; margin-left: 6px; }
  td.num::before { content: attr(data-label) " "; color: var(--dim); }
  td .sev + br { display: none; } td .sev::after { content: " "; white-space: pre; }
  td.panel { padding: 10px 0 4px; background: none; }
}
@media (max-width: 760px) { td.units { flex-basis: 100%; } }
[hidden] { display: none !important; }
@media (scripting: none) {
  .filters, .scripted { display: none; }
  .criterion > button::before { content: none; } .criterion p { margin-left: 0; }
}
@media print {
  .filters, .skip, .unit > button, .more { display: none !important; }
  body { background: #fff; font-size: 13px; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  .unit, .case, .parts li, .gate, .turn { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
"""

SCRIPT: Final = r"""
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const PAGE = 25;
  const KIND = { pass: "pass", fail: "fail", na: "none" };
  const make = (tag, className, text) => {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  };
  const count = (n, one, many) =>
    n.toLocaleString("en") + " " + (n === 1 ? one : many || one + "s");

  const rows = [...document.querySelectorAll("tbody[data-criterion]")];
  const search = document.getElementById("search");
  const verdict = document.getElementById("verdict");
  const severity = document.getElementById("severity");
  const status = document.getElementById("shown");
  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.dataset.text;
      const fits = words.every((word) => text.includes(word))
        && (!verdict.value || row.dataset.verdict === verdict.value)
        && (!severity.value || row.dataset.severity === severity.value);
      row.hidden = !fits;
      shown += fits;
    }
    status.textContent = shown === rows.length
      ? count(shown, "criterion", "criteria")
      : shown.toLocaleString("en") + " of " + count(rows.length, "criterion", "criteria");
  };
  if (search) {
    for (const control of [search, verdict, severity]) {
      control.addEventListener("input", filter);
    }
    filter();
  }

  // Marks what is quoted in a text, in whichever layout of its white space.
  const marked = (text, values) => {
    const node = make("pre");
    const words = values
      .map((value) => value.replace(/\u2026$/, "").trim())
      .filter((value) => value.length > 2)
      .sort((one, other) => other.length - one.length)
      .map((value) => value.split(/\s+/)
        .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("\\s+"));
    let done = 0;
    if (words.length) {
      for (const found of text.matchAll(new RegExp(words.join("|"), "g"))) {
        node.append(text.slice(done, found.index), make("mark", "", found[0]));
        done = found.index + found[0].length;
      }
    }
    node.append(text.slice(done));
    return node;
  };
  const showRun = (card, unit) => {
    const box = make("div", "run");
    const turns = data.traces[unit.trace];
    turns.turns.forEach((turn, number) => {
      const quotes = unit.refs.filter((ref) => ref[2] === number);
      const node = make("div", "turn" + (turn.bad ? " bad" : "")
        + (quotes.length ? " quoted" : ""));
      const who = make("b", "", turn.who);
      if (quotes.length) who.append(make("i", "", "quoted as evidence"));
      node.append(who);
      if (turn.text) node.append(marked(turn.text, quotes.map((ref) => ref[1])));
      node.tabIndex = -1;
      box.append(node);
    });
    if (turns.cut) box.append(make("p", "dim small", turns.cut));
    card.append(box);
    return box;
  };

  const runButton = (card, unit) => {
    const button = make("button", "", "Show the run");
    button.type = "button";
    button.setAttribute("aria-expanded", "false");
    let box = null;
    const toggle = () => {
      if (box === null) box = showRun(card, unit);
      else box.hidden = !box.hidden;
      button.textContent = box.hidden ? "Show the run" : "Hide the run";
      button.setAttribute("aria-expanded", String(!box.hidden));
    };
    button.addEventListener("click", toggle);
    const show = (number) => {
      if (box === null || box.hidden) toggle();
      const turn = box.children[number];
      turn.scrollIntoView({ block: "center" });
      turn.focus({ preventScroll: true });
    };
    return { button, show };
  };
  const showUnit = (unit, under) => {
    const card = make("article", "unit");
    const head = make("header");
    head.append(make("span", "badge " + (KIND[unit.result] || "open"), unit.result));
    head.append(make("h3", "mono", under || unit.name));
    head.append(make("span", "dim small", unit.about));
    card.append(head);
    if (unit.query && !under) card.append(make("p", "query", "\u201c" + unit.query + "\u201d"));
    card.append(make("p", "said", unit.critique));
    if (unit.blocked) card.append(make("p", "said dim small", unit.blocked));
    const run = unit.trace === null ? null : runButton(card, unit);
    if (unit.refs.length) {
      const list = make("ul", "refs");
      for (const ref of unit.refs) {
        const item = make("li");
        if (run !== null && typeof ref[2] === "number") {
          const place = make("button", "place mono", ref[0]);
          place.type = "button";
          place.title = "Show it in the run";
          place.addEventListener("click", () => run.show(ref[2]));
          item.append(place);
        } else item.append(make("span", "place mono", ref[0]));
        item.append(make("pre", "", ref[1]));
        list.append(item);
      }
      card.append(list);
    }
    if (run !== null) card.append(run.button);
    return card;
  };

  const showCriterion = (cell, criterion, first) => {
    for (const line of criterion.lead) {
      cell.append(make("p", line[0] ? "lead " + line[0] : "lead", line[1]));
    }
    if (!criterion.units.length) return;
    const controls = make("div", "filters");
    const word = make("input");
    word.type = "search";
    word.placeholder = "Filter units";
    word.setAttribute("aria-label", "Filter the units by case or critique");
    const result = make("select");
    result.setAttribute("aria-label", "Filter the units by result");
    const results = [...new Set(criterion.units.map((unit) => unit.result))];
    const urgent = (unit) => unit.result !== "pass" && unit.result !== "na";
    const choices = [["", "every result"], ...results.map((name) => [name, name])];
    const mixed = results.length > 1 && criterion.units.some(urgent);
    if (mixed) choices.splice(1, 0, ["!", "failing and open"]);
    for (const [value, words] of choices) {
      const option = make("option", "", words);
      option.value = value;
      result.append(option);
    }
    if (mixed) result.value = "!";
    const shown = make("output");
    controls.append(word, result, shown);
    const list = make("div");
    const more = make("button", "more", "Show more");
    more.type = "button";
    let fitting = [];
    let drawn = 0;
    const draw = () => {
      const next = fitting.slice(drawn, drawn + first);
      list.append(...next.map((unit) => showUnit(unit)));
      drawn += next.length;
      first = PAGE;
      more.hidden = drawn >= fitting.length;
    };
    const refill = () => {
      const wanted = word.value.toLowerCase();
      fitting = criterion.units.filter((unit) =>
        (!result.value || unit.result === result.value
          || (result.value === "!" && urgent(unit)))
        && (!wanted || [unit.name, unit.case, unit.query, unit.critique]
          .join(" ").toLowerCase().includes(wanted)));
      list.replaceChildren();
      drawn = 0;
      shown.textContent = count(fitting.length, "unit");
      draw();
    };
    more.addEventListener("click", draw);
    word.addEventListener("input", refill);
    result.addEventListener("input", refill);
    cell.append(controls, list, more);
    refill();
  };

  let opened = 0;
  const openers = new Map();
  rows.forEach((row, place) => {
    const button = row.querySelector("button");
    const panel = row.querySelector("tr.detail");
    const toggle = (first) => {
      const open = button.getAttribute("aria-expanded") !== "true";
      button.setAttribute("aria-expanded", String(open));
      panel.hidden = !open;
      const cell = panel.firstElementChild;
      if (open && !cell.hasChildNodes()) showCriterion(cell, data.criteria[place], first);
    };
    button.addEventListener("click", () => toggle(PAGE));
    openers.set("#" + row.id, () => {
      row.hidden = false;
      if (button.getAttribute("aria-expanded") !== "true") toggle(PAGE);
      button.focus({ preventScroll: true });
      row.scrollIntoView({ block: "start" });
    });
    // What fails the gate is what the page is opened for.
    if ("open" in row.dataset && opened < 5) {
      opened += 1;
      toggle(3);
    }
  });

  // A link to a criterion opens it, a second time too.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#k']");
    const open = link && openers.get(link.hash);
    if (open) setTimeout(open);
  });
  if (openers.has(location.hash)) setTimeout(openers.get(location.hash));

  const CHIPS = {
    p: ["pass", "\u2713", "pass"], f: ["fail", "\u2717", "fail"],
    u: ["open", "?", "uncertain"], e: ["open", "?", "error"],
    m: ["open", "?", "no verdict"], n: ["none", "\u2013", "na"],
    " ": ["none", "\u2013", "no unit"],
  };
  const letters = (results) => [...results].map((letter, place) =>
    letter === " " && data.criteria[place].lacks ? "m" : letter);
  let units = null;
  const unitsOf = (id) => {
    if (units === null) {
      units = new Map();
      data.criteria.forEach((criterion, place) => {
        for (const unit of criterion.units) {
          if (!units.has(unit.case)) units.set(unit.case, []);
          units.get(unit.case).push([place, unit]);
        }
      });
    }
    return units.get(id) || [];
  };
  const showInside = (id, results) => {
    const box = make("div", "inside");
    const known = unitsOf(id);
    results.forEach((letter, place) => {
      const [style, , word] = CHIPS[letter];
      const name = data.criteria[place].id;
      const cards = letter === "p" || letter === "n" ? [] : known
        .filter(([where, unit]) => where === place && unit.result !== "pass")
        .map(([, unit]) => showUnit(unit, name));
      if (cards.length) {
        box.append(...cards);
        return;
      }
      const line = make("p", "line");
      line.append(make("span", "badge " + style, word), make("b", "", name));
      box.append(line);
    });
    // Where nothing needs a look, the run itself is still worth one.
    if (!box.querySelector("article")) {
      const [, unit] = known.find(([, one]) => one.trace !== null) || [];
      if (unit) box.append(runButton(box, { ...unit, refs: [] }).button);
    }
    return box;
  };
  const showCase = ([label, id, query, results]) => {
    const row = make("div", "case");
    const button = make("button", "", label);
    button.type = "button";
    button.title = id;
    button.setAttribute("aria-expanded", "false");
    const chips = make("div", "chips");
    const found = letters(results);
    found.forEach((letter, place) => {
      const [style, mark, word] = CHIPS[letter];
      const chip = make("span", "chip " + style, mark);
      chip.title = data.criteria[place].id + ": " + word;
      chips.append(chip);
    });
    const sums = [["f", "fail"], ["uem", "open"], ["p", "pass"]]
      .map(([kinds, word]) => [found.filter((one) => kinds.includes(one)).length, word])
      .filter(([sum]) => sum);
    chips.setAttribute("role", "img");
    chips.setAttribute("aria-label", sums.map((sum) => sum.join(" ")).join(", "));
    row.append(button, make("p", "query", query), chips);
    let box = null;
    button.addEventListener("click", () => {
      if (box === null) {
        box = showInside(id, found);
        row.append(box);
      } else box.hidden = !box.hidden;
      button.setAttribute("aria-expanded", String(!box.hidden));
    });
    return row;
  };
  const list = document.getElementById("case-list");
  if (list) {
    const find = document.getElementById("case-search");
    const result = document.getElementById("case-result");
    const shown = document.getElementById("cases-shown");
    const more = document.getElementById("more-cases");
    const kinds = {
      failing: (found) => found.includes("f"),
      open: (found) => found.some((letter) => "uem".includes(letter)),
      passing: (found) => found.includes("p")
        && !found.some((letter) => "fuem".includes(letter)),
    };
    let fitting = [];
    let drawn = 0;
    const draw = () => {
      const next = fitting.slice(drawn, drawn + PAGE);
      list.append(...next.map(showCase));
      drawn += next.length;
      more.hidden = drawn >= fitting.length;
    };
    const refill = () => {
      const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
      const kind = kinds[result.value];
      fitting = data.cases.filter((row) => {
        const text = (row[0] + " " + row[1] + " " + row[2]).toLowerCase();
        return words.every((word) => text.includes(word))
          && (!kind || kind(letters(row[3])));
      });
      list.replaceChildren();
      drawn = 0;
      shown.textContent = fitting.length === data.cases.length
        ? count(fitting.length, "case")
        : fitting.length.toLocaleString("en") + " of " + count(data.cases.length, "case");
      draw();
    };
    more.addEventListener("click", draw);
    find.addEventListener("input", refill);
    result.addEventListener("input", refill);
    refill();
  }
})();
"""
