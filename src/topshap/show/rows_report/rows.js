"use strict";
// Draws the overview and the table of rows from the JSON in the page. Text is always set as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("topshap-data").textContent);
  const { run, players, values, outputs } = data;
  const [n, k, width] = [run.n_players, run.k, run.interval_width];
  const [PAGE, BARS, LISTED, POINTS] = [50, 15, 40, 1000];
  const listed = outputs[0].grand.length;
  const state = { output: outputs[0], order: [], sort: "row", up: true, page: 0, open: null };
  const byId = (id) => document.getElementById(id);
  const count = (x) => x.toLocaleString("en");
  const element = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "rect"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const short = (x, digits = 3) => { // as Python writes a number with "g"
    if (x === null) return "?";
    const [head, power] = x.toExponential(digits - 1).split("e");
    if (x === 0 || (power >= -4 && power < digits)) return String(Number(x.toPrecision(digits)));
    return `${Number(head)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  };
  const signed = (x) => (x > 0 ? "+" : "") + short(x);
  const percent = (p) => (p === null ? "?" : p > 0.99 ? ">99%" : p < 0.01 ? "<1%" : Math.round(100 * p) + "%");
  const rowName = (r) => (data.rows ? data.rows[r] : String(r));
  const estimate = (r, i) => state.output.estimates[r * n + i];
  const half = (r, i) => (state.output.std_errors[r * n + i] === null ? null : width * state.output.std_errors[r * n + i]);
  const topOf = (r) => state.output.top.slice(r * k, r * k + k);
  const valueText = (r, i) => {
    const of = values && values[i];
    const x = of ? of.numbers[r] : null;
    if (x === null || of.labels) return x === null ? "" : of.labels[x];
    return Number.isInteger(x) && Math.abs(x) < 1e12 ? String(x) : short(x, Math.abs(x) >= 1e4 && Math.abs(x) < 1e6 ? 6 : 4);
  };
  const label = (r, i) => players[i] + (valueText(r, i) === "" ? "" : " = " + valueText(r, i));
  const key = { value: (x) => x, magnitude: Math.abs, lowest: (x) => -x }[run.rank_by] || ((x) => x);
  const ranked = () => players.map((_, i) => i).sort((a, b) => state.output.importance[b] - state.output.importance[a] || a - b);

  // A line of a board: rank, name, bar with interval, number.
  const line = (rank, name, value, wing, low, high, inside) => {
    const at = (v) => Math.min(100, Math.max(0, (100 * (v - low)) / (high - low || 1)));
    const bar = element("svg", { class: "ts-bar", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
      element("rect", { x: Math.min(at(0), at(value)), y: 2, width: Math.abs(at(value) - at(0)), height: 16 }),
      element("path", { class: "ts-zero", d: `M${at(0)} 0v20` }));
    const [left, right] = [at(value - wing), at(value + wing)];
    if (right > left) bar.append(element("path", { d: `M${left} 10H${right}M${left} 6v8M${right} 6v8` }));
    const text = short(value) + (wing === null ? " ± ?" : wing > 0 ? ` ± ${short(wing, 2)}` : "");
    return element("li", { class: `ts-row ${inside ? "ts-in" : "ts-out"}` }, element("span", { class: "ts-rank" }, String(rank)),
      element("bdi", { class: "ts-name", title: name }, name), bar, element("span", { class: "ts-value" }, text));
  };
  const more = (hidden) => (hidden > 0 ? [element("li", { class: "ts-gap" }, `⋮ ${count(hidden)} more`)] : []);

  const drawBars = () => {
    const { importance, importance_error: errors } = state.output;
    const shown = ranked().slice(0, BARS);
    const wing = (i) => (errors[i] === null ? 0 : width * errors[i]);
    const high = Math.max(...shown.map((i) => importance[i] + wing(i)));
    byId("bars").replaceChildren(
      ...shown.map((i, place) => line(place + 1, players[i], importance[i], wing(i), 0, high, true)), ...more(n - shown.length));
  };

  // The points: one per row and player, spread where there are many, coloured by the player's value.
  let drawn = [];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const parse = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const ramp = () => {
    const [low, middle, high] = ["--low", "--middle", "--high"].map((name) => parse(colour(name)));
    const mix = (a, b, t) => `rgb(${a.map((x, i) => Math.round(x + (b[i] - x) * t)).join()})`;
    return (t) => (t === null ? colour("--unknown") : t < 0.5 ? mix(low, middle, 2 * t) : mix(middle, high, 2 * t - 1));
  };
  const relative = (i) => {
    const numbers = values && values[i].numbers;
    const known = numbers ? numbers.filter((x) => x !== null).sort((a, b) => a - b) : [];
    if (!known.length) return () => null;
    let [low, high] = [known[Math.floor(0.05 * (known.length - 1))], known[Math.ceil(0.95 * (known.length - 1))]];
    if (low === high) [low, high] = [known[0], known.at(-1)];
    return (r) => (numbers[r] === null ? null : high > low ? Math.min(1, Math.max(0, (numbers[r] - low) / (high - low))) : 0.5);
  };
  const sampled = () => {
    const many = Math.min(listed, POINTS);
    return Array.from({ length: many }, (_, i) => (many === 1 ? 0 : Math.round((i * (listed - 1)) / (many - 1))));
  };
  const drawPoints = () => {
    const shown = ranked().slice(0, BARS);
    const rows = sampled();
    const canvas = byId("points");
    const wide = Math.max(280, byId("swarm").clientWidth);
    const [tall, foot, scale] = [30, 34, devicePixelRatio || 1];
    const left = Math.min(170, Math.round(wide * 0.36));
    const height = shown.length * tall + foot;
    canvas.width = wide * scale;
    canvas.height = height * scale;
    canvas.style.height = height + "px";
    const pen = canvas.getContext("2d");
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = "12px system-ui, sans-serif";
    let [low, high] = [0, 0];
    for (const r of rows) for (const i of shown) { low = Math.min(low, estimate(r, i)); high = Math.max(high, estimate(r, i)); }
    const x = (v) => left + 8 + ((v - low) / (high - low || 1)) * (wide - left - 20);
    const [ink, faint, rule] = [colour("--ink"), getComputedStyle(document.body).getPropertyValue("--ts-faint").trim(), colour("--line")];
    const fit = (text) => {
      let cut = text;
      while (cut.length > 1 && pen.measureText(cut).width > left - 8) cut = cut.slice(0, -2);
      return cut === text ? text : cut + "…";
    };
    const shade = ramp();
    drawn = [];
    shown.forEach((i, place) => {
      const middle = place * tall + tall / 2;
      pen.fillStyle = ink;
      pen.textAlign = "right";
      pen.textBaseline = "middle";
      pen.fillText(fit(players[i]), left, middle);
      pen.fillStyle = rule;
      pen.fillRect(left + 8, middle, wide - left - 20, 0.5);
      const stacks = new Map();
      const at = relative(i);
      for (const r of rows) {
        const across = x(estimate(r, i));
        const bin = Math.round(across / 3);
        const level = stacks.get(bin) || 0;
        stacks.set(bin, level + 1);
        drawn.push({ r, i, bin, level, x: across, middle, t: at(r) });
      }
      const highest = Math.max(1, ...stacks.values()) / 2;
      const step = Math.min(2.5, (tall / 2 - 3) / highest);
      for (const point of drawn) if (point.i === i) point.y = middle + (point.level % 2 ? 1 : -1) * Math.ceil(point.level / 2) * step;
    });
    for (const point of drawn) {
      pen.fillStyle = values ? shade(point.t) : colour("--low");
      pen.beginPath();
      pen.arc(point.x, point.y, 2.2, 0, 2 * Math.PI);
      pen.fill();
    }
    pen.fillStyle = ink;
    pen.fillRect(x(0), 0, 1, height - foot + 4);
    pen.fillStyle = faint;
    pen.textAlign = "center";
    const rough = (high - low) / (wide < 500 ? 4 : 8) || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const gap = power * ([1, 2, 5].find((s) => s * power >= rough) || 10);
    for (let t = Math.ceil(low / gap); t * gap <= high; t += 1) pen.fillText(short(t * gap), x(t * gap), height - foot + 13);
    pen.fillText("Shapley value", (left + wide) / 2, height - 6);
    canvas.setAttribute("aria-label", `Shapley values of ${shown.length} players in ${count(rows.length)} rows; the table below has the numbers`);
    const part = rows.length < run.n_rows ? `Drawn are ${count(rows.length)} of ${count(run.n_rows)} rows. ` : "";
    byId("legend").replaceChildren(part + (values ? "Value of the player: low" : ""), ...(values ? [element("span", { class: "ramp" }), "high"] : []));
  };
  const nearest = (event) => {
    const box = byId("points").getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, distance] = [null, 100];
    for (const point of drawn) {
      const d = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (d < distance) [best, distance] = [point, d];
    }
    return best;
  };
  const tip = byId("tip");
  byId("points").addEventListener("mousemove", (event) => {
    const point = nearest(event);
    tip.hidden = point === null;
    if (point === null) return;
    tip.textContent = `row ${rowName(point.r)}\n${label(point.r, point.i)}\n${signed(estimate(point.r, point.i))}`;
    tip.style.left = scrollX + Math.min(event.clientX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8) + "px";
    tip.style.top = scrollY + event.clientY + 14 + "px";
  });
  byId("points").addEventListener("mouseleave", () => { tip.hidden = true; });
  byId("points").addEventListener("click", (event) => {
    const point = nearest(event);
    if (point === null) return;
    byId("find").value = byId("member").value = "";
    state.open = point.r;
    arrange();
    state.page = Math.floor(state.order.indexOf(point.r) / PAGE);
    fill();
    byId("list").querySelector("[aria-expanded=true]").focus();
  });

  // The table: sorted by any column, filtered by text and by player, in pages; a row opens to its leaderboard.
  const explained = (r) => (data.explained ? data.explained.labels[data.explained.codes[r]] : "");
  const columns = {
    row: { title: "row", get: (r) => (data.rows ? data.rows[r] : r), class: "name" },
    ...(data.explained ? { explained: { title: "explained", get: explained, show: (x) => element("bdi", {}, x), class: "explained" } } : {}),
    prediction: { title: "prediction", get: (r) => state.output.grand[r], show: (x) => short(x, 4) },
    base: { title: "base value", get: (r) => state.output.empty[r], show: (x) => short(x, 4), class: "base" },
    confidence: { title: "confidence", get: (r) => state.output.confidence[r], show: percent },
    top: { title: `top ${k}`, get: (r) => players[topOf(r)[0]], class: "top" },
  };
  const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
  const wanted = (r) => {
    const member = byId("member").value;
    if (member !== "" && !topOf(r).includes(Number(member))) return false;
    const text = byId("find").value.trim().toLowerCase();
    return !text || `${rowName(r)}\n${explained(r)}`.toLowerCase().includes(text) || topOf(r).some((i) => label(r, i).toLowerCase().includes(text));
  };
  const arrange = () => {
    const { get } = columns[state.sort];
    state.order = Array.from({ length: listed }, (_, r) => r).filter(wanted).sort((r, s) => {
      const [a, b] = [get(r), get(s)];
      if (a === null || b === null) return (a === null) - (b === null) || r - s;
      return (state.up ? 1 : -1) * compare(a, b) || r - s;
    });
    state.page = 0;
  };
  const detail = (r) => {
    const top = topOf(r);
    const rest = players.map((_, i) => i).filter((i) => !top.includes(i)).sort((a, b) => key(estimate(r, b)) - key(estimate(r, a)) || a - b);
    const shown = [...top, ...rest].slice(0, Math.max(LISTED, k));
    const ends = shown.flatMap((i) => [estimate(r, i) - (half(r, i) || 0), estimate(r, i) + (half(r, i) || 0)]);
    const [low, high] = [Math.min(0, ...ends), Math.max(0, ...ends)];
    const lines = shown.map((i, place) => line(place + 1, label(r, i), estimate(r, i), half(r, i), low, high, place < k));
    if (k < n) lines[k - 1].classList.add("ts-last");
    const [base, prediction] = [state.output.empty[r], state.output.grand[r]];
    const built = `Base value ${short(base, 4)}, prediction ${short(prediction, 4)}: the players' values add up to the difference, ${signed(prediction - base)}.`;
    return element("tr", { class: "detail" }, element("td", { colspan: Object.keys(columns).length }, element("p", { class: "note" }, built),
      element("ol", { class: "ts-board", "aria-label": `Leaderboard of row ${rowName(r)}` }, ...lines, ...more(n - shown.length))));
  };
  const rowLine = (r) => {
    const button = element("button", { type: "button", "aria-expanded": String(state.open === r), "data-row": r }, element("bdi", {}, rowName(r)));
    const top = topOf(r).slice(0, 5).map((i) => element("span", {}, element("bdi", {}, label(r, i)), " ",
      element("span", { class: estimate(r, i) < 0 ? "down" : "up" }, signed(estimate(r, i)))));
    if (k > 5) top.push(element("span", {}, `⋮ ${k - 5} more`));
    const cells = Object.values(columns).map(({ get, show, class: kind = "" }) =>
      element("td", { class: kind }, ...(kind === "name" ? [button] : kind === "top" ? top : [show(get(r))])));
    return element("tr", { class: state.open === r ? "row open" : "row", "data-row": r }, ...cells);
  };
  const body = element("tbody");
  const fill = () => {
    const start = state.page * PAGE;
    const shown = state.order.slice(start, start + PAGE);
    body.replaceChildren(...shown.flatMap((r) => (state.open === r ? [rowLine(r), detail(r)] : [rowLine(r)])));
    const all = state.order.length;
    byId("found").textContent = `${count(all)} of ${count(listed)} rows`;
    byId("page").textContent = all ? `${count(start + 1)} to ${count(start + shown.length)} of ${count(all)}` : "no rows";
    byId("previous").disabled = state.page === 0;
    byId("next").disabled = start + PAGE >= all;
    byId("pages").hidden = all <= PAGE;
    for (const [name, head] of Object.entries(heads)) {
      if (name === state.sort) head.setAttribute("aria-sort", state.up ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    }
  };
  const renew = () => { arrange(); fill(); };
  const heads = {};
  for (const [name, { title, class: kind = "" }] of Object.entries(columns)) {
    const button = element("button", { type: "button" }, title);
    heads[name] = element("th", { scope: "col", class: kind }, button);
    button.addEventListener("click", () => {
      state.up = state.sort === name ? !state.up : ["row", "explained", "top"].includes(name); // numbers: highest first
      state.sort = name;
      renew();
    });
  }
  byId("list").append(element("thead", {}, element("tr", {}, ...Object.values(heads))), body);
  const toggle = (r) => {
    state.open = state.open === r ? null : r;
    fill();
    body.querySelector(`button[data-row="${r}"]`).focus({ preventScroll: true });
  };
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr.row");
    if (row && !getSelection().toString()) toggle(Number(row.dataset.row));
  });
  body.addEventListener("keydown", (event) => {
    const buttons = [...body.querySelectorAll("button[data-row]")];
    const place = buttons.indexOf(document.activeElement);
    const to = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === "Escape" && state.open !== null) toggle(state.open);
    if (place < 0 || to === undefined || !buttons[to]) return;
    event.preventDefault();
    buttons[to].focus();
  });
  const turn = (by) => {
    state.page += by;
    fill();
    byId("table").scrollIntoView();
  };
  byId("previous").addEventListener("click", () => turn(-1));
  byId("next").addEventListener("click", () => turn(1));
  byId("find").addEventListener("input", renew);
  byId("member").addEventListener("change", renew);

  const show = () => {
    const member = byId("member").value;
    byId("member").replaceChildren(element("option", { value: "" }, "any player"), ...ranked().map((i) => element("option", { value: i }, players[i])));
    byId("member").value = member;
    drawBars();
    drawPoints();
    renew();
  };
  byId("output").append(...outputs.map(({ name }, i) => element("option", { value: i }, name)));
  byId("outputs").hidden = outputs.length < 2;
  byId("output").addEventListener("change", () => { state.output = outputs[byId("output").value]; show(); });
  addEventListener("resize", drawPoints);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawPoints);
  show();
})();
