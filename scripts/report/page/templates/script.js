"use strict";
(() => {
  const made = (tag, text, name = "tool") => Object.assign(document.createElement(tag), { className: name, textContent: text });
  const plain = (text) => text.replace(/[\u202f\u00a0]/g, "").replace(/\u2212/g, "-").trim();
  // As in our CSV files: a text that a spreadsheet would take for a formula has a quote before it.
  const numeric = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?(\s?(×|%|µs|ms|s|min|h|d|[KMGT]iB|bytes))?$/i;
  const guarded = (text) => (/^'*\s*[=+\-@\uff0b\uff0d\uff1d\uff20]/.test(text) && !numeric.test(text) ? `'${text}` : text);
  const units = {
    "": 1, "×": 1, "%": 1, "µs": 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, d: 86400,
    bytes: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40,
  };
  const quantity = new RegExp(`([-+]?\\d[\\d.]*(?:e[-+]?\\d+)?)\\s?(${Object.keys(units).filter(Boolean).join("|")}|)(?=\\s|$)`, "g");
  const figure = (text) => {
    let sum = null;
    // Of `934 → 947` the variant's counts.
    const rest = plain(text).split("→").at(-1).trim().replace(quantity, (_, number, unit) => {
      sum += Number(number) * units[unit];
      return "";
    });
    return rest.trim() === "" && !isNaN(sum) ? sum : null;
  };
  const compare = (left, right, direction) => {
    const [a, b] = [figure(left), figure(right)];
    if (a !== null && b !== null) return direction * (a - b);
    if (a !== null || b !== null) return a === null ? 1 : -1;
    return direction * left.localeCompare(right);
  };

  for (const figure of document.querySelectorAll("figure")) {
    const part = figure.querySelector("svg [id]");
    if (!part) continue;
    figure.id = `figure-${part.id.slice(0, part.id.lastIndexOf("."))}`;
    const link = made("a", "#", "anchor");
    Object.assign(link, { href: `#${encodeURIComponent(figure.id)}`, title: "Link to this figure" });
    figure.append(link);
  }

  // What a reader changed stands in the hash behind a ?: folds turned over, columns sorted by, words filtered by.
  const counter = () => {
    const counts = {};
    return (element) => {
      const near = element.closest("[id]")?.id ?? "page";
      counts[near] = (counts[near] ?? 0) + 1;
      return [near, counts[near]];
    };
  };
  const folds = new Map();
  const foldPlace = counter();
  for (const fold of document.querySelectorAll("details")) folds.set(fold, { place: foldPlace(fold), open: fold.open });
  const controls = new Map();
  let unfolded = new Set();

  const hash = () => {
    const [anchor, query] = location.hash.slice(1).split("?");
    return { anchor, query };
  };
  const ranges = (numbers) => numbers.reduce((found, number) => {
    const last = found.at(-1);
    if (last && last[1] === number - 1) last[1] = number;
    else found.push([number, number]);
    return found;
  }, []).map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(",");
  const turned = () => {
    const found = {};
    for (const [fold, { place: [near, number], open }] of folds) {
      if (fold.open !== open && !unfolded.has(fold)) (found[near] ??= []).push(number);
    }
    return found;
  };
  const remember = () => {
    const { anchor } = hash();
    const state = new URLSearchParams();
    for (const [near, numbers] of Object.entries(turned())) state.append(`fold.${near}`, ranges(numbers));
    for (const [key, { sorted, words }] of controls) {
      if (sorted()) state.append(`sort.${key}`, sorted());
      if (words()) state.append(`filter.${key}`, words());
    }
    const wanted = anchor + (state.size ? `?${state}` : "");
    if (wanted !== location.hash.slice(1)) history.replaceState(null, "", `#${wanted}`);
  };
  let waiting = 0;
  const changed = () => {
    clearTimeout(waiting);
    waiting = setTimeout(remember, 100);
  };
  const restore = (query) => {
    const state = new URLSearchParams(query);
    for (const [fold, { place: [near, number], open }] of folds) {
      const spans = (state.get(`fold.${near}`) ?? "").split(",").map((span) => span.split("-").map(Number));
      fold.open = open !== spans.some(([first, last]) => first <= number && number <= (last ?? first));
    }
    for (const [key, { sort, filter }] of controls) {
      sort(Number(state.get(`sort.${key}`)) || 0);
      filter(state.get(`filter.${key}`) ?? "");
    }
  };
  const reveal = () => {
    const { anchor } = hash();
    unfolded = new Set();
    const wanted = anchor && document.getElementById(decodeURIComponent(anchor));
    if (!wanted) return;
    for (let at = wanted.matches(".folded") ? wanted.firstElementChild : wanted; at; at = at.parentElement) {
      if (at.tagName !== "DETAILS") continue;
      if (!at.open) unfolded.add(at);
      at.open = true;
    }
    wanted.scrollIntoView();
  };

  const fits = (field, word, known) =>
    known.has(word) ? field === word : isNaN(word) ? field.includes(word) : field.startsWith(word);
  const LEAST_FILTERED = 6;
  // `heads` are headings or null where a column has no order, `texts` gives the fields of a row, `put` lays rows down.
  const controlled = (key, { heads, rows, texts, put, last = () => 0, label, before }) => {
    let sorted = 0, words = "";
    const sort = (wanted) => {
      sorted = heads[Math.abs(wanted) - 1] ? wanted : 0;
      const column = Math.abs(sorted) - 1;
      for (const head of heads) head?.removeAttribute("aria-sort");
      heads[column]?.setAttribute("aria-sort", sorted > 0 ? "ascending" : "descending");
      const fields = sorted && new Map(rows.map((row) => [row, texts(row)[column]]));
      put(!sorted ? rows : [...rows].sort((left, right) =>
        last(left) - last(right) || compare(fields.get(left), fields.get(right), Math.sign(sorted))), sorted);
    };
    heads.forEach((head, column) => {
      if (!head) return;
      Object.assign(head, { title: "Sort: up, down, as it was", tabIndex: 0 }).style.cursor = "pointer";
      const act = () => {
        sort(sorted === column + 1 ? -sorted : sorted === -column - 1 ? 0 : column + 1);
        changed();
      };
      head.addEventListener("click", act);
      head.addEventListener("keydown", (event) => {
        if (event.key === "Enter") act();
      });
    });
    const field = Object.assign(made("input", ""), { type: "search", placeholder: label });
    const shown = made("output", "", "quiet");
    field.setAttribute("aria-label", label);
    const filter = (text) => {
      words = text.trim();
      if (field.value.trim() !== words) field.value = words;
      const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
      const all = new Map(wanted.length ? rows.map((row) => [row, texts(row).map((each) => plain(each).toLowerCase())]) : []);
      const known = new Set([...all.values()].flat());
      for (const row of rows) {
        row.hidden = !wanted.every((word) => all.get(row).some((each) => fits(each, word, known)));
      }
      shown.textContent = wanted.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
    };
    field.addEventListener("input", () => {
      filter(field.value);
      changed();
    });
    if (rows.length >= LEAST_FILTERED) before.before(field, shown);
    controls.set(key, { sort, filter, sorted: () => sorted, words: () => words });
  };

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
      return true;
    } catch {
      const area = Object.assign(made("textarea", ""), { value: text });
      document.body.append(area);
      area.select();
      const done = document.execCommand("copy");
      area.remove();
      return done;
    }
  };
  const tablePlace = counter();
  for (const table of document.querySelectorAll(".scroll > table")) {
    const key = tablePlace(table).join(".");
    const forms = {
      // A column of `934 → 947` becomes two, so that each field is a number.
      TSV: (lines) => {
        const texts = lines.map((fields) => fields.map((field) => plain(main(field)).split(" → ")));
        const two = texts[0].map((_, column) => texts.some((fields) => fields[column].length > 1));
        const sides = (field, column, first) => (!two[column] || field.length > 1 ? field
          : first ? [`${field[0]}, reference`, field[0]] : ["", field[0]]);
        const halves = (fields, place) => fields.flatMap((field, column) => sides(field, column, !place));
        return texts.map((fields, place) => halves(fields, place).map(guarded).join("\t"));
      },
      Markdown: (lines) => lines.flatMap((fields, place) => [
        `| ${fields.map((field) => whole(field).replace(/[\\|*_`<>[\]~$&]/g, "\\$&")).join(" | ")} |`,
        ...(place ? [] : [`|${"---|".repeat(fields.length)}`]),
      ]),
    };
    const bar = made("div", "", "copies");
    for (const [form, write] of Object.entries(forms)) {
      const copy = made("button", `Copy as ${form}`, "tool copy");
      copy.addEventListener("click", async () => {
        const lines = [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells]);
        const done = await copied(write(lines).join("\n") + "\n");
        copy.textContent = done ? "Copied" : "Refused by the browser";
        setTimeout(() => { copy.textContent = `Copy as ${form}`; }, 1500);
      });
      bar.append(copy);
    }
    table.after(bar);
    const body = [...table.tBodies].at(-1);
    const rows = [...body.rows];
    if (rows.length < 3) continue;
    const cells = [...table.tHead.rows[0].cells];
    controlled(key, {
      // The rows of a table of builds are facts of different kinds.
      heads: cells.map((head) => (head.textContent.trim() && !table.matches(".builds") ? head : null)),
      rows,
      texts: (row) => [...row.cells].map(main),
      put: (order, sorted) => {
        table.classList.toggle("sorted", Boolean(sorted));
        body.append(...order);
      },
      last: (row) => Number(row.classList.contains("total")),
      label: "Filter rows",
      before: table.parentElement,
    });
  }

  const list = document.querySelector(".runs");
  if (list) {
    const rows = [...list.querySelectorAll("details.run")];
    const unfold = made("button", "Unfold all");
    const relabel = () => { unfold.textContent = rows.some((row) => !row.open) ? "Unfold all" : "Fold all"; };
    unfold.addEventListener("click", () => {
      const open = rows.some((row) => !row.open);
      for (const row of rows) row.open = open;
      relabel();
    });
    list.addEventListener("toggle", relabel, true);
    controlled("runs", {
      heads: [...list.querySelector(".head").children],
      rows,
      texts: (row) => [...row.querySelector("summary").children].map((field) => field.textContent),
      put: (order) => list.append(...order),
      label: "Filter runs: pgo oltp 8",
      before: list.parentElement,
    });
    list.parentElement.before(unfold);
  }

  document.addEventListener("toggle", changed, true);
  const arrive = () => {
    const { query } = hash();
    if (query) restore(query);
    reveal();
    changed();
  };
  addEventListener("hashchange", arrive);
  arrive();
})();
