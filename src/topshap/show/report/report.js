"use strict";
// Draws the race and the table from the JSON in the page. Text is always set as text, never as HTML.
(() => {
  const data = JSON.parse(document.getElementById("topshap-data").textContent);
  const { run, players, race } = data;
  const byId = (id) => document.getElementById(id);
  const width = run.interval_width;
  const exact = run.stopped === "exact";
  const noun = run.order === 2 ? "pair" : "player";
  const number = (x, digits = 4) => (x === null ? "?" : String(Number(x.toPrecision(digits))));
  const short = (x, digits = 4) => { // as Python writes a number with "g"
    if (x === null) return "?";
    const [head, power] = x.toExponential(digits - 1).split("e");
    if (x === 0 || (power >= -4 && power < digits)) return String(Number(x.toPrecision(digits)));
    return `${Number(head)}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  };
  const small = run.negligible;
  const negligible = (x, error) => Math.abs(x) <= small.rounding || (Math.abs(x) <= small.small && Math.abs(x) <= small.of_error * width * error);
  const estimate = (x, error, digits) => (x !== null && negligible(x, error ?? 0) ? "0" : short(x, digits));
  const percent = (p) => (p === null ? "?" : p > 0.99 ? ">99%" : p < 0.01 ? "<1%" : Math.round(100 * p) + "%");
  const side = (rank) => (run.learned && rank < run.k ? "ts-in" : "ts-out");
  const element = (tag, attributes = {}, ...children) => {
    const svg = ["svg", "path", "line", "text", "rect", "circle"].includes(tag);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };

  // Leaderboard: the details of a row while it is pointed at or has the focus; arrow keys move between rows.
  const tip = byId("tip");
  const rows = [...document.querySelectorAll("#board .ts-row")];
  const showTip = (row) => {
    tip.textContent = row.dataset.details;
    tip.hidden = false;
    const box = row.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = scrollX + Math.max(8, Math.min(box.left + box.width / 3, room)) + "px";
    const below = box.bottom + tip.offsetHeight + 6 < innerHeight;
    tip.style.top = scrollY + (below ? box.bottom + 4 : box.top - tip.offsetHeight - 4) + "px";
  };
  const hideTip = () => { tip.hidden = true; };
  rows.forEach((row, position) => {
    row.dataset.details = row.title;
    row.removeAttribute("title");
    row.tabIndex = position === 0 ? 0 : -1;
    row.setAttribute("aria-describedby", "tip");
    row.addEventListener("mouseenter", () => showTip(row));
    row.addEventListener("mouseleave", hideTip);
    row.addEventListener("focus", () => showTip(row));
    row.addEventListener("blur", hideTip);
    row.addEventListener("keydown", (event) => {
      const to = { ArrowDown: position + 1, ArrowUp: position - 1, Home: 0, End: rows.length - 1 }[event.key];
      if (event.key === "Escape") hideTip();
      if (to === undefined || !rows[to]) return;
      event.preventDefault();
      row.tabIndex = -1;
      rows[to].tabIndex = 0;
      rows[to].focus();
    });
  });

  // The race: a chart of all points in time, and the ranking at one of them.
  const spread = (places, gap) => {
    const order = places.map((_, i) => i).sort((a, b) => places[a] - places[b]);
    const blocks = [];
    for (const i of order) {
      let block = { middle: places[i], members: [i] };
      let last = blocks.at(-1);
      while (last && last.middle + (gap * last.members.length) / 2 > block.middle - (gap * block.members.length) / 2) {
        const [a, b] = [last.members.length, block.members.length];
        block = { middle: (last.middle * a + block.middle * b) / (a + b), members: [...last.members, ...block.members] };
        blocks.pop();
        last = blocks.at(-1);
      }
      blocks.push(block);
    }
    const apart = [];
    for (const { middle, members } of blocks) members.forEach((i, j) => { apart[i] = middle + gap * (j - (members.length - 1) / 2); });
    return apart;
  };
  const ticks = (low, high, most) => {
    const rough = (high - low) / most || 1;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((s) => s * power >= rough);
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high; i += 1) found.push(Number((i * step).toPrecision(6)));
    return found;
  };
  const logTicks = (low, high) => {
    const found = [];
    const steps = high < 1000 * low ? [1, 2, 5] : [1];
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e += 1) {
      for (const s of steps) if (s * 10 ** e >= low && s * 10 ** e <= high) found.push(s * 10 ** e);
    }
    return found;
  };
  let scales = null;
  const drawChart = () => {
    const wide = Math.max(300, Math.round(byId("chart").clientWidth));
    const height = Math.round(Math.min(400, Math.max(260, wide * 0.6)));
    const names = wide < 500 ? race.labels_narrow : race.labels;
    const margin = { left: 46, right: 18 + 8 * Math.max(...names.map((name) => name.length)), top: 10, bottom: 38 };
    const spent = race.evaluations;
    const [first, last] = [spent[0], spent.at(-1)];
    const log = first > 0 && last > 4 * first;
    const [low, high] = race.limits;
    const along = log ? Math.log : (x) => x;
    const start = last > first ? along(first) : 0;
    const x = (e) => margin.left + ((along(e) - start) / (along(last) - start || 1)) * (wide - margin.left - margin.right);
    const inside = (v) => Math.min(Math.max(v, low - (high - low)), high + (high - low));
    const y = (v) => margin.top + ((high - inside(v)) / (high - low)) * (height - margin.top - margin.bottom);
    const svg = element("svg", { viewBox: `0 0 ${wide} ${height}`, role: "img",
      "aria-label": `Estimates of ${names.length} players after ${first} to ${last} evaluations` });
    const clip = element("svg", { x: 0, y: margin.top, width: wide, height: height - margin.top - margin.bottom,
      viewBox: `0 ${margin.top} ${wide} ${height - margin.top - margin.bottom}`, overflow: "hidden" });
    for (const v of ticks(low, high, 6)) {
      svg.append(element("line", { class: "axis", x1: margin.left, x2: wide - margin.right, y1: y(v), y2: y(v) }),
        element("text", { x: margin.left - 6, y: y(v) + 4, "text-anchor": "end" }, number(v)));
    }
    for (const e of log ? logTicks(first, last) : ticks(last > first ? first : 0, last, wide < 500 ? 4 : 8).filter(Number.isInteger)) {
      svg.append(element("line", { class: "axis", x1: x(e), x2: x(e), y1: height - margin.bottom, y2: height - margin.bottom + 5 }),
        element("text", { x: x(e), y: height - margin.bottom + 18, "text-anchor": "middle" }, e.toLocaleString("en")));
    }
    svg.append(element("text", { x: (margin.left + wide - margin.right) / 2, y: height - 4, "text-anchor": "middle" }, "evaluations"));
    const places = spread(race.estimates.map((line) => y(line.at(-1))), 13);
    const upwards = places.map((_, i) => i).sort((a, b) => places[b] - places[a]);
    upwards.forEach((i, j) => { places[i] = Math.min(places[i], height - margin.bottom - 4 - 13 * j); });
    race.ranks.map((rank, i) => [rank, i]).reverse().forEach(([rank, i]) => {
      const line = race.estimates[i];
      const errors = race.std_errors[i];
      if (rank === run.k - 1 || rank === run.k) {
        const known = spent.map((_, m) => m).filter((m) => errors[m] !== null && line[m] !== null);
        const edge = (m, sign) => `${x(spent[m]).toFixed(1)} ${y(line[m] + sign * width * errors[m]).toFixed(1)}`;
        const around = [...known.map((m) => edge(m, 1)), ...[...known].reverse().map((m) => edge(m, -1))];
        if (known.length > 1) clip.append(element("path", { class: `band ${side(rank)}`, d: `M${around.join("L")}Z` }));
      }
      const points = line.map((v, m) => `${x(spent[m]).toFixed(1)} ${y(v).toFixed(1)}`);
      clip.append(element("path", { class: `line ${side(rank)}`, d: `M${points.join("L")}`, "stroke-dasharray": ["none", "7 3", "7 3 2 3", "2 2"][rank % 4] }));
      if (spent.length < 9) spent.forEach((e, m) => clip.append(element("circle", { class: side(rank), r: 2.5, cx: x(e), cy: y(line[m]) })));
      svg.append(element("path", { class: "leader", d: `M${wide - margin.right} ${y(line.at(-1))}L${wide - margin.right + 8} ${places[i]}` }),
        element("text", { class: side(rank), x: wide - margin.right + 11, y: places[i] + 4 }, names[i]));
    });
    for (const border of race.borders) {
      clip.append(element("line", { class: "border", x1: margin.left, x2: wide - margin.right, y1: y(border), y2: y(border) }));
    }
    const now = element("line", { class: "now", y1: margin.top, y2: height - margin.bottom });
    svg.append(clip, now);
    byId("chart").replaceChildren(svg);
    scales = { x, now };
  };
  const standing = () => race.ranks.map((rank, i) => {
    const bar = element("svg", { class: "ts-bar", viewBox: "0 0 100 20", preserveAspectRatio: "none", "aria-hidden": "true" },
      element("rect", { y: 2, height: 16 }), element("path", { class: "ts-zero" }), element("path"));
    return element("li", { class: `ts-row ${side(rank)}` }, element("span", { class: "ts-rank" }),
      element("bdi", { class: "ts-name" }, race.labels[i]), bar, element("span", { class: "ts-value" }));
  });
  const startRace = () => {
    const moment = byId("moment");
    const items = standing();
    const rule = element("li", { class: "rule", "aria-hidden": "true" });
    byId("standing").append(...items, rule);
    byId("race").hidden = false;
    moment.max = race.evaluations.length - 1;
    moment.value = moment.max;
    const low = Math.min(0, race.limits[0]);
    const high = Math.max(0, race.limits[1]);
    const at = (v) => Math.min(100, Math.max(0, (100 * (v - low)) / (high - low)));
    const update = () => {
      const m = Number(moment.value);
      const tall = items[0].offsetHeight + 2;
      byId("standing").style.height = tall * items.length + "px";
      race.orders[m].forEach((i, place) => {
        const [value, error] = [race.estimates[i][m], race.std_errors[i][m]];
        const [rect, zero, whisker] = items[i].querySelector("svg").children;
        rect.setAttribute("x", Math.min(at(0), at(value)));
        rect.setAttribute("width", Math.abs(at(value) - at(0)));
        zero.setAttribute("d", `M${at(0)} 0v20`);
        const [left, right] = [at(value - width * error), at(value + width * error)];
        whisker.setAttribute("d", error === null || right <= left ? "" : `M${left} 10H${right}M${left} 6v8M${right} 6v8`);
        items[i].style.transform = `translateY(${place * tall}px)`;
        items[i].querySelector(".ts-rank").textContent = race.ranks[place] + 1;
        items[i].querySelector(".ts-value").textContent = estimate(value, error, 3);
      });
      const inside = race.ranks.filter((rank) => rank < run.k).length;
      rule.hidden = inside === items.length;
      rule.style.transform = `translateY(${inside * tall - 2}px)`;
      const text = `after ${race.evaluations[m].toLocaleString("en")} evaluations`;
      byId("spent").textContent = text;
      moment.setAttribute("aria-valuetext", text);
      scales.now.setAttribute("x1", scales.x(race.evaluations[m]));
      scales.now.setAttribute("x2", scales.x(race.evaluations[m]));
    };
    let timer = null;
    const pause = () => {
      clearInterval(timer);
      timer = null;
      byId("play").textContent = "Play";
      byId("play").setAttribute("aria-pressed", "false");
    };
    byId("play").addEventListener("click", () => {
      if (timer !== null) return pause();
      if (moment.value === moment.max) moment.value = 0;
      byId("play").textContent = "Pause";
      byId("play").setAttribute("aria-pressed", "true");
      update();
      timer = setInterval(() => {
        moment.value = Number(moment.value) + 1;
        update();
        if (moment.value === moment.max) pause();
      }, 200);
    });
    moment.addEventListener("input", () => { pause(); update(); });
    const draw = () => { drawChart(); update(); };
    addEventListener("resize", draw);
    draw();
    byId("standing").getBoundingClientRect(); // lay out the first ranking before movements are animated
    byId("standing").classList.add("moving");
  };
  if (race) startRace();

  // The table: sorted by any column, found by name or value, copied as tab-separated text with all digits.
  const order = players.name.map((_, i) => i);
  const half = (i) => (players.std_error[i] === null ? null : width * players.std_error[i]);
  const columns = [
    [noun, (i) => players.name[i], null],
    ["estimate", (i) => players.estimate[i], (x, i) => estimate(x, players.std_error[i], 5)],
  ];
  if (players.value) columns.splice(1, 0, ["value", (i) => players.value[i], null]);
  if (run.learned) columns.unshift(["rank", (i) => i + 1, (x) => String(x)]);
  if (!exact && run.learned) {
    columns.push(["std. error", (i) => players.std_error[i], (x) => short(x, 3)],
      ["low", (i) => (half(i) === null ? null : players.estimate[i] - half(i)), (x) => short(x)],
      ["high", (i) => (half(i) === null ? null : players.estimate[i] + half(i)), (x) => short(x)],
      [`P(top ${run.k})`, (i) => players.p_top_k[i], (p) => percent(p)]);
  }
  const body = element("tbody");
  const lines = order.map((i) => element("tr", { class: side(i) }, ...columns.map(([, get, show]) =>
    element("td", show ? {} : { class: "name" }, show ? show(get(i), i) : element("bdi", {}, get(i))))));
  const wanted = () => {
    const text = byId("find").value.trim().toLowerCase();
    const found = (cell) => cell.toLowerCase().includes(text);
    return order.filter((i) => found(players.name[i]) || (players.value && found(players.value[i])));
  };
  const fill = () => body.replaceChildren(...wanted().map((i) => lines[i]));
  const heads = columns.map(([title, get, show]) => {
    const button = element("button", { type: "button" }, title);
    const head = element("th", { scope: "col", ...(show ? {} : { class: "name" }) }, button);
    button.addEventListener("click", () => {
      const now = head.getAttribute("aria-sort");
      const up = now === null ? ["rank", noun, "value"].includes(title) : now === "descending"; // numbers: highest first
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const compare = (a, b) => (typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b);
      order.sort((i, j) => {
        const [a, b] = [get(i), get(j)];
        if (a === null || b === null) return (a === null) - (b === null);
        return (up ? 1 : -1) * compare(a, b) || i - j;
      });
      fill();
    });
    return head;
  });
  if (run.learned) heads[0].setAttribute("aria-sort", "ascending");
  byId("players").append(element("thead", {}, element("tr", {}, ...heads)), body);
  fill();
  byId("find").addEventListener("input", fill);
  const listed = [];
  if (players.name.length < run.n_candidates) listed.push(`The first ${players.name.length.toLocaleString("en")} of ${run.n_candidates.toLocaleString("en")} ${noun}s are listed.`);
  if (!exact && run.learned) listed.push("Low and high are the ends of the 95% interval (1.96 standard errors).");
  if (players.names_are_cut) listed.push("Long names are shortened.");
  byId("listed").textContent = listed.join(" ");
  byId("copy").addEventListener("click", async () => {
    const cells = wanted().map((i) => columns.map(([, get]) => String(get(i) ?? "").replace(/\s+/g, " ")).join("\t"));
    const text = [columns.map(([title]) => title).join("\t"), ...cells].join("\n") + "\n";
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = element("textarea", { class: "hidden" });
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    byId("copied").textContent = `${cells.length.toLocaleString("en")} rows copied`;
  });
})();
