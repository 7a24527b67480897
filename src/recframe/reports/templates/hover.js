"use strict";
// Shows the sentence of the point that a pointer is near, or that a finger touches.
(function () {
  const said = document.getElementById("said");
  const NEAR = 20;
  let drawn = null;
  let places = [];

  function measure(svg) {
    drawn = svg;
    places = [...svg.querySelectorAll(".point")].map((point) => {
      const box = point.getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2, point.getAttribute("aria-label")];
    });
  }

  function show(event) {
    const svg = event.target.closest ? event.target.closest(".plot svg") : null;
    said.className = "";
    if (!svg) return;
    if (svg !== drawn) measure(svg);
    const far = ([x, y]) => Math.hypot(x - event.clientX, y - event.clientY);
    const nearest = places.reduce((best, one) => (!best || far(one) < far(best) ? one : best), null);
    if (!nearest || far(nearest) > NEAR) return;
    said.textContent = nearest[2];
    said.className = "shown";
    const left = Math.min(nearest[0] + 12, innerWidth - said.offsetWidth - 8);
    const below = nearest[1] + 14 + said.offsetHeight < innerHeight;
    said.style.left = `${Math.max(left, 8)}px`;
    said.style.top = `${below ? nearest[1] + 14 : nearest[1] - 14 - said.offsetHeight}px`;
  }

  for (const name of ["pointermove", "pointerdown"]) document.addEventListener(name, show);
  for (const name of ["scroll", "resize"]) addEventListener(name, () => { drawn = null; said.className = ""; });
})();
