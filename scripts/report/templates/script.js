"use strict";
(() => {
  const made = (tag, text, name = "tool") => Object.assign(document.createElement(tag), { className: name, textContent: text });
  const plain = (text) => text.replace(/[\u202f\u00a0]/g, "").replace(/\u2212/g, "-").trim();
  const figure = (text) => {
    const found = plain(text).replace(/\s*×$/, "");
    return found !== "" && !isNaN(found) ? Number(found) : null;
  };
  const compare = (left, right, direction) => {
    const [a, b] = [figure(left), figure(right)];
    if (a !== null && b !== null) return direction * (a - b);
    if (a !== null || b !== null) return a === null ? 1 : -1;
    return direction * left.localeCompare(right);
  };
  const sortable = (heads, sort) => {
    let sorted = -1, direction = 1;
    heads.forEach((head, column) => {
      head.style.cursor = "pointer";
      head.title = "Sort";
      head.tabIndex = 0;
      const act = () => {
        direction = column === sorted ? -direction : 1;
        sorted = column;
        sort(column, direction);
        for (const each of heads) each.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
      };
      head.addEventListener("click", act);
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter") act();
      });
    });
  };

  const main = (cell) => {
    const copy = cell.cloneNode(true);
    for (const note of copy.querySelectorAll("small")) note.remove();
    return copy.textContent.replace(/\s+/g, (gap) => (/[\u202f\u00a0]/.test(gap) ? gap : " ")).trim();
  };
  const copied = async (text) => {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = Object.assign(made("textarea", ""), { value: text });
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
  };
  for (const table of document.querySelectorAll(".scroll > table")) {
    const copy = made("button", "Copy as TSV", "tool copy");
    copy.addEventListener("click", async () => {
      const lines = [...table.rows].map((row) => [...row.cells].map((cell) => plain(main(cell))).join("\t"));
      await copied(lines.join("\n") + "\n");
      copy.textContent = "Copied";
      setTimeout(() => { copy.textContent = "Copy as TSV"; }, 1500);
    });
    table.after(copy);
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 3 || table.matches(".sided, .marks")) continue;
    const kinds = [...new Set(rows.map((row) => row.classList[0] || ""))];
    const kind = (row) => kinds.indexOf(row.classList[0] || "");
    sortable([...table.tHead.rows[0].cells], (column, direction) => {
      const texts = new Map(rows.map((row) => [row, main(row.cells[column])]));
      const order = [...rows].sort(
        (left, right) => kind(left) - kind(right) || compare(texts.get(left), texts.get(right), direction));
      table.tBodies[0].append(...order);
    });
  }

  const list = document.querySelector(".runs");
  const rows = [...list.querySelectorAll("details.run")];
  const filter = Object.assign(made("input", ""), { type: "search", placeholder: "Filter runs: pgo oltp 8" });
  filter.setAttribute("aria-label", "Filter runs");
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const texts = rows.map((row) =>
      [...row.querySelector("summary").children].map((field) => plain(field.textContent).toLowerCase()));
    const known = new Set(texts.flat());
    const fits = (field, word) => (known.has(word) ? field === word : field.startsWith(word));
    rows.forEach((row, place) => {
      row.hidden = !wanted.every((word) => texts[place].some((field) => fits(field, word)));
    });
  });
  const unfold = made("button", "Unfold all");
  unfold.addEventListener("click", () => {
    const open = unfold.textContent === "Unfold all";
    for (const row of rows) row.open = open;
    unfold.textContent = open ? "Fold all" : "Unfold all";
  });
  list.parentElement.before(filter, unfold);
  sortable([...list.querySelector(".head").children], (column, direction) => {
    const texts = new Map(rows.map((row) => [row, row.querySelector("summary").children[column].textContent]));
    list.append(...[...rows].sort((left, right) => compare(texts.get(left), texts.get(right), direction)));
  });
})();
