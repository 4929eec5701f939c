// The trials of a round as a table: thousands of rows, of which only the visible ones exist.

import { json, ofRound } from "./api.js";
import { Status, toTrial } from "./parts.js";
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { duration, number, shown, word } from "./words.js";

const ROW = 30; // pixels
const VIEW = 14; // rows visible at a time
const SPARE = 6; // rows drawn beyond the visible ones
const INACTIVE = 65535;

/**
 * Rows of a table in the order of a column; what has no value stands last either way.
 * @param {any} table @param {string} by @param {boolean} down @param {boolean} minimize
 * @returns {Uint32Array}
 */
export function ordered(table, by, down, minimize) {
  const { arrays, head } = table;
  const rows = Uint32Array.from({ length: arrays.number.length }, (_, i) => i);
  const at = head.columns.indexOf(by);
  const axes = head.columns.length;
  const none = Number.NaN;
  /** @type {(row: number) => number} */
  const value = at >= 0
    ? (row) => (arrays.position[row * axes + at] === INACTIVE ? none : arrays.position[row * axes + at])
    : by === "value" ? (row) => (arrays.status[row] === 2 ? arrays.value[row] * (minimize ? 1 : -1) : none)
    : (row) => arrays[by][row];
  const sign = down ? -1 : 1;
  return rows.sort((a, b) => {
    const [x, y] = [value(a), value(b)];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
    return sign * (x - y) || arrays.number[a] - arrays.number[b];
  });
}

/**
 * @param {{round: any, table: any, selected: Set<number>, best: Set<number>, onToggle: (trial: number) => void,
 *   onOpen: (trial: number) => void}} props `selected` and `best` hold trial numbers
 */
