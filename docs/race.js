// Plays the recorded run of the landing page: the estimates and intervals of its players at each moment.
// It plays once, when it is in view, and not by itself if the reader prefers reduced motion.
(() => {
  "use strict";
  const SECONDS = 9;
  const figure = document.querySelector(".race");
  if (!figure) return;

  const run = JSON.parse(figure.querySelector("script").textContent);
  const [button, list, count] = ["button", ".race-rows", ".race-count"].map((name) => figure.querySelector(name));
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const shown = Number(figure.dataset.shown);
  const last = run.evaluations.length - 1;
  const widest = Math.max(...run.estimates[last].map((value, player) => value + run.half_widths[last][player])) * 1.25;
  const part = (value) => Math.max(0, Math.min(1, value / widest));
  let moment = last; // between two recorded moments while it plays
  let before = null; // when the last picture was drawn

  const rows = run.names.map((name) => {
    const row = document.createElement("li");
    row.append(document.createElement("span"), document.createElement("span"));
    row.firstChild.textContent = name;
    row.lastChild.append(document.createElement("i"), document.createElement("u"));
    return row;
  });
  list.replaceChildren(...rows);
  list.style.setProperty("--shown", shown);

  function draw() {
    const from = Math.floor(moment);
    const to = Math.min(from + 1, last);
    const between = (table, player) => table[from][player] + (moment - from) * (table[to][player] - table[from][player]);
    const ranking = run.names.map((_, player) => player).sort((a, b) => run.estimates[from][b] - run.estimates[from][a]);
    ranking.forEach((player, rank) => {
      const row = rows[player];
      const estimate = between(run.estimates, player);
      const half = between(run.half_widths, player);
      const [bar, interval] = row.lastChild.children;
      bar.style.width = `${100 * part(estimate)}%`;
      interval.style.left = `${100 * part(estimate - half)}%`;
      interval.style.width = `${100 * (part(estimate + half) - part(estimate - half))}%`;
      row.style.setProperty("--rank", Math.min(rank, shown));
      row.classList.toggle("inside", rank < run.k);
      row.classList.toggle("hidden", rank >= shown);
      row.setAttribute("aria-hidden", String(rank >= shown));
    });
    const [a, b] = [run.evaluations[from], run.evaluations[to]];
    count.textContent = Math.round(a + (moment - from) * (b - a)).toLocaleString("en");
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

  button.addEventListener("click", () => (figure.dataset.state === "playing" ? become("paused") : play()));
  still.addEventListener("change", () => {
    if (!still.matches || figure.dataset.state !== "playing") return;
    moment = last;
    become("done");
    draw();
  });
  button.hidden = false;
  become("done");
  draw();
  new IntersectionObserver((entries, observer) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    if (!still.matches) play();
  }, { threshold: 0.6 }).observe(figure);
})();
