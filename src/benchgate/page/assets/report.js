"use strict";
// Finds, sorts and folds the benchmarks of a report.
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  const form = document.getElementById("filter");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const chips = [...form.querySelectorAll("[data-outcome]")];
  const sections = new Map([...document.querySelectorAll(".bench")].map((one) => [one.id, one]));
  const all = [...table.tBodies].map((body) => ({
    body,
    section: sections.get(body.dataset.for),
    name: body.querySelector(".name").textContent.trim(),
    outcome: body.dataset.outcome,
    rank: Number(body.dataset.rank),
    change: body.dataset.change === "" ? null : Number(body.dataset.change),
  }));
  for (const one of all) one.text = one.body.textContent.toLowerCase();

  const apply = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = new Set(chips.filter((x) => x.getAttribute("aria-pressed") === "true").map((x) => x.dataset.outcome));
    let count = 0;
    for (const one of all) {
      const fits = shown.has(one.outcome) && words.every((word) => one.text.includes(word));
      one.body.hidden = !fits;
      one.section.hidden = !fits;
      count += fits;
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

  const order = {
    rank: (a, b) => a.rank - b.rank,
    name: (a, b) => a.name.localeCompare(b.name, "en", { numeric: true }) || a.rank - b.rank,
    // The worst first; what has no change comes last either way.
    change: (a, b) => (b.change ?? -Infinity) - (a.change ?? -Infinity) || a.rank - b.rank,
  };
  const sort = (key, descending) => {
    const compare = order[key];
    const known = all.filter((one) => key !== "change" || one.change !== null);
    const rest = all.filter((one) => !known.includes(one));
    known.sort(compare);
    if (descending) known.reverse();
    const sorted = [...known, ...rest];
    table.append(...sorted.map((one) => one.body));
    const parent = sorted[0].section.parentElement;
    parent.append(...sorted.map((one) => one.section));
  };
  for (const button of table.querySelectorAll("[data-sort]")) {
    button.hidden = false;
    button.previousElementSibling.remove();
    button.addEventListener("click", () => {
      const cell = button.closest("th");
      const descending = cell.getAttribute("aria-sort") === "ascending";
      for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sort(button.dataset.sort, descending);
    });
  }

  const close = document.getElementById("close-all");
  const label = () => { close.hidden = !document.querySelector(".bench[open]"); };
  close.addEventListener("click", () => {
    for (const one of sections.values()) one.open = false;
    label();
  });
  document.addEventListener("toggle", label, true);

  // What a reader most probably came for is open.
  const first = all[0];
  if (["regressed", "over limit", "failed"].includes(first.outcome) && !location.hash) first.section.open = true;
})();
