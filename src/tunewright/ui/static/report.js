// The figures of a report, drawn by the dashboard's modules where its pictures stand; they stay for print.

import { asRanges, fromRanges } from "./address.js";
import { DRAWINGS } from "./figures.js";
import { unframed } from "./frames.js";
import { useDark } from "./hooks.js";
import { Overlay } from "./overlay.js";
import { colour, paintWith } from "./palette.js";
import { beyondOf, Scatter, scaleOf } from "./scatter.js";
import { html, render, useEffect, useMemo, useState } from "./vendor/htm-preact.js";
import { word } from "./words.js";

/** The data of a report's figures: a frame, compressed, as text. @param {string} text */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (c) => c.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return unframed(await new Response(plain).arrayBuffer());
}

/** Trials that are selected, in every figure and in the table. */
class Selection {
  constructor() {
    this.numbers = fromRanges(new URLSearchParams(location.hash.slice(1)).get("sel") || "");
    /** @type {Set<() => void>} */
    this.heard = new Set();
  }

  /** @param {Iterable<number>} numbers @param {boolean} [add] */
  choose(numbers, add = false) {
    this.numbers = new Set(add ? [...this.numbers, ...numbers] : numbers);
    try {
      history.replaceState(null, "", `#${this.numbers.size ? `sel=${asRanges(this.numbers)}` : ""}`);
    } catch {
      // a page inside a notebook has no address
    }
    for (const one of this.heard) one();
  }

  /** @param {number} number */
  toggle(number) {
    const next = new Set(this.numbers);
    if (!next.delete(number)) next.add(number);
    this.choose(next);
  }
}

/** @param {Selection} selection @returns {Set<number>} */
function useSelected(selection) {
  const [numbers, setNumbers] = useState(selection.numbers);
  useEffect(() => {
    const heard = () => setNumbers(selection.numbers);
    selection.heard.add(heard);
    return () => {
      selection.heard.delete(heard);
    };
  }, []);
  return numbers;
}

/** How many are selected, and a way back. @param {{selection: Selection, table: any}} props */
function Bar({ selection, table }) {
  const numbers = useSelected(selection);
  const named = [...numbers].slice(0, 12).map((n) => labelOf(table, n));
  return html`<p class="selection" role="status">${numbers.size ? html`<b>${numbers.size} ${word("selected")}</b> <small>${named.join(", ")}${numbers.size > named.length ? ", …" : ""}</small>
    <button type="button" onClick=${() => selection.choose([])}>${word("clear")}</button>` : html`<small>${word("noSelection")}</small>`}</p>`;
}

/** A trial's number as a reader knows it: one of an earlier round names that. @param {any} table @param {number} number */
const labelOf = (table, number) => table.head.labels?.[table.places.get(number)] ?? String(number);

/** @param {{data: any, table: any, selection: Selection}} props */
function Axes({ data, table, selection }) {
  const dark = useDark();
  const selected = useSelected(selection);
  const rowsOf = (/** @type {Iterable<number>} */ numbers) => new Set([...numbers].map((n) => table.places.get(n)).filter((row) => row !== undefined));
  const rows = useMemo(() => rowsOf(selected), [selected]);
  const best = useMemo(() => rowsOf(data.best), []);
  const scale = useMemo(() => scaleOf(table.arrays.value, data.minimize), []);
  const hasBeyond = useMemo(() => [...table.arrays.value].some((v) => beyondOf(v, scale)), []);
  const numbers = table.arrays.number;
  return html`<p class="key">${data.studies.length > 1 && data.studies.map((/** @type {string} */ name, /** @type {number} */ i) => html`<span class="study"><i class="swatch" style=${{ background: colour(dark, i) }}></i>${name}</span>`)}
      ${word("rail")} · ${word("ringed")} · ${word("edges")}${hasBeyond ? ` · ${word("beyond")}` : ""}</p>
    <div class="panels">${data.axes.map((/** @type {any} */ axis, /** @type {number} */ at) => html`<${Scatter} key=${axis.column} axis=${axis} at=${at} table=${table} scale=${scale}
      selected=${rows} best=${best} dark=${dark}
      onSelect=${(/** @type {number[]} */ found, /** @type {boolean} */ add) => selection.choose(found.map((row) => numbers[row]), add)}
      onOpen=${(/** @type {number} */ row) => shownRow(numbers[row])} />`)}</div>`;
}