export function Table({ round, table, selected, best, onToggle, onOpen }) {
  const [by, setBy] = useState("value");
  const [down, setDown] = useState(false);
  const [only, setOnly] = useState(false);
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(0);
  const [details, setDetails] = useState(/** @type {Record<string, any>} */ ({}));
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const { number: numbers, study, status, value, step, seconds } = table.arrays;
  const all = useMemo(() => ordered(table, by, down, round.minimize), [table, by, down]);
  const rows = useMemo(() => (only && selected.size ? all.filter((row) => selected.has(numbers[row])) : all), [all, only, selected]);
  const first = Math.max(0, Math.floor(top / ROW) - SPARE);
  const last = Math.min(rows.length, first + VIEW + 2 * SPARE);
  const visible = [...rows.slice(first, last)];
  const key = (/** @type {number} */ row) => `${numbers[row]} ${status[row]}`;
  const missing = visible.filter((row) => !(key(row) in details));
  useEffect(() => {
    if (!missing.length) return undefined;
    const timer = setTimeout(() => {
      json(ofRound(round.name, `/rows?${missing.map((row) => `trial=${numbers[row]}`).join("&")}`)).then((found) => {
        const byNumber = Object.fromEntries(found.map((/** @type {any} */ one) => [one.number, one]));
        setDetails((known) => ({ ...known, ...Object.fromEntries(missing.map((row) => [key(row), byNumber[numbers[row]] || {}])) }));
      }, () => {});
    }, 80);
    return () => clearTimeout(timer);
  }, [missing.map(key).join()]);
  const places = ["number", "status", "value", "step", ...(round.studies.length > 1 ? ["study"] : []), ...round.axes.map((/** @type {any} */ a) => a.column), "seconds"];
  const names = /** @type {Record<string, string>} */ ({
    number: word("trial"), status: word("status"), value: round.metric, step: word("step"), study: word("setting"), seconds: word("time"),
    ...Object.fromEntries(round.axes.map((/** @type {any} */ a) => [a.column, a.column])),
  });
  /** @param {number} to */
  const move = (to) => {
    const at = Math.max(0, Math.min(rows.length - 1, to));
    setActive(at);
    if (!box.current) return;
    const [above, below] = [at * ROW, (at + 1) * ROW - (VIEW - 1) * ROW];
    box.current.scrollTop = Math.min(above, Math.max(below, box.current.scrollTop));
  };
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    const steps = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: VIEW - 2, PageUp: 2 - VIEW, Home: -rows.length, End: rows.length });
    const row = rows[active];
    if (event.target instanceof HTMLElement && event.target.closest("button, a")) return;
    if (event.key in steps) move(active + steps[event.key]);
    else if (event.key === "Enter" && row !== undefined) onOpen(numbers[row]);
    else if ((event.key === "x" || event.key === " ") && row !== undefined) onToggle(numbers[row]);
    else return;
    event.preventDefault();
  };
  /** @param {string} column */
  const sort = (column) => {
    setDown(by === column ? !down : false);
    setBy(column);
    if (box.current) box.current.scrollTop = 0;
    setActive(0);
  };
  const statuses = round.statuses;
  /** @param {number} row @param {string} column */
  const cell = (row, column) => {
    const known = details[key(row)];
    if (column === "number") return html`<a tabindex="-1" href=${toTrial(round.name, numbers[row])}>${numbers[row]}</a>${best.has(numbers[row]) ? html` <small>○</small>` : ""}`;
    if (column === "status") return html`<${Status} status=${statuses[status[row]]} />`;
    if (column === "value") return html`<b title=${known?.value ?? known?.reason ?? ""}>${status[row] === 2 ? number(value[row]) : known?.reason || "–"}</b>`;
    if (column === "step") return step[row] < 0 ? "–" : step[row];
    if (column === "study") return round.studies[study[row]];
    if (column === "seconds") return html`<span title=${seconds[row]}>${seconds[row] ? duration(seconds[row]) : "–"}</span>`;
    const at = table.head.columns.indexOf(column);
    if (table.arrays.position[row * table.head.columns.length + at] === INACTIVE) return html`<small>·</small>`;
    const own = known?.configuration?.[round.axes[at].name];
    return html`<span title=${own ?? ""}>${known ? shown(own) : "…"}</span>`;
  };
  const id = (/** @type {number} */ row) => `trial-${numbers[row]}`;
  const rest = { before: first * ROW, after: (rows.length - last) * ROW };
  return html`<div class="trials-table">
    <p class="hint"><label><input type="checkbox" checked=${only} disabled=${!selected.size} onChange=${() => setOnly(!only)} /> ${word("selectedOnly")}</label>
      <small>${rows.length} ${word("trials").toLowerCase()} · ${word("tableHint")}</small></p>
    <div class="grid" ref=${box} tabindex="0" role="grid" aria-label=${word("trials")} aria-rowcount=${rows.length + 1} aria-multiselectable="true"
      aria-activedescendant=${rows.length && active >= first && active < last ? id(rows[active]) : null}
      onKeyDown=${pressed} onScroll=${(/** @type {any} */ e) => setTop(e.currentTarget.scrollTop)}>
      <table role="presentation">
        <thead role="rowgroup"><tr role="row" aria-rowindex="1"><th role="columnheader" class="mark"><span class="hidden">${word("select")}</span></th>
          ${places.map((c) => html`<th role="columnheader" aria-sort=${by === c ? (down ? "descending" : "ascending") : "none"}><button class="sort" onClick=${() => sort(c)}>${names[c]}<i aria-hidden="true">${by === c ? (down ? " ↓" : " ↑") : ""}</i></button></th>`)}</tr></thead>
        <tbody role="rowgroup">
          ${rest.before > 0 && html`<tr role="presentation" class="spacer"><td role="presentation" style=${{ height: `${rest.before}px` }}></td></tr>`}
          ${visible.map((row, i) => html`<tr key=${numbers[row]} id=${id(row)} role="row" aria-rowindex=${first + i + 2} aria-selected=${selected.has(numbers[row])}
            class=${first + i === active ? "active" : ""} onClick=${() => { setActive(first + i); onToggle(numbers[row]); }} onDblClick=${() => onOpen(numbers[row])}>
            <td role="gridcell" class="mark"><i aria-hidden="true">${selected.has(numbers[row]) ? "☑" : "☐"}</i></td>
            ${places.map((c) => html`<td role="gridcell" class=${c === "status" || c === "study" ? "" : "number"}>${cell(row, c)}</td>`)}</tr>`)}
          ${rest.after > 0 && html`<tr role="presentation" class="spacer"><td role="presentation" style=${{ height: `${rest.after}px` }}></td></tr>`}
        </tbody>
      </table>
    </div></div>`;
}
