"use strict";
// Flame graphs: a search, a closer look at one frame, and both with the keyboard.
for (const chart of document.querySelectorAll("svg.flame")) {
  // As wide as two decimals of a per cent may be wrong.
  const NEAR = 0.03, LETTER = 6.7, BESIDE = 6;
  const frames = [...chart.querySelectorAll("svg")].map((node) => {
    const [x, y, width] = ["x", "y", "width"].map((name) => parseFloat(node.getAttribute(name)));
    const title = node.querySelector("title").textContent;
    const mark = node.classList.contains("worse") ? "▲ " : node.classList.contains("better") ? "▼ " : "";
    return { node, x, y, width, end: x + width, title, name: title.split(": ")[0], mark };
  });
  const whole = { x: 0, y: -1, width: 100, end: 100 };
  let near = whole, at = null;
  const holds = (outer, inner) => outer.x <= inner.x + NEAR && outer.end >= inner.end - NEAR;

  const label = (frame, width) => {
    const letters = Math.floor((width / 100 * chart.getBoundingClientRect().width - BESIDE) / LETTER);
    const name = frame.mark + frame.name;
    let text = frame.node.querySelector("text");
    if (letters < 3) return text?.remove();
    if (!text) {
      text = document.createElementNS(chart.namespaceURI, "text");
      text.setAttribute("x", 3);
      text.setAttribute("y", 13);
      frame.node.append(text);
    }
    text.textContent = name.length > letters ? `${name.slice(0, letters - 1)}…` : name;
  };
  const show = () => {
    if (!chart.getBoundingClientRect().width) return;
    for (const frame of frames) {
      const isCaller = frame.y < near.y && holds(frame, near);
      const isSeen = isCaller || (frame.y >= near.y && holds(near, frame));
      frame.node.style.display = isSeen ? "" : "none";
      if (!isSeen) continue;
      const x = isCaller ? 0 : (frame.x - near.x) / near.width * 100;
      const width = isCaller ? 100 : frame.width / near.width * 100;
      frame.node.setAttribute("x", `${x}%`);
      frame.node.setAttribute("width", `${width}%`);
      label(frame, width);
    }
  };
  const said = document.createElement("output");
  const look = (frame) => { near = frame; show(); };
  const choose = (frame) => {
    at?.node.classList.remove("at");
    at = frame ?? at;
    at?.node.classList.add("at");
    said.textContent = at?.title ?? "";
  };

  // The widths of what is found, those inside each other once.
  const search = (text) => {
    const found = text ? frames.filter((frame) => frame.name.toLowerCase().includes(text.toLowerCase())) : [];
    chart.classList.toggle("searched", text !== "");
    for (const frame of frames) frame.node.classList.toggle("found", found.includes(frame));
    const outer = found.filter((frame) => !found.some((other) => other.y < frame.y && holds(other, frame)));
    const share = outer.reduce((sum, frame) => sum + frame.width, 0);
    said.textContent = text ? `${found.length} found, ${share.toFixed(1)} % of the width` : "";
  };

  const parent = (frame) => frames.findLast((other) => other.y < frame.y && other.y > frame.y - 20 && holds(other, frame));
  const beside = (frame, step) => {
    const row = frames.filter((other) => other.y === frame.y && other.node.style.display !== "none");
    row.sort((a, b) => a.x - b.x);
    return row[row.indexOf(frame) + step];
  };
  const widest = (all) => all.reduce((best, one) => (best && best.width >= one.width ? best : one), undefined);
  const below = (frame) => widest(frames.filter((other) => other.y > frame.y && other.y < frame.y + 20 && holds(frame, other)));
  const keys = {
    ArrowDown: () => choose(at ? below(at) : frames[0]),
    ArrowUp: () => choose(at && parent(at)),
    ArrowLeft: () => choose(at && beside(at, -1)),
    ArrowRight: () => choose(at && beside(at, 1)),
    Enter: () => look(at ?? whole),
    Escape: () => look(whole),
  };
  chart.tabIndex = 0;
  chart.setAttribute("role", "application");
  chart.addEventListener("keydown", (event) => {
    const act = !event.ctrlKey && !event.altKey && !event.metaKey && keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  const under = (event) => frames.find((frame) => frame.node.contains(event.target));
  chart.addEventListener("click", (event) => {
    const frame = under(event);
    if (!frame) return;
    choose(frame);
    look(frame === near ? whole : frame);
  });
  chart.addEventListener("pointermove", (event) => {
    const frame = under(event);
    if (frame) said.textContent = frame.title;
  });

  const tools = document.createElement("div");
  tools.className = "filter zoom";
  const input = document.createElement("input");
  input.type = "search";
  input.placeholder = "Find a function";
  input.setAttribute("aria-label", `Find a function: ${chart.getAttribute("aria-label")}`);
  input.addEventListener("input", () => search(input.value.trim()));
  const all = document.createElement("button");
  all.type = "button";
  all.textContent = "all";
  all.title = "Show the whole graph";
  all.setAttribute("aria-label", all.title);
  all.addEventListener("click", () => look(whole));
  tools.append(input, all, said);
  chart.before(tools);
  said.textContent = "Click a frame, or choose one with the arrow keys and press Enter; Escape shows all.";
  new ResizeObserver(show).observe(chart);
}
