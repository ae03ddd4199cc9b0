// report.js - the script of the report's page. It zooms timelines and flame graphs, sorts, filters and folds tables, and copies the
// commands that open a moment in a viewer. Without scripts, the page shows the same data. After a change of this file,
// tests/property/report_page.py prints the hash for script.h.
"use strict";

// ---- timelines: all are zoomed together, by dragging, by the wheel with Ctrl, and by keys; double click and Escape show everything ----

(() => {
const box = document.getElementById("timelines"), out = document.getElementById("range");
if (!box || !out) return;
const rows = [...box.querySelectorAll("svg")].map(svg => ({svg, view: svg.getAttribute("viewBox").split(" ").map(Number)}));
const length = Number(box.dataset.ns);
let from = 0, to = 1, start = null;
const time = t => {
  const ns = t * length, units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];
  const [unit, name] = units.find(u => ns >= u[0]) || units[3];
  return (ns / unit).toFixed(3) + " " + name;
};
const draw = (a, b) => {
  for (const {svg, view: [x, y, w, h]} of rows) svg.setAttribute("viewBox", [x + a * w, y, (b - a) * w, h].join(" "));
};
const show = (a, b) => {
  const size = Math.min(1, Math.max(1 / 64, b - a));
  from = Math.min(1 - size, Math.max(0, (a + b - size) / 2));
  to = from + size;
  draw(from, to);
  const words = length ? t => "+" + time(t) : t => Math.round(100 * t) + " %";
  out.textContent = size === 1 ? "" : words(from) + " to " + words(to);
};
const zoom = (by, at) => show(at - (at - from) * by, at + (to - at) * by);
const place = e => {
  const r = e.target.closest("svg").getBoundingClientRect();
  return from + (to - from) * Math.min(1, Math.max(0, (e.clientX - r.left) / r.width));
};
const closer = () => zoom(0.5, (from + to) / 2), move = by => show(from + by * (to - from), to + by * (to - from));
const keys = {"+": closer, "=": closer, "-": () => zoom(2, (from + to) / 2),
  ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25),
  Home: () => show(0, to - from), End: () => show(1 - to + from, 1), Escape: () => show(0, 1), "0": () => show(0, 1)};
box.tabIndex = 0;
box.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key]) return;
  keys[e.key]();
  e.preventDefault();
});
box.addEventListener("pointerdown", e => { start = e.target.closest("svg") && e.button === 0 ? place(e) : null; });
box.addEventListener("pointerup", e => {
  if (start === null || !e.target.closest("svg")) return;
  const end = place(e);
  if (Math.abs(end - start) > 0.01 * (to - from)) show(Math.min(start, end), Math.max(start, end));
  start = null;
});
box.addEventListener("dblclick", () => show(0, 1));
box.addEventListener("wheel", e => {
  if (!e.ctrlKey || !e.target.closest("svg")) return;
  zoom(e.deltaY < 0 ? 0.8 : 1.25, place(e));
  e.preventDefault();
}, {passive: false});
addEventListener("beforeprint", () => draw(0, 1));
addEventListener("afterprint", () => draw(from, to));
document.getElementById("how").hidden = false;
})();
// ---- flame graphs: a click widens a box to the whole width; another click on it, or Escape, shows everything ----

for (const graph of document.querySelectorAll(".flame")) {
  const boxes = [...graph.children].map(e => ({e, left: parseFloat(e.style.left), width: parseFloat(e.style.width)}));
  let shown = null;
  const show = chosen => {
    const {left, width} = shown = chosen || {left: 0, width: 100};
    for (const b of boxes) {
      const from = Math.max(0, (b.left - left) / width * 100), to = Math.min(100, (b.left + b.width - left) / width * 100);
      b.e.hidden = to - from < 0.001;
      b.e.style.left = from + "%";
      b.e.style.width = to - from + "%";
    }
  };
  graph.tabIndex = 0;
  graph.addEventListener("click", e => {
    const chosen = boxes.find(b => b.e === e.target);
    show(chosen === shown ? null : chosen);
  });
  graph.addEventListener("keydown", e => { if (e.key === "Escape") show(null); });
  addEventListener("beforeprint", () => show(null));
}