/** @param {{data: any, table: any, selection: Selection}} props */
function Curves({ data, table, selection }) {
  const selected = useSelected(selection);
  const chosen = new Set([...selected].map((n) => labelOf(table, n)));
  const plots = useMemo(() => data.plots.map((/** @type {any} */ plot) => ({
    ...plot,
    curves: plot.curves.map((/** @type {any} */ line) => ({ ...line, faint: chosen.size > 0 && !chosen.has(String(line.trial)) })),
  })), [selected]);
  return html`<div class="panels wide">${plots.map((/** @type {any} */ plot) => html`<${Overlay} key=${plot.name} name=${plot.name} curves=${plot.curves} />`)}</div>`;
}

/** One figure by its kind. @param {{figure: any, table: any, selection: Selection}} props */
function Live({ figure, table, selection }) {
  if (figure.kind === "axis") return html`<${Axes} data=${figure.data} table=${table} selection=${selection} />`;
  if (figure.kind === "curves") return html`<${Curves} data=${figure.data} table=${table} selection=${selection} />`;
  const Drawing = DRAWINGS[figure.kind];
  return html`<${Drawing} data=${figure.data} says=${figure.says} table=${table} onSelect=${(/** @type {number[]} */ trials) => selection.choose(trials)} />`;
}

/** Show the row of a trial. @param {number} number */
function shownRow(number) {
  document.querySelector(`tr[data-trial="${number}"]`)?.scrollIntoView({ block: "center" });
}

/** Let the rows of the table select too: a mouse anywhere in a row, a keyboard by its number. @param {Selection} selection */
function linkTable(selection) {
  /** @type {HTMLElement[]} */
  const rows = [...document.querySelectorAll("tr[data-trial]")].map((row) => /** @type {HTMLElement} */ (row));
  const marked = () => rows.forEach((row) => {
    const chosen = selection.numbers.has(Number(row.dataset.trial));
    row.classList.toggle("chosen", chosen);
    row.querySelector("button.pick")?.setAttribute("aria-pressed", String(chosen));
  });
  for (const row of rows) {
    const cell = row.querySelector("td");
    if (!cell) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "pick";
    button.textContent = cell.textContent;
    button.setAttribute("aria-label", `${word("select")} ${word("trial").toLowerCase()} ${cell.textContent}`);
    cell.replaceChildren(button);
    row.addEventListener("click", (event) => {
      if (event.target instanceof HTMLElement && event.target.closest("details")) return;
      selection.toggle(Number(row.dataset.trial));
    });
  }
  selection.heard.add(marked);
  marked();
}

async function start() {
  const block = document.getElementById("tunewright-figures");
  if (!block) return;
  const { head, arrays } = await unpacked(block.textContent || "");
  const places = new Map(Array.from(arrays.number, (n, row) => [n, row]));
  const table = { head, arrays, places };
  const selection = new Selection();
  paintWith(head.palette);
  const grid = document.querySelector("[data-figure]")?.parentElement;
  if (grid) {
    const bar = document.createElement("div");
    bar.className = "live";
    grid.before(bar);
    render(html`<${Bar} selection=${selection} table=${table} />`, bar);
  }
  for (const [at, figure] of Object.entries(head.figures)) {
    const card = document.querySelector(`[data-figure="${at}"]`);
    const still = card?.querySelector(".still");
    if (!still) continue;
    const place = document.createElement("div");
    place.className = "live";
    still.before(place);
    render(html`<${Live} figure=${figure} table=${table} selection=${selection} />`, place);
    if (figure.kind === "curves") card?.classList.add("row"); // it has several plots
    still.classList.add("kept"); // on paper it is shown in place of the other
  }
  linkTable(selection);
  document.documentElement.dataset.figures = "live";
}

start().catch((/** @type {Error} */ error) => console.warn(error)); // the pictures are there already
