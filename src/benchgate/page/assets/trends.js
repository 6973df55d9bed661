"use strict";
// Finds and hides the benchmarks of a history.
(() => {
  const form = document.getElementById("filter");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const chips = [...form.querySelectorAll("[data-outcome]")];
  const all = [...document.querySelectorAll(".trend")].map((section) => ({
    section,
    text: section.querySelector(".name").textContent.toLowerCase(),
    outcome: section.dataset.outcome,
  }));
  const machines = [...document.querySelectorAll(".machine")];

  const apply = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = new Set(chips.filter((x) => x.getAttribute("aria-pressed") === "true").map((x) => x.dataset.outcome));
    for (const one of all) {
      one.section.hidden = !shown.has(one.outcome) || !words.every((word) => one.text.includes(word));
    }
    for (const machine of machines) machine.hidden = !machine.querySelector(".trend:not([hidden])");
    // A benchmark that was measured on two machines is one.
    const names = (some) => new Set(some.map((one) => one.text)).size;
    found.textContent = `${names(all.filter((one) => !one.section.hidden))} of ${names(all)} benchmarks`;
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
  apply();
})();
