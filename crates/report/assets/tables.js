"use strict";
// Tables: sorting by a column, and a filter above long ones. Only additions: the page is complete without.
{
  const units = { ns: 1e-9, "µs": 1e-6, ms: 1e-3, s: 1, m: 60, h: 3600, B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 };
  // What a cell says before its mark, its bar or its sign.
  const said = (cell) => (cell.querySelector(".ratio") ?? cell.querySelector("a") ?? cell).firstChild?.textContent.trim() ?? "";
  const number = (cell) => {
    // `48,211`, `18.3µs`, `3m12s`, `2.05 MiB`, `<0.001`: every part is a number with its unit.
    const text = said(cell).replaceAll(",", "").replace(/^</, "");
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
  const isRow = (row) => !row.classList.contains("group");

  // A click on a column's head sorts by it, a second click turns the order around.
  const sortable = (table) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        for (const body of table.tBodies) {
          // A heading stays above the rows of its body.
          const rows = [...body.rows].filter(isRow);
          rows.sort((a, b) => (down ? -1 : 1) * compare(a.cells[column], b.cells[column]));
          body.append(...rows);
        }
      });
    });
  };

  // Rows from which on a table has a filter: it hides those that do not hold every word.
  const LONG = 12;
  const filtered = (table) => {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter(isRow);
    const place = table.closest("[aria-label]");
    if (rows.length <= LONG || !place) return;
    const box = document.createElement("input");
    box.type = "search";
    box.placeholder = "filter rows";
    box.setAttribute("aria-label", `Filter ${place.getAttribute("aria-label")}`);
    const count = document.createElement("output");
    box.addEventListener("input", () => {
      const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      for (const body of table.tBodies) {
        const heading = [...body.rows].find((row) => !isRow(row));
        if (heading) heading.hidden = [...body.rows].filter(isRow).every((row) => row.hidden);
      }
      count.textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
    });
    const line = document.createElement("div");
    line.className = "filter";
    line.append(box, count);
    place.before(line);
  };

  for (const table of document.querySelectorAll("table.data, table.matrix")) {
    sortable(table);
    filtered(table);
  }
}
