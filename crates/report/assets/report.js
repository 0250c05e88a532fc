"use strict";
// What is shown and hidden, and the evidence behind a cell. Only additions: the page is complete without.
{
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const make = (name, content, ...children) => {
    const made = document.createElement(name);
    if (content !== undefined) made.textContent = content;
    made.append(...children);
    return made;
  };

  // Rows and columns of tables, and rows of charts, belong to a system or a step by their names.
  const systems = new Map(page.systems.map(([key, name]) => [name, key]));
  const steps = new Map(page.names.map((name, place) => [name, place]));
  const own = (part) => [...part.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
    .map((node) => node.textContent).join("").trim().replace(/ \((base|control)\)$/, "");
  const tag = (part, name) => {
    if (systems.has(name)) part.dataset.system ??= systems.get(name);
    else if (steps.has(name)) {
      part.dataset.step ??= steps.get(name);
      part.title ||= page.about[steps.get(name)];
    }
  };
  for (const table of document.querySelectorAll("table.data, table.matrix")) {
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => !row.classList.contains("group"));
    for (const row of rows) {
      tag(row, own(row.cells[0]));
      const cell = table.classList.contains("data") && row.querySelector("a[data-cell]");
      if (cell) row.dataset.step = cell.dataset.cell.match(/\d+$/)[0];
    }
    for (const head of table.tHead.rows[0].cells) {
      tag(head, own(head));
      if (head.dataset.system ?? head.dataset.step) {
        for (const row of rows) Object.assign(row.cells[head.cellIndex]?.dataset ?? {}, head.dataset);
      }
    }
  }
  // The rows of a forest belong to a step.
  for (const name of document.querySelectorAll("#overview .row-name")) {
    if (steps.has(own(name))) name.closest(".row").dataset.step = steps.get(own(name));
  }
  // What a link leads to is opened.
  const reveal = () => {
    const step = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest("details");
    if (step && !step.open) { step.open = true; step.scrollIntoView(); }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Menus with a box for each system, and for each group of steps or step.
  const menu = (title, items) => {
    const summary = make("summary");
    const boxes = items.map(({ label, hide }) => {
      const box = make("input");
      box.type = "checkbox";
      box.checked = true;
      box.addEventListener("change", () => { hide(!box.checked); say(); });
      label.prepend(box);
      return box;
    });
    const say = () => {
      const on = boxes.filter((box) => box.checked).length;
      summary.textContent = `${title}: ${on === boxes.length ? "all" : `${on} of ${boxes.length}`}`;
    };
    const all = make("button", "all or none");
    all.type = "button";
    all.addEventListener("click", () => {
      const on = !boxes.every((box) => box.checked);
      boxes.forEach((box, place) => { box.checked = on; items[place].hide(!on); });
      say();
    });
    say();
    const panel = make("div", undefined, ...items.map(({ label }) => label), all);
    panel.className = "boxes";
    return make("details", undefined, summary, panel);
  };
  const hider = (attribute, keys, mark) => (off) => {
    for (const key of keys) {
      for (const part of document.querySelectorAll(`[${attribute}="${key}"]`)) part.toggleAttribute(mark, off);
    }
  };
  const tools = make("div");
  tools.className = "tools";
  tools.setAttribute("role", "group");
  tools.setAttribute("aria-label", "What is shown");
  if (page.systems.length > 1) {
    tools.append(menu("Systems", page.systems.map(([key, name, colour]) => {
      const chip = make("span", key);
      chip.className = `chip ${colour}`;
      return { label: make("label", undefined, chip, make("span", name)), hide: hider("data-system", [key], "data-off") };
    })));
  }
  if (page.steps.length > 1) {
    tools.append(menu("Steps", page.steps.map(([name, places]) => (
      { label: make("label", undefined, make("span", name)), hide: hider("data-step", places, "data-away") }))));
  }
  if (tools.children.length) document.querySelector("#matrix").before(tools);

  // Evidence: what the verdict of a cell rests on.
  const dialog = make("dialog");
  dialog.setAttribute("aria-labelledby", "evidence-title");
  document.body.append(dialog);

  // The bar of the cell with each round on it.
  const bar = (link, cell) => {
    const drawn = link.querySelector("svg.bar")?.cloneNode(true);
    const ends = link.closest("table").dataset.scale?.split(" ").map(Number);
    if (!drawn || !ends) return [];
    for (const [, ratio] of cell.rounds) {
      const place = Math.log(Number(ratio) / ends[0]) / Math.log(ends[1] / ends[0]);
      if (!Number.isFinite(place)) continue;
      const dot = document.createElementNS(drawn.namespaceURI, "circle");
      const at = { class: "pair", cx: `${100 * Math.max(0, Math.min(1, place))}%`, cy: 8, r: 3 };
      for (const [key, value] of Object.entries(at)) dot.setAttribute(key, value);
      drawn.append(dot);
    }
    return [drawn];
  };
  const rounds = (cell) => {
    if (!cell.rounds.length) return [];
    const head = make("tr"), row = make("tr");
    for (const [round, ratio] of cell.rounds) {
      const name = make("th", `round ${round}`), isOutlying = cell.outlying?.includes(round);
      name.scope = "col";
      head.append(name);
      row.append(make("td", isOutlying ? `${ratio} outlying` : ratio));
    }
    const table = make("table", undefined, make("caption", "Ratio to the base in each round"), make("thead", undefined, head), make("tbody", undefined, row));
    const box = make("div", undefined, table);
    box.className = "scroll";
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Ratio to the base in each round");
    return [box];
  };
  const facts = (cell) => {
    const list = make("dl");
    list.className = "facts";
    page.facts.forEach((name, place) => {
      const fact = cell.facts[place];
      if (fact) list.append(make("div", undefined, make("dt", name), make("dd", fact)));
    });
    return list;
  };
  const moved = (cell) => {
    const costs = cell.moved ?? [];
    if (!costs.length) return [make("p", "No cost per operation certainly changed with it.")];
    const items = costs.map(([metric, ratio]) => make("li", undefined, make("code", metric), ` ×${ratio}`));
    return [make("p", "What certainly changed with it:"), make("ul", undefined, ...items)];
  };
  const open = (link, key) => {
    const cell = page.cells[key];
    const [, letters, place] = key.match(/^([A-Z]+)(\d+)$/);
    const [, name] = page.systems.find(([known]) => known === letters);
    const title = make("h2", `${name} in ${page.names[place]}`);
    title.id = "evidence-title";
    const said = make("p", undefined, make("strong", cell.said), cell.why ? `: ${cell.why}` : "");
    said.className = "said";
    const step = make("a", "Its charts and tables");
    step.href = link.getAttribute("href");
    step.addEventListener("click", () => dialog.close());
    const close = make("button", "Close");
    close.type = "button";
    close.addEventListener("click", () => dialog.close());
    const foot = make("p", undefined, step, close);
    foot.className = "foot";
    dialog.className = `evidence ${link.closest("td").className}`;
    dialog.replaceChildren(title, said, ...bar(link, cell), ...rounds(cell), facts(cell), ...moved(cell), foot);
    dialog.showModal();
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[data-cell]");
    const wantsPage = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (!link || wantsPage || !Object.hasOwn(page.cells, link.dataset.cell)) return;
    event.preventDefault();
    open(link, link.dataset.cell);
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  for (const link of document.querySelectorAll("a[data-cell]")) link.setAttribute("aria-haspopup", "dialog");

  // On paper nothing can be opened.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("main details:not([open], .zoom, .tools *)")];
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of opened) part.open = false; });
}
