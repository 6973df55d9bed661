"use strict";
// Finds and folds the trends of a history.
(() => {
  const form = document.getElementById("filter");
  const find = document.getElementById("find");
  const aside = document.getElementById("aside");
  const found = document.getElementById("found");
  const chips = [...form.querySelectorAll("[data-direction]")];
  const all = [...document.querySelectorAll(".trend")].map((section) => ({
    section,
    text: section.querySelector(".name").textContent.toLowerCase(),
    direction: section.dataset.direction,
    isAside: "aside" in section.dataset,
  }));
  const machines = [...document.querySelectorAll(".machine")];

  const apply = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = new Set(chips.filter((x) => x.getAttribute("aria-pressed") === "true").map((x) => x.dataset.direction));
    let count = 0;
    for (const one of all) {
      const isWanted = !one.isAside || aside.checked || location.hash === `#${one.section.id}`;
      one.section.hidden = !isWanted || !shown.has(one.direction) || !words.every((word) => one.text.includes(word));
      count += !one.section.hidden;
    }
    for (const machine of machines) machine.hidden = !machine.querySelector(".trend:not([hidden])");
    found.textContent = `${count} of ${all.length} trends`;
  };
  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  find.addEventListener("input", apply);
  if (aside) aside.addEventListener("change", apply);
  for (const chip of chips) {
    chip.addEventListener("click", () => {
      chip.setAttribute("aria-pressed", String(chip.getAttribute("aria-pressed") !== "true"));
      apply();
    });
  }
  addEventListener("hashchange", apply);
  apply();
})();
