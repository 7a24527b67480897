"use strict";
// The cases of a report: real users with their lists, found by typing and by kind and model.
(function () {
  const { json, cell, written } = window.recframePage;
  const box = document.getElementById("case-filter");
  const told = json("page-data").cases;
  if (!box || !told) return;
  const find = document.getElementById("case-find");
  const kind = document.getElementById("case-kind");
  const model = document.getElementById("case-model");
  const count = document.getElementById("case-count");
  const list = document.getElementById("case-list");
  const OPEN = 3;

  function number(value) {
    if (value === null) return "–";
    return Math.abs(value) < 1000 ? value.toFixed(3) : Math.round(value).toLocaleString("en");
  }

  function made(name, className, text) {
    const element = cell(name, text === undefined ? "" : text);
    if (className) element.className = className;
    return element;
  }

  function item(place) {
    const [id, title, ...more] = told.items[place];
    const element = made("span", "item");
    const name = made("bdi", "title", title === null ? id : title);
    element.append(name);
    if (title !== null) element.append(" ", made("bdi", "id", id));
    for (const text of more) if (text !== null) element.append(made("bdi", "about", text));
    return element;
  }

  function ranked(title, rows, n) {
    const part = made("div", "part");
    part.append(made("h4", "", title));
    if (!rows.length) { part.append(made("p", "remark", "Nothing.")); return part; }
    const element = made("ul", "ranked");
    for (const [rank, place, hit] of rows) {
      const line = made("li", hit ? "hit" : "");
      line.append(made("span", "rank", rank === null ? "–" : written(rank)), item(place));
      if (hit) { const mark = made("span", "mark", "hit"); line.append(mark); }
      element.append(line);
    }
    part.append(element);
    if (n > rows.length) part.append(made("p", "remark", `${n - rows.length} more`));
    return part;
  }

  function missed(one) {
    const part = made("div", "part");
    part.append(made("h4", "", "Relevant, but missed"));
    if (!one.missed.length) { part.append(made("p", "remark", "Nothing.")); return part; }
    const element = made("ul", "plain");
    for (const [place, rank] of one.missed) {
      const line = made("li");
      line.append(item(place));
      if (rank !== null) line.append(made("span", "mark quiet", `rank ${written(rank)}`));
      element.append(line);
    }
    part.append(element);
    if (one.n_missed > one.missed.length) part.append(made("p", "remark", `${one.n_missed - one.missed.length} more`));
    return part;
  }

  function history(one) {
    const part = made("div", "part");
    part.append(made("h4", "", "History (train, last)"));
    if (!one.history.length) { part.append(made("p", "remark", "Nothing.")); return part; }
    const element = made("ul", "plain");
    for (const place of one.history) { const line = made("li"); line.append(item(place)); element.append(line); }
    part.append(element);
    return part;
  }

  function card(one) {
    const element = made("details", "case");
    const head = made("summary");
    const who = made("span", "who", "User ");
    who.append(made("bdi", "", one.user));
    head.append(made("span", "badge " + one.kind.split(" ")[0], one.kind), who);
    if (model) head.append(made("bdi", "model", one.model));
    const change = one.other === null ? "" : ` (${told.baseline}: ${number(one.other)})`;
    head.append(made("span", "value", `${told.metric} ${number(one.value)}${change}`));
    element.append(head);
    const fill = () => {
      if (element.querySelector(".case-body")) return;
      const body = made("div", "case-body");
      body.append(ranked(model ? `List of ${one.model}` : "List", one.list, one.n_list));
      if (one.other !== null) body.append(ranked(`List of ${told.baseline}`, one.other_list, 0));
      body.append(missed(one));
      if (told.has_history) body.append(history(one));
      element.append(body);
    };
    element.addEventListener("toggle", fill);
    element.fill = fill;
    return element;
  }

  const cards = told.cases.map(card);
  const texts = told.cases.map((one) => {
    const places = [...one.list.map((row) => row[1]), ...one.other_list.map((row) => row[1]), ...one.missed.map((row) => row[0]), ...one.history];
    return [one.user, ...places.flatMap((place) => told.items[place])].join("\n").toLocaleLowerCase();
  });

  function show() {
    const wanted = find.value.trim().toLocaleLowerCase();
    let n = 0;
    for (const [place, one] of told.cases.entries()) {
      const fits = (!kind.value || one.kind === kind.value) && (!model || !model.value || one.model === model.value) && (!wanted || texts[place].includes(wanted));
      cards[place].hidden = !fits;
      if (fits) n += 1;
    }
    count.textContent = `${n} of ${cards.length} cases`;
  }

  // On paper the cards that are shown are unfolded, and each has to be written before.
  window.addEventListener("beforeprint", () => {
    let n = 0;
    for (const one of cards) {
      if (!one.hidden) n += 1;
      one.classList.toggle("unprinted", n > OPEN);
      if (!one.hidden && n <= OPEN) one.fill();
    }
  });
  box.hidden = false;
  list.append(...cards);
  kind.value = told.cases.length ? told.cases[0].kind : "";
  // A user or a title is looked for in all kinds, of which one may be chosen then.
  let last = "";
  let before = kind.value;
  find.addEventListener("input", () => {
    if (!last && find.value) { before = kind.value; kind.value = ""; }
    if (last && !find.value) kind.value = before;
    last = find.value;
  });
  for (const one of [find, kind, model]) if (one) one.addEventListener("input", show);
  box.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
  show();
  for (const one of cards.filter((other) => !other.hidden).slice(0, OPEN)) { one.fill(); one.open = true; }
})();
