// Tables of reports are sorted by the column whose header is pressed: upwards, downwards, then as in the report.
// Numbers come first, then other text, then empty cells and nan.
(() => {
  "use strict";
  const NUMBER = /^[<>+]?\s*(-?\d[\d,]*\.?\d*(?:e[-+]?\d+)?)/i;
  const NEXT = { none: "ascending", ascending: "descending", descending: "none" };

  function key(cell) {
    const text = cell.textContent.trim();
    if (text === "" || text === "nan") return { kind: 2, value: text };
    const found = cell.classList.contains("number") ? text.match(NUMBER) : null;
    return found ? { kind: 0, value: Number(found[1].replaceAll(",", "")) } : { kind: 1, value: text };
  }

  function compare(a, b, sign) {
    if (a.kind !== b.kind) return a.kind - b.kind;
    return sign * (a.kind === 0 ? a.value - b.value : a.value.localeCompare(b.value, "en", { numeric: true }));
  }

  function sort(table, header, column, original) {
    const direction = NEXT[header.getAttribute("aria-sort")];
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", direction);
    const rows = original.map((row) => ({ row, key: key(row.cells[column]) }));
    if (direction !== "none") rows.sort((a, b) => compare(a.key, b.key, direction === "ascending" ? 1 : -1));
    table.tBodies[0].append(...rows.map(({ row }) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    const original = [...table.tBodies[0].rows];
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, header, column, original));
    });
  }
})();
