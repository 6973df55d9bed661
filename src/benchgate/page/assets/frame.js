"use strict";
// The theme, and charts that are drawn when they come into view.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const label = () => {
    button.textContent = isDark() ? "Light theme" : "Dark theme";
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("benchgate-theme", root.dataset.theme);
    } catch {
      // The choice then lasts as long as the page.
    }
    label();
  });
  system.addEventListener("change", label);
  label();

  let packed = null;
  const read = (key) => {
    packed ??= JSON.parse(document.getElementById("figures").textContent);
    const chart = packed.charts[key];
    if (!chart) return null;
    const whole = { ...chart };
    for (const part of ["title", "caption", "x", "y", "right"]) {
      if (part in whole) whole[part] = packed.shared[whole[part]];
    }
    const [first] = chart.series;
    whole.series = chart.series.map((one) => ({
      ...one, x: one.x ?? first.x, ...(one.high ? { low: one.low ?? one.y } : {}),
    }));
    return whole;
  };
  const show = (place) => {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "yes";
    const chart = read(place.dataset.chart);
    if (chart) benchgate.place(place, chart);
  };
  const all = (within) => within.querySelectorAll("[data-chart]");
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      show(entry.target);
    }
  }, { rootMargin: "200px" });
  for (const place of all(document)) {
    if (!place.closest("details:not([open])")) seen.observe(place);
  }
  // What is folded is a text until its reader opens it: see parts.html.
  const unfold = (details) => {
    const folded = details.querySelector(":scope > noscript");
    if (folded) folded.outerHTML = folded.textContent;
  };
  document.addEventListener("toggle", (event) => {
    if (!event.target.open) return;
    unfold(event.target);
    all(event.target).forEach(show);
  }, true);

  // A link to something within closed details opens them.
  const reveal = () => {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {
      return;
    }
    for (let one = target; one; one = one.parentElement) {
      if (one.tagName === "DETAILS") one.open = true;
    }
    if (target && target.tagName === "DETAILS") {
      target.scrollIntoView();
      target.querySelector("summary").focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (link && link.getAttribute("href") === location.hash) reveal();
  });
  reveal();

  // On paper, what is open is drawn, even if it was never in view.
  addEventListener("beforeprint", () => {
    for (const place of all(document)) {
      if (!place.closest("details:not([open])")) show(place);
    }
  });
})();
