"use strict";
// Runs before anything is drawn, so that the page never shows the other theme first.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  try {
    const chosen = localStorage.getItem("benchgate-theme");
    if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  } catch {
    // A page from a file may have no storage.
  }
})();
