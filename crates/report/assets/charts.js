"use strict";
// Charts of lines: values under the pointer, and a closer look along the axis of time.
{
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
  const frame = (chart) => chart.dataset.frame.split(" ").map(Number);
  const points = (path) => path.getAttribute("d").slice(1).split("L").map((p) => p.split(" ").map(Number));
  const draw = (chart, name, attributes) => {
    const drawn = document.createElementNS(chart.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) drawn.setAttribute(key, value);
    return drawn;
  };

  // Values under the pointer: read back from the lines themselves. `look` is the part of the axis that is shown.
  const hover = (chart, lines, look) => {
    const figure = chart.closest("figure");
    const [top, bottom, width] = frame(chart);
    const [x, y] = [scale(chart.dataset.x), scale(chart.dataset.y)];
    const isTime = chart.dataset.y.startsWith("log");
    const isShare = chart.dataset.x.startsWith("nines");
    let tip = null, cross = null;
    const hide = () => { tip?.remove(); cross?.remove(); tip = cross = null; };
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("pointermove", (event) => {
      const box = chart.getBoundingClientRect();
      const across = (event.clientX - box.left) / (box.width * width / 100);
      if (across < 0 || across > 1.02) return hide();
      const wanted = 1000 * (look.from + across * (look.to - look.from));
      const rows = lines().filter(({ path }) => !path.hasAttribute("data-off")).map(({ path, at }) => {
        const near = at.reduce((best, p) => (Math.abs(p[0] - wanted) < Math.abs(best[0] - wanted) ? p : best));
        return { key: path.dataset.system, value: y((bottom - near[1]) / (bottom - top)), x: near[0] / 1000 };
      }).filter((row) => row.x >= look.from && row.x <= look.to);
      if (!rows.length) return hide();
      if (!tip) {
        tip = document.createElement("div");
        tip.className = "tip";
        figure.append(tip);
        cross = draw(chart, "line", { class: "cross" });
        chart.append(cross);
      }
      const at = x(rows[0].x);
      const where = `${(rows[0].x - look.from) / (look.to - look.from) * width}%`;
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
      for (const [name, value] of [["x1", where], ["x2", where], ["y1", top], ["y2", bottom]]) cross.setAttribute(name, value);
    });
  };

  // The next of 1, 2, 5 times a power of ten.
  const nice = (step) => {
    const power = 10 ** Math.floor(Math.log10(step));
    return power * ([1, 2, 5].find((times) => times * power >= step * 0.999) ?? 10);
  };

  // A closer look: buttons, or a stretch of the chart that is drawn over with the mouse; a double click ends it.
  const zoom = (chart, lines, look) => {
    const [top, bottom, width] = frame(chart);
    const [plot, axis] = [chart.querySelector("svg"), chart.querySelector("g.across")];
    const value = scale(chart.dataset.x);
    const height = plot.getAttribute("viewBox").split(" ")[3];
    const ticks = [...axis.children].slice(1);
    const marks = [...chart.querySelectorAll("use.mark, text.key")].map((part) => (
      { part, x: parseFloat(part.getAttribute("x")) / width, y: part.getAttribute("y") }));
    const place = (x) => (x - look.from) / (look.to - look.from);
    const seen = document.createElement("output");
    const below = chart.nextElementSibling, name = below.textContent;

    const newTicks = () => {
      const [a, b] = [value(look.from), value(look.to)];
      const step = nice((b - a) / 6);
      const drawn = [];
      for (let i = Math.ceil(a / step); i * step <= b; i += 1) {
        const across = (i * step - a) / (b - a), x = `${across * width}%`;
        const anchor = across < 0.06 ? "start" : across > 0.94 ? "end" : "middle";
        const text = draw(chart, "text", { class: "tick", x, y: bottom + 16, "text-anchor": anchor });
        text.textContent = short(i * step);
        drawn.push(draw(chart, "line", { class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 4 }), text);
      }
      return drawn;
    };
    // A mark keeps its place in time; the key of a line goes to the last of its points that is seen.
    const move = ({ part, x, y }) => {
      const line = part.matches("text.key") && lines().find(({ path }) => path.dataset.system === part.dataset.system);
      const last = line && look.to < 1 && line.at.filter((p) => p[0] >= 1000 * look.from && p[0] <= 1000 * look.to).at(-1);
      const [at, down] = last ? [last[0] / 1000, last[1] + 4] : [x, y];
      part.setAttribute("x", `${place(at) * width}%`);
      part.setAttribute("y", down);
      part.style.display = place(at) < -0.001 || place(at) > 1.001 ? "none" : "";
    };
    const show = (from, to) => {
      const most = Math.max(1, ...lines().map((line) => line.at.length));
      const span = Math.min(1, Math.max(to - from, 6 / most, 0.02));
      look.from = Math.max(0, Math.min(from, 1 - span));
      look.to = look.from + span;
      const isWhole = span === 1;
      plot.setAttribute("viewBox", `${1000 * look.from} 0 ${1000 * span} ${height}`);
      plot.setAttribute("overflow", isWhole ? "visible" : "hidden");
      axis.replaceChildren(axis.firstElementChild, ...(isWhole ? ticks : newTicks()));
      marks.forEach(move);
      const part = `${short(value(look.from))} to ${short(value(look.to))}`;
      seen.textContent = isWhole ? "" : `${part} s`;
      below.textContent = isWhole ? name : name.replace(", from zero", `, from ${part}`);
    };
    const around = (times, shift) => {
      const span = look.to - look.from, middle = (look.from + look.to) / 2 + shift * span;
      show(middle - span * times / 2, middle + span * times / 2);
    };

    // Folded, so that the keyboard has one stop for each chart.
    const tools = document.createElement("details");
    tools.className = "zoom";
    const title = document.createElement("summary");
    title.textContent = "Closer look";
    title.setAttribute("aria-label", `Closer look: ${chart.getAttribute("aria-label")}`);
    const button = (sign, name, act) => {
      const made = document.createElement("button");
      made.type = "button";
      made.textContent = sign;
      made.setAttribute("aria-label", name);
      made.title = name;
      made.addEventListener("click", act);
      return made;
    };
    tools.append(title, button("+", "Closer", () => around(0.5, 0)), button("−", "Wider", () => around(2, 0)),
      button("‹", "Earlier", () => around(1, -0.5)), button("›", "Later", () => around(1, 0.5)),
      button("all", "The whole step", () => show(0, 1)), seen);
    chart.closest("figure").querySelector("figcaption").after(tools);

    let start = null, drawn = null;
    const under = (event) => {
      const box = chart.getBoundingClientRect();
      const across = (event.clientX - box.left) / (box.width * width / 100);
      return look.from + Math.max(0, Math.min(1, across)) * (look.to - look.from);
    };
    const ends = (event) => [start, under(event)].sort((a, b) => a - b);
    chart.addEventListener("pointerdown", (event) => {
      // A finger scrolls the page.
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      start = under(event);
      drawn = draw(chart, "rect", { class: "chosen", y: top, height: bottom - top, width: 0 });
      chart.append(drawn);
      chart.setPointerCapture(event.pointerId);
    });
    chart.addEventListener("pointermove", (event) => {
      if (start === null) return;
      const [from, to] = ends(event);
      drawn.setAttribute("x", `${place(from) * width}%`);
      drawn.setAttribute("width", `${(place(to) - place(from)) * width}%`);
    });
    const end = (event) => {
      if (start === null) return;
      const [from, to] = ends(event);
      start = null;
      drawn.remove();
      if (event.type === "pointerup" && place(to) - place(from) > 0.01) show(from, to);
    };
    chart.addEventListener("pointerup", end);
    chart.addEventListener("pointercancel", end);
    chart.addEventListener("dblclick", () => show(0, 1));
  };

  for (const chart of document.querySelectorAll("svg.hover")) {
    let found = null;
    const lines = () => (found ??= [...chart.querySelectorAll("path.line")].map((path) => ({ path, at: points(path) })));
    const look = { from: 0, to: 1 };
    hover(chart, lines, look);
    if (chart.dataset.x.startsWith("linear")) zoom(chart, lines, look);
  }
}
