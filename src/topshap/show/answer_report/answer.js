"use strict";
// Links the sentences of the answer to the parts of the prompt. Text is always set as text, never as HTML.
(() => {
  const { players, results } = JSON.parse(document.getElementById("topshap-data").textContent);
  const spans = [...document.querySelectorAll("[data-span]")];
  const parts = [...document.querySelectorAll("[data-player]")];
  const status = document.getElementById("status");
  const spanOf = (element) => Number(element.dataset.span);
  const playerOf = (element) => Number(element.dataset.player);
  let kept = spans[0]; // the whole answer

  const light = (element, strength) => element.style.setProperty("--s", strength);
  const sentence = (span) => (span === 0 ? "The whole answer" : `Sentence ${span}`);
  const described = (result, player) => {
    const certainty = result.certainty[player] ? `, ${result.certainty[player]}` : "";
    return `${players[player]} (${result.value[player]}${certainty})`;
  };

  const clear = () => [...spans, ...parts].forEach((element) => {
    light(element, 0);
    element.classList.remove("chosen", "in-top");
  });

  const showSpan = (element) => {
    clear();
    element.classList.add("chosen");
    const span = spanOf(element);
    const result = results[span];
    const top = new Set(result.top);
    for (const part of parts) {
      const player = playerOf(part);
      light(part, result.strength[player]);
      part.classList.toggle("in-top", top.has(player));
      const certainty = top.has(player) && result.certainty[player] ? ` · ${result.certainty[player]}` : "";
      part.querySelector(".score").textContent = result.value[player] + certainty;
    }
    const names = result.top.map((player) => described(result, player)).join("; ");
    status.textContent = names ? `${sentence(span)} rests on ${names}.` : `${sentence(span)}: nothing distinguishes the parts.`;
  };

  const showPart = (part) => {
    clear();
    part.classList.add("chosen");
    const player = playerOf(part);
    const behind = [];
    for (const element of spans) {
      const span = spanOf(element);
      light(element, results[span].strength[player]);
      if (span > 0 && results[span].top.includes(player)) behind.push(`${sentence(span)} (${results[span].value[player]})`);
    }
    part.querySelector(".score").textContent = results[0].value[player];
    const text = behind.length ? `is behind ${behind.join("; ")}` : spans.length > 1 ? "is in the top of no sentence" : `has the value ${results[0].value[player]}`;
    status.textContent = `${players[player]} ${text}.`;
  };

  const show = (element) => (element.dataset.span === undefined ? showPart(element) : showSpan(element));
  const back = () => show(kept);
  const pressed = (element) => (element.dataset.span === undefined ? element.querySelector("button") : element);
  const keep = (element) => {
    for (const each of [...spans, ...parts]) pressed(each).setAttribute("aria-pressed", String(each === element && each !== spans[0]));
    kept = element;
    show(element);
  };

  for (const element of [...spans, ...parts]) {
    const target = pressed(element);
    target.setAttribute("aria-pressed", "false");
    element.addEventListener("pointerenter", () => show(element));
    element.addEventListener("pointerleave", back);
    target.addEventListener("focus", () => show(element));
    target.addEventListener("blur", back);
    target.addEventListener("click", () => keep(kept === element ? spans[0] : element));
  }
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") keep(spans[0]); });
  back();
})();
