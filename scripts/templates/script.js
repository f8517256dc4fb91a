"use strict";
(() => {
  const list = document.querySelector(".runs");
  const rows = [...list.querySelectorAll("details.run")];
  const made = (tag, text) => Object.assign(document.createElement(tag), { className: "tool", textContent: text });

  const filter = Object.assign(made("input", ""), { type: "search", placeholder: "Filter runs: pgo oltp 8" });
  filter.setAttribute("aria-label", "Filter runs");
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const row of rows) {
      const fields = [...row.querySelector("summary").children].map((field) => field.textContent.toLowerCase());
      row.hidden = !wanted.every((word) => fields.some((field) => field.startsWith(word)));
    }
  });

  const unfold = made("button", "Unfold all");
  unfold.addEventListener("click", () => {
    const open = unfold.textContent === "Unfold all";
    for (const row of rows) row.open = open;
    unfold.textContent = open ? "Fold all" : "Unfold all";
  });
  list.parentElement.before(filter, unfold);

  const value = (row, column) => row.querySelector("summary").children[column].textContent.replaceAll("\u202f", "");
  const compare = (left, right) =>
    left !== "" && right !== "" && !isNaN(left) && !isNaN(right) ? left - right : left.localeCompare(right);
  let sorted = 0, direction = 1;
  [...list.querySelector(".head").children].forEach((head, column) => {
    head.style.cursor = "pointer";
    head.title = "Sort";
    head.addEventListener("click", () => {
      direction = column === sorted ? -direction : 1;
      sorted = column;
      const order = [...rows].sort((left, right) => direction * compare(value(left, column), value(right, column)));
      list.append(...order);
    });
  });
})();
