// Tables of reports are sorted by the column whose header is pressed: by the first number of a cell, else by its text.
(() => {
  "use strict";
  const NUMBER = /[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?/i;

  function key(cell) {
    const text = cell.textContent.trim();
    const found = cell.classList.contains("number") ? text.match(NUMBER) : null;
    return found ? Number(found[0].replaceAll(",", "")) : text;
  }

  function compare(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function isUnknown(value) {
    return value === "" || value === "nan";
  }

  function sort(table, header, column) {
    const direction = header.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
    header.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const rows = [...table.tBodies[0].rows].map((row) => [key(row.cells[column]), row]);
    rows.sort(([a], [b]) => isUnknown(a) - isUnknown(b) || sign * compare(a, b)); // unknown values are last
    table.tBodies[0].append(...rows.map(([, row]) => row));
  }

  for (const table of document.querySelectorAll("table.sortable")) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      header.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, header, column));
    });
  }
})();
