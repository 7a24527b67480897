"use strict";
// Before anything is painted: the theme that the reader chose, and what only pages with scripts have.
(function () {
  let chosen = null;
  try { chosen = localStorage.getItem("recframe-theme"); } catch (error) { /* a frame without storage */ }
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
  document.documentElement.classList.add("scripted");
})();
