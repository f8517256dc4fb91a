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

  for (const figure of document.querySelectorAll("figure")) {
    const part = figure.querySelector("svg [id]");
    if (!part) continue;
    figure.id = `figure-${part.id.slice(0, part.id.lastIndexOf("."))}`;
    const link = made("a", "#", "anchor");
    Object.assign(link, { href: `#${encodeURIComponent(figure.id)}`, title: "Link to this figure" });
    figure.append(link);
  }

  const reveal = () => {
    const wanted = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!wanted) return;
    for (let at = wanted; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (wanted.matches(".folded")) wanted.firstElementChild.open = true;
    wanted.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  const main = (cell) => {
    const copy = cell.cloneNode(true);
    for (const note of copy.querySelectorAll("small")) note.remove();
    return copy.textContent.replace(/\s+/g, (gap) => (/[\u202f\u00a0]/.test(gap) ? gap : " ")).trim();
  };
  const whole = (cell) => {
    const notes = [...cell.querySelectorAll("small")].map((note) => plain(note.textContent));
    return plain(main(cell)) + (notes.length ? ` (${notes.join(", ")})` : "");
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
    const forms = {
      TSV: (lines) => lines.map((fields) => fields.map((field) => plain(main(field))).join("\t")),
      Markdown: (lines) => lines.flatMap((fields, place) => [
        `| ${fields.map((field) => whole(field).replace(/[\\|*_`<]/g, "\\$&")).join(" | ")} |`,
        ...(place ? [] : [`|${"---|".repeat(fields.length)}`]),
      ]),
    };
    const bar = made("div", "", "copies");
    for (const [form, write] of Object.entries(forms)) {
      const copy = made("button", `Copy as ${form}`, "tool copy");
      copy.addEventListener("click", async () => {
        await copied(write([...table.rows].map((row) => [...row.cells])).join("\n") + "\n");
        copy.textContent = "Copied";
        setTimeout(() => { copy.textContent = `Copy as ${form}`; }, 1500);
      });
      bar.append(copy);
    }
    table.after(bar);
    const rows = [...table.tBodies[0].rows];
    if (rows.length < 3 || table.matches(".sided, .marks")) continue;
    const kind = (row) => Number(row.classList.contains("total"));
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
