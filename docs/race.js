// Plays the recorded run of the landing page: the estimates and intervals of its players at each moment.
// It plays once when it comes into view, but only if asked to if the reader prefers reduced motion.
(() => {
  "use strict";
  const SECONDS = 9;
  const figure = document.querySelector(".race");
  if (!figure) return;

  const run = JSON.parse(figure.querySelector("script").textContent);
  const [button, list, count] = ["button", ".race-rows", ".race-count"].map((name) => figure.querySelector(name));
  const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");
  const last = run.evaluations.length - 1;
  const percent = (value) => 100 * Math.max(0, Math.min(1, value / run.width));
  let moment = last; // between two recorded moments while it plays
  let before = null; // when the last frame was drawn

  const rows = run.names.map((name) => {
    const row = document.createElement("li");
    row.append(...["span", "span", "span"].map((tag) => document.createElement(tag)));
    row.children[0].textContent = name;
    row.children[1].append(document.createElement("i"), document.createElement("u"));
    return row;
  });
  list.replaceChildren(...rows);

  function draw() {
    const from = Math.floor(moment);
    const to = Math.min(from + 1, last);
    const between = (a, b) => a + (moment - from) * (b - a);
    const now = run.names.map((_, player) => between(run.estimates[from][player], run.estimates[to][player]));
    const ranking = run.names.map((_, player) => player).sort((a, b) => now[b] - now[a]);
    ranking.forEach((player, rank) => {
      const row = rows[player];
      const half = between(run.half_widths[from][player], run.half_widths[to][player]);
      const [low, high] = [percent(now[player] - half), percent(now[player] + half)];
      const [bar, interval] = row.children[1].children;
      bar.style.width = `${percent(now[player])}%`;
      interval.style.left = `${low}%`;
      interval.style.width = `${high - low}%`;
      row.children[2].textContent = (run.unit * now[player]).toFixed(3);
      row.style.setProperty("--rank", Math.min(rank, run.shown));
      row.classList.toggle("inside", rank < run.k);
      row.classList.toggle("hidden", rank >= run.shown);
      row.setAttribute("aria-hidden", String(rank >= run.shown));
    });
    count.textContent = Math.round(between(run.evaluations[from], run.evaluations[to])).toLocaleString("en");
  }

  function become(state) {
    figure.dataset.state = state;
    button.textContent = { playing: "Pause", paused: "Play", done: "Play again" }[state];
  }

  function step(now) {
    if (figure.dataset.state !== "playing") return;
    moment = Math.min(last, moment + (last * (now - (before ?? now))) / (1000 * SECONDS));
    before = now;
    draw();
    if (moment < last) requestAnimationFrame(step);
    else become("done");
  }

  function play() {
    if (moment >= last) moment = 0;
    before = null;
    become("playing");
    requestAnimationFrame(step);
  }

  function finish() {
    moment = last;
    become("done");
    draw();
  }

  button.addEventListener("click", () => (figure.dataset.state === "playing" ? become("paused") : play()));
  reduced.addEventListener("change", () => reduced.matches && finish());
  button.hidden = false;
  finish();
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    if (!reduced.matches) play();
  }, { threshold: 0.6 }).observe(figure);
})();
