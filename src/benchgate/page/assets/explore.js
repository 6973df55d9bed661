"use strict";
// What surrounds a chart: its legend, the readout of a cursor, zoom, and its data as a table.
(() => {
  const { draw, node, number, known, symbol, dash } = benchgate;
  const html = (name, className = "", text = "") => {
    const made = document.createElement(name);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  };

  const key = (...parts) => {
    const svg = node("svg", { class: "key", width: 26, height: 14, viewBox: "0 0 26 14", "aria-hidden": "true" });
    svg.append(...parts);
    return svg;
  };

  const keyOf = (one) => {
    if (one.draw === "bars") return key(node("rect", { class: `bar ${one.look}`, x: 5, y: 1, width: 14, height: 12 }));
    const band = one.band && one.low ? [node("rect", { class: `band ${one.look}`, x: 1, y: 1, width: 24, height: 12 })] : [];
    const line = node("path", { class: `line ${one.look}${dash(one)}`, d: "M1 7H25" });
    return key(...band, line, ...(one.draw === "points" ? [symbol(one.look, 13, 7)] : []));
  };

  const keyOfMark = (mark) => key(known(mark.to)
    ? node("rect", { class: "within", x: 1, y: 1, width: 24, height: 12 })
    : node("path", { class: `mark${mark.strong ? " strong" : ""}`, d: "M1 7H25" }));

  const legend = (chart) => {
    const list = html("ul", "legend");
    const add = (drawn, name) => {
      const item = html("li");
      item.append(drawn, name);
      list.append(item);
    };
    for (const one of chart.series) add(keyOf(one), one.name);
    for (const mark of chart.horizontal ?? []) add(keyOfMark(mark), mark.label);
    return list;
  };

  const places = (chart) => [...new Set(chart.series.flatMap((one) => one.x))].sort((a, b) => a - b);

  const nameOf = (chart, x) => {
    if (chart.x.categories) return chart.x.categories[x];
    if (chart.x.names) return chart.x.names[x] ?? number(x);
    const index = chart.series[0].x.indexOf(x);
    return (chart.labels ?? [])[index] ?? number(x);
  };

  // The unit that a label ends with: "time (ms)".
  const unitOf = (axis) => {
    const unit = / \(([^()]+)\)$/.exec(axis.label)?.[1];
    return unit ? ` ${unit}` : "";
  };

  const told = (chart, x) => {
    if (chart.x.categories || chart.x.names || chart.labels) return nameOf(chart, x);
    const unit = unitOf(chart.x);
    return unit ? `${number(x)}${unit}` : `${chart.x.label} ${number(x)}`;
  };

  const ends = (one, index) => (one.low && known(one.low[index]) && known(one.high[index])
    ? ` (${number(one.low[index])} to ${number(one.high[index])})` : "");

  // The value at x, or for lines the last one before it.
  const valueAt = (chart, one, x) => {
    let found = -1;
    if (one.draw === "bars" || one.draw === "points") found = one.x.indexOf(x);
    else one.x.forEach((each, index) => { if (each <= x) found = index; });
    if (found < 0 || !known(one.y[found])) return null;
    return `${number(one.y[found])}${unitOf(one.right ? chart.right : chart.y)}${ends(one, found)}`;
  };

  const table = (chart) => {
    const made = html("table", "data");
    const head = made.createTHead().insertRow();
    const titles = [chart.x.label || "name"];
    for (const one of chart.series) titles.push(`${one.name}, ${(one.right ? chart.right : chart.y).label}`);
    for (const title of titles) {
      const cell = html("th", "", title);
      cell.scope = "col";
      head.append(cell);
    }
    const body = made.createTBody();
    for (const x of places(chart)) {
      const row = body.insertRow();
      row.insertCell().textContent = nameOf(chart, x);
      for (const one of chart.series) {
        const index = one.x.lastIndexOf(x); // of a step, as valueAt
        row.insertCell().textContent = index < 0 || !known(one.y[index]) ? "" : `${number(one.y[index])}${ends(one, index)}`;
      }
    }
    return made;
  };

  const asTable = (chart) => {
    const details = html("details", "as-table");
    details.append(html("summary", "", "Data of this figure"));
    details.addEventListener("toggle", () => {
      if (details.children.length > 1) return;
      const scroll = html("div", "scroll");
      scroll.tabIndex = 0;
      scroll.setAttribute("role", "group");
      scroll.setAttribute("aria-label", chart.title);
      scroll.append(table(chart));
      details.append(scroll);
    });
    return details;
  };

  benchgate.place = (figure, chart) => {
    let caption = figure.querySelector("figcaption");
    if (!caption && chart.caption) {
      caption = html("figcaption", "", chart.caption);
      figure.append(caption);
    }
    const box = html("div", "plot");
    const svg = node("svg", { class: "chart", tabindex: 0, role: "img" });
    const help = chart.zooms ? " Arrow keys read values, plus and minus zoom, 0 shows all." : " Arrow keys read values.";
    const opens = chart.x.links ? " Enter opens the commit." : "";
    svg.setAttribute("aria-label", `${chart.title}. ${caption ? caption.textContent : ""}${help}${opens}`);
    const readout = html("p", "readout");
    readout.setAttribute("aria-live", "polite");
    const bar = html("div", "plot-bar");
    const title = html("p", "chart-title", chart.title);
    bar.append(title, legend(chart));
    figure.prepend(bar);
    box.append(svg);
    bar.after(box, readout);
    figure.append(asTable(chart));

    const every = places(chart);
    const first = [chart.view ?? null, !chart.view_y];
    let [view, isWhole] = first;
    let state = null;
    let cursor = null;
    let line = null;

    const point = (x) => {
      if (line) line.remove();
      line = null;
      cursor = x;
      const address = chart.x.links?.[x];
      svg.classList.toggle("opens", Boolean(address));
      readout.textContent = "";
      if (x === null) return;
      const at = state.toX(x);
      line = node("path", { class: "cursor", d: `M${at} ${state.frame.top}V${state.frame.bottom}` });
      svg.append(line);
      const said = chart.series.map((one) => [one.name, valueAt(chart, one, x)]).filter(([, value]) => value !== null);
      const name = html(address ? "a" : "span", "", told(chart, x));
      if (address) name.href = address;
      readout.append(name, `: ${said.map(([series, value]) => `${series} ${value}`).join("; ")}`);
    };
    const redraw = () => {
      state = draw(svg, chart, view, isWhole);
      const isAll = view === null && isWhole;
      reset.hidden = isAll && first[0] === null && first[1];
      reset.textContent = isAll ? "Hide outliers" : "Show all";
      point(cursor);
    };
    const zoom = (low, high) => {
      const [lowest, last] = state.whole;
      const from = Math.max(lowest, low);
      const to = Math.min(last, high);
      if (!(to - from > (last - lowest) / 1000)) return;
      view = from <= lowest && to >= last ? null : [from, to];
      isWhole = true;
      redraw();
    };
    const scale = (factor) => {
      const [low, high] = state.shown;
      const middle = cursor ?? (low + high) / 2;
      zoom(middle - (middle - low) * factor, middle + (high - middle) * factor);
    };
    const reset = html("button", "reset", "Show all");
    reset.type = "button";
    reset.hidden = true;
    const showAll = () => {
      [view, isWhole] = view === null && isWhole ? first : [null, true];
      redraw();
    };
    reset.addEventListener("click", () => {
      showAll();
      svg.focus();
    });
    bar.append(reset);

    const within = (event) => {
      const rect = svg.getBoundingClientRect();
      return state.toValue(((event.clientX - rect.left) / rect.width) * state.width);
    };
    const nearest = (value) => {
      const there = every.filter((x) => x >= state.shown[0] && x <= state.shown[1]);
      return there.reduce((best, x) => (best === null || Math.abs(x - value) < Math.abs(best - value) ? x : best), null);
    };
    const open = (event) => {
      const link = readout.querySelector("a");
      // As if it were clicked itself, with the keys that ask for a new tab.
      if (link) link.dispatchEvent(new MouseEvent("click", { ctrlKey: event.ctrlKey, metaKey: event.metaKey, shiftKey: event.shiftKey, bubbles: true, cancelable: true }));
    };
    let start = null;
    let brush = null;
    let isClick = false;
    const endBrush = () => {
      if (brush) brush.remove();
      brush = null;
      start = null;
    };
    svg.addEventListener("pointerdown", (event) => {
      // A finger reads the value; the link is then below the chart.
      isClick = event.pointerType !== "touch";
      if (!isClick) point(nearest(within(event)));
      if (!chart.zooms || event.pointerType === "touch" || event.button) return;
      start = within(event);
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      const value = within(event);
      if (start === null) {
        point(nearest(value));
        return;
      }
      if (brush) brush.remove();
      const [a, b] = [start, value].sort((x, y) => x - y).map((x) => state.toX(Math.min(Math.max(x, state.shown[0]), state.shown[1])));
      brush = node("rect", { class: "brush", x: a, y: state.frame.top, width: Math.max(0, b - a), height: state.frame.bottom - state.frame.top });
      svg.append(brush);
    });
    svg.addEventListener("pointerup", (event) => {
      const from = start;
      const to = within(event);
      endBrush();
      if (from === null || Math.abs(state.toX(to) - state.toX(from)) <= 6) return;
      isClick = false;
      zoom(Math.min(from, to), Math.max(from, to));
    });
    svg.addEventListener("click", (event) => { if (isClick) open(event); });
    svg.addEventListener("pointercancel", endBrush);
    svg.addEventListener("pointerleave", (event) => { if (start === null && event.pointerType !== "touch") point(null); });
    svg.addEventListener("keydown", (event) => {
      const there = every.filter((x) => x >= state.shown[0] && x <= state.shown[1]);
      const index = there.indexOf(cursor);
      const move = { ArrowRight: index + 1, ArrowLeft: index < 0 ? there.length - 1 : index - 1, Home: 0, End: there.length - 1 }[event.key];
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (move !== undefined) point(there[Math.min(Math.max(move, 0), there.length - 1)] ?? null);
      else if (chart.zooms && (event.key === "+" || event.key === "=")) scale(0.5);
      else if (chart.zooms && event.key === "-") scale(2);
      else if (chart.zooms && event.key === "0") showAll();
      else if (event.key === "Enter") open(event);
      else if (event.key === "Escape") point(null);
      else return;
      event.preventDefault();
    });
    redraw();
    let drawn = box.clientWidth;
    new ResizeObserver(() => {
      if (Math.abs(box.clientWidth - drawn) < 4 || !box.clientWidth) return;
      drawn = box.clientWidth;
      redraw();
    }).observe(box);
  };
})();
