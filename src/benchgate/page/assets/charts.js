"use strict";
// Draws a chart as SVG. Colors are classes, so that themes and paper need no new drawing.
const benchgate = (() => {
  const NS = "http://www.w3.org/2000/svg";
  const HEIGHT = 260;
  const LEAST_WIDTH = 280;
  const GLYPH = 6.6; // about how wide a character of an axis is
  const MARK_LINES = 3;
  const MARK_LINE = 13;

  const node = (name, attributes = {}, text = null) => {
    const made = document.createElementNS(NS, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  };

  const known = (value) => value !== null && value !== undefined;
  const at = (value) => Math.round(value * 10) / 10;

  // Round steps: 1, 2 or 5 times a power of ten.
  const stepOf = (span, count, whole) => {
    const raw = span / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= raw * 0.999);
    return whole ? Math.max(1, Math.round(step)) : step;
  };

  const ticksOf = (low, high, count, whole) => {
    const step = stepOf(high - low, count, whole);
    const first = Math.ceil(low / step - 1e-9) + 0; // and not -0
    const found = [];
    for (let k = first; k * step <= high + step * 1e-9; k += 1) found.push(k * step);
    return { values: found, step };
  };

  const number = (value, step) => {
    const size = Math.abs(value);
    if (size >= 1e7 || (size > 0 && size < 1e-4)) return value.toExponential(2);
    const digits = step ? Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) : undefined;
    if (digits === undefined) return String(Number(value.toPrecision(4)));
    return value.toLocaleString("en-US", {
      minimumFractionDigits: Math.min(digits, 10), maximumFractionDigits: Math.min(digits, 10),
    });
  };

  const extent = (axis, values) => {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
      if (!known(value)) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    if (low > high) return [0, 1];
    if (axis.from_zero) low = Math.min(0, low);
    if (low === high) {
      const room = Math.abs(low) * 0.05 || 1;
      return [axis.from_zero ? low : low - room, high + room];
    }
    return [low, high];
  };

  // Powers of ten, and if these are few, what lies between them.
  const logTicks = (low, high) => {
    const found = [];
    const parts = high - low > 3 ? [1] : [1, 2, 5];
    for (let power = Math.floor(low); power <= high; power += 1) {
      for (const part of parts) {
        const place = power + Math.log10(part);
        if (place >= low - 1e-9 && place <= high + 1e-9) found.push(place);
      }
    }
    return { values: found, step: 0 };
  };

  const padded = ([low, high], axis) => {
    const room = (high - low) * 0.06;
    return [axis.from_zero && low >= 0 ? low : low - room, high + room];
  };

  const halfBar = (chart, one) => {
    const bars = chart.series.filter((x) => x.draw === "bars");
    if (one.draw !== "bars") return 0;
    return one.width ? one.width / 2 : 0.4 / Math.max(1, bars.length);
  };

  // Where a series stands beside the others of its place: only bars of categories do.
  const shift = (chart, one) => {
    const beside = chart.x.categories
      ? chart.series.filter((x) => x.draw === "bars" || x.draw === "points") : [];
    const index = beside.indexOf(one);
    return index < 0 ? 0 : (index - (beside.length - 1) / 2) * (0.8 / beside.length);
  };

  const rangeOfX = (chart) => {
    if (chart.x.categories) return [-0.5, chart.x.categories.length - 0.5];
    const values = [];
    for (const one of chart.series) {
      const half = halfBar(chart, one);
      for (const x of one.x) values.push(x - half, x + half);
    }
    const [low, high] = extent(chart.x, values);
    const room = chart.series.some((x) => x.draw === "points") ? (high - low) * 0.02 : 0;
    return [low - room, high + room];
  };

  const rangeOfY = (chart, right, [left, end], isWhole) => {
    const axis = right ? chart.right : chart.y;
    if (chart.view_y && !right && !isWhole) return padded(chart.view_y, axis);
    const values = [];
    for (const one of chart.series) {
      if (Boolean(one.right) !== right) continue;
      one.x.forEach((x, index) => {
        if (x < left || x > end) return;
        values.push(one.y[index]);
        if (one.low) values.push(one.low[index], one.high[index]);
      });
    }
    if (!right) for (const mark of chart.horizontal ?? []) values.push(mark.at, mark.to);
    if (!axis.log) return padded(extent(axis, values), axis);
    return padded(extent(axis, values.map((x) => (known(x) ? Math.log10(x) : null))), axis);
  };

  const path = (points) => {
    let text = "";
    let broken = true;
    for (const point of points) {
      if (!point) {
        broken = true;
        continue;
      }
      text += `${broken ? "M" : "L"}${at(point[0])} ${at(point[1])}`;
      broken = false;
    }
    return text;
  };

  const symbol = (look, x, y) => {
    // A circle, or a square that stands on a corner: shapes differ as the colors do.
    if (look === "head" || look === "fourth") {
      return node("path", { class: `dot ${look}`, d: `M${at(x)} ${at(y - 4.6)}l4.6 4.6l-4.6 4.6l-4.6 -4.6z` });
    }
    return node("circle", { class: `dot ${look}`, cx: at(x), cy: at(y), r: 3.6 });
  };

  // A point beyond the axis is an arrow at its end.
  const marker = (look, [x, y], frame) => {
    const isAbove = y < frame.top - 1;
    if (!isAbove && y <= frame.bottom + 1) return symbol(look, x, y);
    const [tip, back] = isAbove ? [frame.top - 4, 8] : [frame.bottom + 4, -8];
    return node("path", { class: `dot ${look}`, d: `M${at(x)} ${tip}l5 ${back}h-10z` });
  };

  const dash = (one) => `${one.dashed ? " dashed" : ""}${one.right ? " right" : ""}`;

  const drawSeries = (chart, one, toX, toY, floor, frame, group) => {
    const dx = shift(chart, one);
    const points = one.x.map((x, i) => (known(one.y[i]) ? [toX(x + dx), toY(one.y[i])] : null));
    const dashed = dash(one);
    if (one.low && one.band) {
      const there = one.x.map((x, i) => i).filter((i) => known(one.low[i]) && known(one.high[i]));
      const up = there.map((i) => [toX(one.x[i]), toY(one.high[i])]);
      const down = there.map((i) => [toX(one.x[i]), toY(one.low[i])]).reverse();
      group.append(node("path", { class: `band ${one.look}`, d: `${path([...up, ...down])}z` }));
    }
    if (one.draw === "bars") {
      const half = halfBar(chart, one);
      one.x.forEach((x, i) => {
        if (!known(one.y[i])) return;
        const [left, right] = [toX(x + dx - half), toX(x + dx + half)];
        const [top, bottom] = [toY(one.y[i]), floor];
        group.append(node("rect", {
          class: `bar ${one.look}`, x: at(left), y: at(Math.min(top, bottom)),
          width: at(Math.max(0.5, right - left - (one.width ? 0 : 2))),
          height: at(Math.abs(bottom - top)),
        }));
      });
    }
    if (one.low && !one.band) {
      one.x.forEach((x, i) => {
        if (!known(one.low[i]) || !known(one.high[i])) return;
        const [middle, top, bottom] = [toX(x + dx), toY(one.high[i]), toY(one.low[i])];
        const cap = one.draw === "bars" ? 4 : 3;
        group.append(node("path", {
          class: `whisker ${one.draw === "bars" ? "on-bar" : one.look}`,
          d: `M${at(middle)} ${at(top)}V${at(bottom)}M${at(middle - cap)} ${at(top)}h${2 * cap}`
            + `M${at(middle - cap)} ${at(bottom)}h${2 * cap}`,
        }));
      });
    }
    if (one.draw === "step") {
      const steps = [];
      points.forEach((point, i) => {
        if (i && point && points[i - 1]) steps.push([point[0], points[i - 1][1]]);
        steps.push(point);
      });
      group.append(node("path", { class: `line ${one.look}${dashed}`, d: path(steps) }));
    }
    if (one.draw === "line") {
      group.append(node("path", { class: `line ${one.look}${dashed}`, d: path(points) }));
    }
    if (one.draw === "points") {
      if (!chart.x.categories) {
        group.append(node("path", { class: `thread ${one.look}${dashed}`, d: path(points) }));
      }
      for (const point of points) if (point) group.append(marker(one.look, point, frame));
    }
  };

  const nameOfMark = (mark) => (mark.strong ? "mark strong" : "mark");

  const drawHorizontal = (chart, frame, toY, group) => {
    for (const mark of chart.horizontal ?? []) {
      const line = `M${frame.left} ${at(toY(mark.at))}H${frame.right}`;
      if (!known(mark.to)) group.append(node("path", { class: nameOfMark(mark), d: line }));
      else group.append(node("path", { class: "within", d: `${line}V${at(toY(mark.to))}H${frame.left}z` }));
    }
  };

  // Their labels stand above the chart, where nothing crosses them.
  const drawVertical = (chart, frame, toX, view, svg) => {
    const labels = [];
    (chart.vertical ?? []).forEach((mark, index) => {
      if (mark.at < view[0] || mark.at > view[1]) return;
      const x = at(toX(mark.at));
      const y = frame.top - 5 - (index % MARK_LINES) * MARK_LINE;
      svg.append(node("path", { class: nameOfMark(mark), d: `M${x} ${y + 2}V${frame.bottom}` }));
      // A label that leaves the chart would lose its sign.
      const half = mark.label.length * GLYPH / 2;
      const middle = Math.max(frame.left + half, Math.min(x, frame.right - half));
      labels.push(node("text", { class: "mark-label", x: at(middle), y, "text-anchor": "middle" }, mark.label));
    });
    svg.append(...labels);
  };

  // Draws into an SVG element, and returns how to get from the screen to values and back.
  const draw = (svg, chart, view, isWhole) => {
    const width = Math.max(LEAST_WIDTH, svg.parentElement.clientWidth || 640);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("height", HEIGHT);
    const whole = rangeOfX(chart);
    const shown = view ?? whole;
    const axes = [[chart.y, false], ...(chart.right ? [[chart.right, true]] : [])].map(([axis, right]) => {
      const range = rangeOfY(chart, right, shown, isWhole);
      const ticks = axis.log ? logTicks(...range) : ticksOf(range[0], range[1], 5, axis.whole);
      const texts = ticks.values.map((x) => (axis.log ? number(10 ** x) : number(x, ticks.step)));
      return { axis, right, range, ticks, texts, room: Math.max(...texts.map((x) => x.length), 1) * GLYPH + 12 };
    });
    const lines = Math.min(MARK_LINES, chart.vertical?.length ?? 0);
    const frame = {
      left: Math.round(axes[0].room), top: 22 + lines * MARK_LINE, bottom: HEIGHT - 40,
      right: Math.round(width - (axes[1]?.room ?? 10)),
    };
    const toX = (x) => frame.left + ((x - shown[0]) / (shown[1] - shown[0])) * (frame.right - frame.left);
    const placeY = ([low, high], y) => frame.bottom - ((y - low) / (high - low)) * (frame.bottom - frame.top);
    const scaleY = ({ axis, range }) => (y) => placeY(range, axis.log ? Math.log10(y) : y);
    // Where bars stand: at 0, or where the axis begins.
    const floorY = ({ axis, range }) => (axis.log ? placeY(range, range[0]) : placeY(range, Math.max(0, range[0])));

    for (const one of axes) {
      const toTick = (value) => placeY(one.range, value);
      one.ticks.values.forEach((value, index) => {
        const y = at(toTick(value));
        if (!one.right) svg.append(node("path", { class: "grid", d: `M${frame.left} ${y}H${frame.right}` }));
        svg.append(node("text", {
          class: "tick", x: one.right ? frame.right + 6 : frame.left - 6, y: y + 4,
          "text-anchor": one.right ? "start" : "end",
        }, one.texts[index]));
      });
      svg.append(node("text", {
        class: "axis", x: one.right ? width - 2 : 2, y: 12, "text-anchor": one.right ? "end" : "start",
      }, one.axis.label));
    }
    const room = frame.right - frame.left;
    if (chart.x.categories) {
      chart.x.categories.forEach((text, index) => {
        svg.append(node("text", { class: "tick", x: at(toX(index)), y: frame.bottom + 16, "text-anchor": "middle" }, text));
      });
    } else {
      const ticks = ticksOf(shown[0], shown[1], Math.max(2, Math.floor(room / 80)), chart.x.whole);
      for (const value of ticks.values) {
        const x = at(toX(value));
        const lines = chart.x.ticks ? chart.x.ticks[value] ?? [] : [number(value, ticks.step)];
        svg.append(node("path", { class: "grid", d: `M${x} ${frame.bottom}v4` }));
        lines.forEach((line, index) => {
          const half = (line.length * GLYPH) / 2; // no line leaves the chart
          const place = { x: Math.max(half, Math.min(x, width - half)), y: frame.bottom + 16 + index * 14 };
          svg.append(node("text", { class: "tick", "text-anchor": "middle", ...place }, line));
        });
      }
    }
    svg.append(node("path", { class: "base-line", d: `M${frame.left} ${frame.bottom}H${frame.right}` }));
    if (!chart.x.ticks) {
      svg.append(node("text", { class: "axis", x: frame.right, y: HEIGHT - 6, "text-anchor": "end" }, chart.x.label));
    }

    const inner = node("svg", { x: frame.left - 5, y: frame.top - 5, width: room + 10, height: frame.bottom - frame.top + 10,
      viewBox: `${frame.left - 5} ${frame.top - 5} ${room + 10} ${frame.bottom - frame.top + 10}` });
    svg.append(inner);
    drawHorizontal(chart, frame, scaleY(axes[0]), inner);
    for (const one of chart.series) {
      const axis = one.right ? axes[1] : axes[0];
      drawSeries(chart, one, toX, scaleY(axis), floorY(axis), frame, inner);
    }
    drawVertical(chart, frame, toX, shown, svg);
    return { frame, shown, whole, width, toX, toValue: (x) => shown[0] + ((x - frame.left) / room) * (shown[1] - shown[0]) };
  };

  return { draw, node, number, known, symbol, dash };
})();