// ---- tables: a click on a header sorts, largest first, then smallest first, then in the original order ----

const UNITS = {ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15};
const FOLDED = 10, MANY = 15; // rows that a folded table shows; longer tables are folded and have a filter

// Returns the number in a cell, in seconds or bytes if it has a unit; NaN if there is none.
const numberIn = cell => {
  const found = cell.textContent.replace(/,/g, "").match(/^\+?(-?[\d.]+(?:e[+-]?\d+)?)(?: (\w+))?/);
  return found ? Number(found[1]) * (UNITS[found[2]] || 1) : NaN;
};

// Returns the order of two rows by column k: texts in ascending order, numbers in descending order, rows without a number last.
const byColumn = (k, isText) => (a, b) => {
  const x = a.cells[k], y = b.cells[k];
  if (isText) return x.textContent.localeCompare(y.textContent, "en", {numeric: true});
  const p = numberIn(x), q = numberIn(y);
  return Number.isNaN(p) || Number.isNaN(q) ? Number.isNaN(p) - Number.isNaN(q) : q - p;
};

const tend = table => {
  const [head, ...rows] = table.rows, body = head.parentNode, titles = [...head.cells];
  let column = -1, reversed = false, wanted = "", folded = rows.length > MANY, button = null;
  const sorted = () => {
    if (column < 0) return rows;
    const order = byColumn(column, titles[column].classList.contains("name"));
    return [...rows].sort(reversed ? (a, b) => {
      const none = c => Number.isNaN(numberIn(c.cells[column])), text = titles[column].classList.contains("name");
      return text || none(a) === none(b) ? order(b, a) : order(a, b);
    } : order);
  };
  const draw = all => {
    let shown = 0;
    for (const row of sorted()) {
      const fits = row.textContent.toLowerCase().includes(wanted);
      row.hidden = !fits || (folded && !all && shown >= FOLDED);
      shown += fits;
      body.append(row);
    }
    if (button) button.textContent = folded ? `show all ${shown} rows` : `show ${FOLDED} rows`;
    if (button) button.hidden = shown <= FOLDED;
  };
  const sort = k => {
    if (k !== column) [column, reversed] = [k, false];
    else if (!reversed) reversed = true;
    else column = -1;
    titles.forEach((t, i) => {
      const ascending = t.classList.contains("name") !== reversed;
      if (i === column) t.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else t.removeAttribute("aria-sort");
    });
    draw();
  };
  titles.forEach((t, k) => {
    if (rows.length < 2 || !t.textContent) return;
    t.tabIndex = 0;
    t.classList.add("sorts");
    t.addEventListener("click", () => sort(k));
    t.addEventListener("keydown", e => { if (e.key === "Enter" || e.key === " ") sort(k), e.preventDefault(); });
  });
  addEventListener("beforeprint", () => draw(true));
  addEventListener("afterprint", () => draw());
  if (!folded) return;
  const tools = document.createElement("div"), filter = document.createElement("input");
  button = document.createElement("button");
  tools.className = "tools";
  filter.type = "search";
  filter.placeholder = "filter rows";
  filter.setAttribute("aria-label", "filter rows");
  filter.addEventListener("input", () => { wanted = filter.value.toLowerCase(); draw(); });
  button.addEventListener("click", () => { folded = !folded; draw(); });
  tools.append(filter, button);
  table.parentNode.before(tools);
  draw();
};
for (const table of document.querySelectorAll("table")) tend(table);

// ---- places: a click copies the command that opens a moment in a viewer ----

for (const place of document.querySelectorAll(".place")) {
  const command = place.title;
  const copy = () => {
    if (!navigator.clipboard) return;
    navigator.clipboard.writeText(command).then(() => { place.title = "copied: " + command; }, () => { place.title = command; });
  };
  place.tabIndex = 0;
  place.setAttribute("role", "button");
  place.addEventListener("click", copy);
  place.addEventListener("keydown", e => { if (e.key === "Enter") copy(); });
}
