"use strict";
// Lets a reader go through the flame graphs, and zoom into a function.
(() => {
  const WIDTH = 1000;
  const LETTER = 6.3;
  const SVG = "http://www.w3.org/2000/svg";
  const graphs = new WeakMap();

  const readFrame = (group) => {
    const rect = group.querySelector("rect");
    const [x, y, width] = ["x", "y", "width"].map((name) => Number(rect.getAttribute(name)));
    const title = group.querySelector("title").textContent;
    let label = group.querySelector("text");
    if (!label) {
      label = group.appendChild(document.createElementNS(SVG, "text"));
      label.setAttribute("y", y + 13);
    }
    const name = title.replace(/: [\d,.]+ .*$/, "");
    return { group, rect, label, title, name, x, y, end: x + width, isShown: true };
  };

  const overlaps = (a, b) => a.x < b.end && b.x < a.end;

  class Graph {
    constructor(drawing) {
      this.frames = [...drawing.querySelectorAll("g")].map(readFrame);
      this.frames.sort((a, b) => a.y - b.y || a.x - b.x);
      this.said = drawing.parentElement.querySelector("output");
      this.at = this.zoomed = null;
    }
    say({ title }) {
      this.said.textContent = title;
    }
    frameOf(group) {
      return this.frames.find((one) => one.group === group);
    }
    point(to) {
      if (!to) return;
      this.at?.group.classList.remove("at");
      this.at = to;
      to.group.classList.add("at");
      this.say(to);
    }
    /** Draws a function as wide as the graph; all of the graph if it is drawn like that already. */
    zoom(to) {
      this.zoomed = to === this.zoomed ? null : to;
      const [from, end] = this.zoomed ? [to.x, to.end] : [0, WIDTH];
      const scale = WIDTH / (end - from);
      for (const one of this.frames) {
        const x = Math.max(0, (one.x - from) * scale);
        const width = Math.min(WIDTH, (one.end - from) * scale) - x;
        const letters = Math.floor((width - 6) / LETTER);
        one.isShown = width > 0.01;
        one.group.setAttribute("display", one.isShown ? "inline" : "none");
        one.rect.setAttribute("x", x);
        one.rect.setAttribute("width", Math.max(0, width));
        one.label.setAttribute("x", x + 3);
        one.label.textContent =
          one.name.length <= letters ? one.name : letters > 1 ? `${one.name.slice(0, letters - 1)}…` : "";
      }
    }
    /** The next function in the same row, to the right or to the left. */
    beside(step) {
      const row = this.frames.filter((one) => one.y === this.at.y && one.isShown);
      return row[row.indexOf(this.at) + step];
    }
    press(key) {
      const { at, frames } = this;
      if (!at && key !== "Escape") this.point(frames[0]);
      else if (key === "ArrowUp") this.point(frames.findLast((one) => one.y < at.y && overlaps(one, at)));
      else if (key === "ArrowDown") this.point(frames.find((one) => one.y > at.y && one.isShown && overlaps(one, at)));
      else if (key === "ArrowLeft") this.point(this.beside(-1));
      else if (key === "ArrowRight") this.point(this.beside(1));
      else if (key === "Enter") this.zoom(at);
      else if (key === "Escape") this.zoom(this.zoomed);
      else return false;
      return true;
    }
  }

  // A drawing comes into the page when its benchmark is opened.
  const graphOf = (event) => {
    const drawing = event.target.closest?.(".flame");
    if (drawing && !graphs.has(drawing)) graphs.set(drawing, new Graph(drawing));
    return drawing && graphs.get(drawing);
  };
  const frameOf = (event) => graphOf(event)?.frameOf(event.target.closest("g"));
  document.addEventListener("pointerover", (event) => {
    const frame = frameOf(event);
    if (frame) graphOf(event).say(frame);
  });
  document.addEventListener("click", (event) => {
    const frame = frameOf(event);
    if (!frame) return;
    graphOf(event).point(frame);
    graphOf(event).zoom(frame);
  });
  document.addEventListener("keydown", (event) => {
    const { key } = event;
    if (!/^(Arrow(Up|Down|Left|Right)|Enter|Escape)$/.test(key)) return;
    if (graphOf(event)?.press(key)) event.preventDefault();
  });
})();
