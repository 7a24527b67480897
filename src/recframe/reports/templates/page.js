"use strict";
// What all pages do: the theme's button, charts that fit their place, and the numbers of charts as tables.
(function () {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const LETTER = 6.4;
  const NARROWEST = 240;
  const MOST_ROWS = 500;

  function json(id) {
    return JSON.parse(document.getElementById(id).textContent);
  }

  // Themes

  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  }

  function setUpTheme() {
    const button = document.getElementById("theme");
    const name = () => { button.textContent = isDark() ? "Light mode" : "Dark mode"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("recframe-theme", root.dataset.theme); } catch (error) { /* not kept */ }
      name();
    });
    system.addEventListener("change", name);
    button.hidden = false;
    name();
  }

  // Contents: folded where they stand above the text

  function setUpContents() {
    const contents = document.getElementById("contents");
    const wide = matchMedia("(min-width: 64rem)");
    const fold = () => { contents.open = wide.matches; };
    wide.addEventListener("change", fold);
    fold();
    const links = new Map();
    for (const link of contents.querySelectorAll("a")) links.set(link.hash.slice(1), link);
    if (!("IntersectionObserver" in window)) return;
    const seen = new Set();
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target.id); else seen.delete(entry.target.id);
      }
      let first = true;
      for (const [id, link] of links) {
        const current = first && seen.has(id);
        if (current) { link.setAttribute("aria-current", "true"); first = false; } else link.removeAttribute("aria-current");
      }
    }, { rootMargin: "-10% 0px -60% 0px" });
    for (const id of links.keys()) {
      const section = document.getElementById(id);
      if (section) watch.observe(section);
    }
  }

  // In the frame of a notebook, whose address is not that of the page, a link would lead out of it.
  function setUpLinks() {
    if (window.parent === window) return;
    document.addEventListener("click", (event) => {
      const link = event.target.closest("a[href^='#']");
      if (!link) return;
      event.preventDefault();
      const place = document.getElementById(link.getAttribute("href").slice(1));
      if (!place) return;
      place.scrollIntoView();
      if (place.hasAttribute("tabindex")) place.focus({ preventScroll: true });
    });
  }

  // Charts

  // Texts that were folded for one width are folded for another.
  function folded(title, width) {
    const most = Math.max(Math.floor(width / LETTER), 12);
    const lines = [];
    let line = "";
    for (const word of title.join(" ").split(" ")) {
      if (line && line.length + 1 + word.length > most) { lines.push(line); line = word; } else line = line ? line + " " + word : word;
    }
    lines.push(line);
    return lines;
  }

  function fitLegend(legend, width) {
    if (!legend || !Array.isArray(legend.values) || !legend.columns) return;
    const letters = Math.max(1, ...legend.values.map((name) => String(name).length));
    const longest = Math.min(letters * LETTER, width - 60);
    const columns = Math.max(Math.floor((width - 40) / (longest + 34)), 1);
    legend.columns = Math.min(columns, Math.max(legend.values.length, 1));
    legend.labelLimit = Math.ceil(longest) + 10;
  }

  function fitChannels(encoding, width) {
    for (const [name, channel] of Object.entries(encoding || {})) {
      if (!channel || typeof channel !== "object") continue;
      if ((name === "x" || name === "x2") && Array.isArray(channel.title)) channel.title = folded(channel.title, Math.max(width - 110, 100));
      if (name === "x" && channel.type === "quantitative") {
        channel.axis = channel.axis === null ? null : { ...channel.axis, tickCount: Math.max(Math.floor(width / 80), 3) };
      }
      fitLegend(channel.legend, width);
    }
  }

  // A view's width is that of the marks where views stand below one another, and that of all in a view alone.
  function fit(view, width, change) {
    fitChannels(view.encoding, width);
    if (typeof view.width === "number") view.width = Math.max(change === null ? width : view.width + change, 80);
    for (const inner of view.layer || []) fit(inner, width, change);
    for (const inner of view.vconcat || []) fit(inner, width, width - given);
  }

  const given = 600;

  function fitted(spec, width) {
    const made = JSON.parse(JSON.stringify(spec));
    fit(made, width, null);
    if (made.config && made.config.axis) made.config.axis.labelLimit = Math.max(Math.floor(width / 3), 90);
    return made;
  }

  async function draw(figure, spec) {
    const place = figure.querySelector(".plot");
    const width = Math.max(Math.floor(place.clientWidth), NARROWEST);
    if (figure.drawnFor === width) return;
    figure.drawnFor = width;
    const options = { renderer: "svg", ast: true, actions: false, mode: "vega-lite", defaultStyle: false, logLevel: 1, tooltip: { disableDefaultStyle: true } };
    try {
      const made = await vegaEmbed(place, fitted(spec, width), options);
      if (figure.view) figure.view.finalize();
      figure.view = made.view;
      figure.dataset.drawn = String(width);
    } catch (error) {
      place.textContent = "This chart could not be drawn.";
      console.error(error);
    }
  }

  function setUpCharts() {
    const specs = json("page-charts");
    const figures = [...document.querySelectorAll("figure[data-chart]")].filter((one) => specs[one.dataset.chart]);
    for (const figure of figures) setUpNumbers(figure, specs[figure.dataset.chart]);
    let timer = null;
    const all = async () => {
      for (const figure of figures) await draw(figure, specs[figure.dataset.chart]);
      root.dataset.charts = "drawn";
    };
    window.addEventListener("resize", () => { clearTimeout(timer); timer = setTimeout(all, 150); });
    return all();
  }

  // The numbers of a chart, as a table that is made when it is unfolded

  function cell(name, text) {
    const made = document.createElement(name);
    made.textContent = text;
    return made;
  }

  function written(value) {
    if (value === null || value === undefined) return "–";
    if (typeof value !== "number" || Number.isInteger(value)) return String(value);
    return String(Number(value.toPrecision(6)));
  }

  function tableOf(rows) {
    const HIDDEN = ["place", "model_place", "known", "bin", "width"];
    const names = Object.keys(rows[0]).filter((name) => !HIDDEN.includes(name) && !name.startsWith("_"));
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of names) { const made = cell("th", name); made.scope = "col"; head.append(made); }
    const body = table.createTBody();
    for (const row of rows.slice(0, MOST_ROWS)) {
      const line = body.insertRow();
      for (const name of names) {
        const made = cell("td", written(row[name]));
        if (typeof row[name] === "number") made.className = "number";
        made.dir = "auto";
        line.append(made);
      }
    }
    return table;
  }

  function setUpNumbers(figure, spec) {
    const fold = figure.querySelector("details.numbers");
    const sets = Object.values(spec.datasets || {}).filter((rows) => rows.length && Object.keys(rows[0]).length > 1);
    if (!fold || !sets.length) return;
    fold.hidden = false;
    fold.addEventListener("toggle", () => {
      if (!fold.open || fold.querySelector("table")) return;
      for (const rows of sets) {
        const scroll = document.createElement("div");
        scroll.className = "scroll";
        scroll.tabIndex = 0;
        scroll.append(tableOf(rows));
        if (rows.length > MOST_ROWS) scroll.append(cell("p", `The first ${MOST_ROWS} of ${rows.length} rows.`));
        fold.append(scroll);
      }
    });
  }

  // What is folded is unfolded on paper

  function setUpPrint() {
    const opened = [];
    window.addEventListener("beforeprint", () => {
      for (const fold of document.querySelectorAll("details:not(.numbers)")) {
        if (!fold.open) { fold.open = true; opened.push(fold); }
      }
    });
    window.addEventListener("afterprint", () => { for (const fold of opened.splice(0)) fold.open = false; });
  }

  window.recframePage = { json, cell, written };
  setUpTheme();
  setUpContents();
  setUpLinks();
  setUpPrint();
  setUpCharts();
})();
