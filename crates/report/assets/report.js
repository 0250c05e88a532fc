"use strict";
// Only additions: the page is complete without this file.

// Sorting: a click on a column's head sorts by it, a second click turns the order around.
const units = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
const number = (cell) => {
  // `48,211`, `18.3µs`, `3m12s`, `2.05 MiB`, `<0.001`: every part is a number with its unit.
  const text = (cell.firstChild?.textContent ?? "").trim().replaceAll(",", "").replace(/^</, "");
  if (!/^-?[0-9.]+(e-?[0-9]+)?\s*[a-zA-Zµ0-9]*$/.test(text)) return null;
  const parts = [...text.matchAll(/(-?[0-9.]+(?:e-?[0-9]+)?)\s*([a-zA-Zµ]*)/g)];
  return parts.reduce((sum, [, digits, unit]) => sum + Number(digits) * (units[unit] ?? 1), 0);
};
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  if (x !== null && y !== null) return x - y;
  if (x !== null) return -1;
  if (y !== null) return 1;
  return a.textContent.localeCompare(b.textContent, undefined, { numeric: true });
};
for (const table of document.querySelectorAll("table.data")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      for (const body of table.tBodies) {
        // A heading stays above the rows of its body.
        const rows = [...body.rows].filter((row) => !row.classList.contains("group"));
        rows.sort((a, b) => (down ? -1 : 1) * compare(a.cells[column], b.cells[column]));
        body.append(...rows);
      }
    });
  });
}

// Toggles: a box for each system hides it in every chart, legend and in the matrix.
const legend = document.querySelector(".legend");
const main = document.querySelector("main");
if (legend && legend.children.length > 1) {
  const tools = document.createElement("div");
  tools.className = "tools";
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", "Systems shown");
  for (const item of legend.children) {
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = true;
    box.addEventListener("change", () => {
      for (const part of document.querySelectorAll(`[data-system="${item.dataset.system}"]`)) {
        part.toggleAttribute("data-off", !box.checked);
      }
    });
    const chip = item.querySelector(".chip").cloneNode(true);
    const name = document.createElement("span");
    name.textContent = [...item.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.textContent).join("").trim();
    label.append(box, chip, name);
    tools.append(label);
  }
  document.querySelector("#sweep, h2.group, section.step")?.before(tools);
}

// Values under the pointer: read back from the lines themselves.
const scale = (text) => {
  const [kind, low, high] = text.split(" ");
  const [a, b] = [Number(low), Number(high)];
  if (kind === "log") return (t) => a * (b / a) ** t;
  if (kind === "nines") return (t) => 1 - 10 ** (-b * t);
  return (t) => a + (b - a) * t;
};
const short = (value, decimals = 3) => {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(decimals)));
};
const time = (s) => (s >= 1 ? `${short(s)} s` : s >= 1e-3 ? `${short(s * 1e3)} ms` : `${short(s * 1e6)} µs`);
const points = (path) => path.getAttribute("d").slice(1).split("L").map((p) => p.split(" ").map(Number));
for (const chart of document.querySelectorAll("svg.hover")) {
  const figure = chart.closest("figure");
  const [top, bottom, width] = chart.dataset.frame.split(" ").map(Number);
  const [x, y] = [scale(chart.dataset.x), scale(chart.dataset.y)];
  const isTime = chart.dataset.y.startsWith("log");
  const isShare = chart.dataset.x.startsWith("nines");
  let lines = null, tip = null, cross = null;
  const hide = () => { tip?.remove(); cross?.remove(); tip = cross = null; };
  chart.addEventListener("pointerleave", hide);
  chart.addEventListener("pointermove", (event) => {
    lines ??= [...chart.querySelectorAll("path.line")].map((path) => ({ path, at: points(path) }));
    const box = chart.getBoundingClientRect();
    const across = (event.clientX - box.left) / (box.width * width / 100);
    if (across < 0 || across > 1.02) return hide();
    const rows = lines.filter(({ path }) => !path.hasAttribute("data-off")).map(({ path, at }) => {
      const near = at.reduce((best, p) => (Math.abs(p[0] - across * 1000) < Math.abs(best[0] - across * 1000) ? p : best));
      const value = y((bottom - near[1]) / (bottom - top));
      return { key: path.dataset.system, name: path.dataset.name, value, x: near[0] };
    });
    if (!rows.length) return hide();
    if (!tip) {
      tip = document.createElement("div");
      tip.className = "tip";
      figure.append(tip);
      cross = document.createElementNS(chart.namespaceURI, "line");
      cross.setAttribute("class", "cross");
      chart.append(cross);
    }
    const at = x(rows[0].x / 1000);
    const head = document.createElement("b");
    head.textContent = isShare ? `p${short(at * 100, 5)}` : `${short(at)} s`;
    const list = rows.sort((a, b) => b.value - a.value).slice(0, 12).map((row) => {
      const line = document.createElement("div");
      line.textContent = `${row.key} ${isTime ? time(row.value) : short(row.value)}`;
      return line;
    });
    tip.replaceChildren(head, ...list);
    const left = event.clientX - figure.getBoundingClientRect().left;
    const room = figure.clientWidth - tip.offsetWidth;
    tip.style.left = `${Math.max(0, Math.min(room, left + 16 > room ? left - tip.offsetWidth - 12 : left + 16))}px`;
    tip.style.top = `${box.top - figure.getBoundingClientRect().top + 6}px`;
    const where = `${rows[0].x / 1000 * width}%`;
    for (const [name, value] of [["x1", where], ["x2", where], ["y1", top], ["y2", bottom]]) cross.setAttribute(name, value);
  });
}

// On paper nothing can be opened.
addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details")) part.open = true; });
