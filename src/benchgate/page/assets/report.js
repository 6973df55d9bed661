"use strict";
// Finds, orders and closes the benchmarks of a report.
(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const order = document.getElementById("order");
  const chips = [...form.querySelectorAll("[data-outcome]")];
  const all = [...document.querySelectorAll(".bench")].map((section, rank) => ({
    section,
    rank,
    name: section.querySelector(".name").textContent.trim(),
    text: section.querySelector("summary").textContent.toLowerCase(),
    change: section.dataset.change ? Number(section.dataset.change) : -Infinity,
  }));

  const apply = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hidden = new Set(chips.filter((x) => x.getAttribute("aria-pressed") !== "true").map((x) => x.dataset.outcome));
    let count = 0;
    for (const one of all) {
      one.section.hidden = hidden.has(one.section.dataset.outcome) || !words.every((word) => one.text.includes(word));
      count += !one.section.hidden;
    }
    found.textContent = count === all.length ? "" : `${count} of ${all.length} benchmarks`;
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", apply);
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }

  const orders = {
    rank: () => 0,
    name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }),
    change: (a, b) => (a.change === b.change ? 0 : b.change - a.change),
  };
  const place = document.createComment("benchmarks");
  if (all.length) all[0].section.before(place);
  order.addEventListener("change", () => {
    all.sort((a, b) => orders[order.value](a, b) || a.rank - b.rank);
    place.after(...all.map((one) => one.section));
  });

  const close = document.getElementById("close-all");
  document.addEventListener("toggle", () => {
    close.hidden = !document.querySelector(".bench[open]");
  }, true);
  close.addEventListener("click", () => {
    for (const one of all) one.section.open = false;
  });
})();
