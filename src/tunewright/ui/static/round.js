// The page of a round: verdict, linked figures, table; it follows the round while it runs.

import { asRanges, fromRanges, keepInAddress } from "./address.js";
import { columns, follow, json, ofRound } from "./api.js";
import { unframedText } from "./frames.js";
import { Curves } from "./curves.js";
import { Figures } from "./figures.js";
import { counted, Notes, Progress, Stop, Tile, toTrial, Waiting, seconds } from "./parts.js";
import { useDark, useLoaded, useRepeatedly } from "./hooks.js";
import { beyondOf, Scatter, scaleOf } from "./scatter.js";
import { Table } from "./table.js";
import { Verdict } from "./verdict.js";
import { html, useEffect, useMemo, useRef, useState } from "./vendor/htm-preact.js";
import { number, word } from "./words.js";

const CROWD_MS = 10000; // the image of all curves is loaded again so often at most
const LARGE_CROWD_MS = 30000; // where the round has more trials than the next number
const LARGE = 1000;
const MOST_COMPARED = 8;

/**
 * Put changed rows into a table; rows with new numbers are appended.
 * @param {any} table @param {any} changed
 */
export function merged(table, changed) {
  const place = new Map(Array.from(table.arrays.number, (n, row) => [n, row]));
  const fresh = Array.from(changed.arrays.number, Number).filter((n) => !place.has(n));
  const size = table.arrays.number.length + fresh.length;
  fresh.forEach((n, i) => place.set(n, table.arrays.number.length + i));
  /** @type {Record<string, any>} */
  const arrays = {};
  for (const [name, old] of Object.entries(table.arrays)) {
    const wide = name === "position" ? table.head.columns.length : 1;
    const made = new old.constructor(size * wide);
    made.set(old);
    const own = changed.arrays[name];
    changed.arrays.number.forEach((/** @type {number} */ n, /** @type {number} */ row) =>
      made.set(own.subarray(row * wide, (row + 1) * wide), /** @type {number} */ (place.get(n)) * wide));
    arrays[name] = made;
  }
  return { head: { ...table.head, rows: size }, arrays };
}

/** The best trials of a table, best first. @param {any} table @param {boolean} minimize @param {number} count */
export function bestOf(table, minimize, count) {
  const { number: numbers, value, status } = table.arrays;
  const rows = [];
  for (let row = 0; row < numbers.length; row++) if (status[row] === 2 && Number.isFinite(value[row])) rows.push(row);
  const sign = minimize ? 1 : -1;
  rows.sort((a, b) => sign * (value[a] - value[b]) || numbers[a] - numbers[b]);
  return rows.slice(0, count).map((row) => numbers[row]);
}

/** @param {any} table @param {string[]} statuses */
function countsOf(table, statuses) {
  /** @type {Record<string, number>} */
  const found = {};
  for (const s of table.arrays.status) found[statuses[s]] = (found[statuses[s]] || 0) + 1;
  return found;
}

/**
 * A round as it changes: its page, its table, the state of the connection.
 * @param {string} name
 */
function useRound(name) {
  const [table, setTable] = useState(/** @type {any} */ (null));
  const [connection, setConnection] = useState(/** @type {"connecting" | "live" | "stale"} */ ("connecting"));
  const [turn, setTurn] = useState(0);
  const [changes, setChanges] = useState(0);
  const page = useLoaded(() => json(ofRound(name)), [name, turn]);
  const whole = useLoaded(() => columns(ofRound(name, "/table")), [name, turn]);
  const early = useRef(/** @type {any[] | null} */ ([])); // rows that may be newer than a table on its way
  useEffect(() => {
    if (!whole.data) return;
    setTable((early.current || []).reduce(merged, whole.data));
    early.current = null;
  }, [whole.data]);
  const cursor = /** @type {any} */ (page.data)?.cursor;
  const started = useRef("");
  if (!started.current && cursor) started.current = cursor;
  useEffect(() => {
    if (!started.current) return undefined;
    return follow(name, started.current, (event) => {
      setChanges((n) => n + 1);
      if (event.kind === "reload") {
        early.current = [];
        setTurn((n) => n + 1);
      } else {
        const changed = unframedText(event.rows);
        early.current?.push(changed);
        setTable((/** @type {any} */ known) => (known ? merged(known, changed) : known));
      }
    }, setConnection);
  }, [name, started.current]);
  const still = cursor === "";  // files of an exported site
  return { page, whole, table, connection: still ? /** @type {const} */ ("exported") : connection, changes };
}

/** @param {{parts: string[], query: URLSearchParams}} props */
export function Round({ parts, query }) {
  const name = parts[0] || "";
  const { page, whole, table, connection, changes } = useRound(name);
  const [selected, setSelected] = useState(() => fromRanges(query.get("sel") || ""));
  const [metric, setMetric] = useState(query.get("metric") || "");
  const [crowdTurn, setCrowdTurn] = useState(0);
  const dark = useDark();
  const round = /** @type {any} */ (page.data);
  useEffect(() => {
    const kept = new URLSearchParams();
    if (selected.size) kept.set("sel", asRanges(selected));
    if (metric) kept.set("metric", metric);
    keepInAddress(kept);
  }, [selected, metric]);
  const seen = useRef(0);
  useRepeatedly(() => {
    if (seen.current === changes || document.hidden) return;
    if (!round?.metrics.length) page.again(); // the first trials have logged something now
    else if (!inView(".curves")) return; // nobody sees it: later
    seen.current = changes;
    setCrowdTurn((n) => n + 1);
  }, table?.arrays.number.length > LARGE ? LARGE_CROWD_MS : CROWD_MS, true);
  const scale = useMemo(() => table && round && scaleOf(completed(table), round.minimize), [table, round?.minimize]);
  const hasBeyond = useMemo(() => Boolean(scale) && completed(table).some((/** @type {number} */ v) => beyondOf(v, scale)), [table, scale]);
  const best = useMemo(() => (table && round ? bestOf(table, round.minimize, 5) : []), [table, round?.minimize]);
  const places = useMemo(() => table && new Map(Array.from(table.arrays.number, (n, row) => [n, row])), [table]);
  const rowsOf = (/** @type {Iterable<number>} */ numbers) => new Set([...numbers].map((n) => places.get(n)).filter((r) => r !== undefined));
  const selectedRows = useMemo(() => (table ? rowsOf(selected) : new Set()), [table, selected]);
  const bestRows = useMemo(() => (table ? rowsOf(best) : new Set()), [best]);
  if (page.state === "failed" && !round) return html`<h1>${name}</h1><${Waiting} of=${page} />`;
  if (!round || !table) return html`<h1>${name}</h1><${Waiting} of=${whole.state === "failed" ? whole : page} />`;
  const counts = countsOf(table, round.statuses);
  const active = (counts.running || 0) + (counts.pending || 0);
  /** @param {number[]} trials @param {boolean} [add] */
  const choose = (trials, add = false) => setSelected((known) => new Set(add ? [...known, ...trials] : trials));
  /** @param {number} trial */
  const toggle = (trial) => setSelected((known) => {
    const next = new Set(known);
    if (!next.delete(trial)) next.add(trial);
    return next;
  });
  const open = (/** @type {number} */ trial) => {
    location.hash = toTrial(name, trial);
  };
  const value = places.has(best[0]) ? table.arrays.value[places.get(best[0])] : null;
  const lines = [...new Set([...best, ...selected])].filter((n) => places.has(n));
  const allowed = round.allow.includes("actions");
  return html`
    <div class="title"><h1>${name}</h1><${Connection} state=${connection} active=${active} />
      ${allowed && active > 0 && html`<${Stop} name=${name} />`}</div>
    <div class="tiles">
      <${Tile} name=${`${word("best")} ${round.metric}`} value=${number(value)} title=${round.value === null ? "" : `${round.value}`} />
      <${Tile} name=${word("trials")} value=${html`${table.arrays.number.length} <${Progress} counts=${counts} />`} title=${counted(counts)} />
      <${Tile} name=${word("time")} value=${seconds(total(table.arrays.seconds))} />
      <${Tile} name=${word("searchKind")} value=${round.search} />
      ${round.repeats > 0 && html`<${Tile} name=${word("repeats")} value=${round.repeats} />`}
    </div>
    <${Verdict} round=${round} changes=${changes} active=${active} onSelect=${choose}>
      ${(/** @type {any} */ verdict) => html`
      <${Selection} name=${name} selected=${selected} onClear=${() => choose([])} />
      <h2>${word("axis")}</h2>
      ${counts.completed || counts.infeasible ? html`<p class="key">${round.studies.length > 1 ? html`<${Studies} names=${round.studies} /> ` : ""}${word("rail")} · ${word("ringed")} · ${word("edges")}${hasBeyond ? ` · ${word("beyond")}` : ""}</p>
      <div class="panels axes">${round.axes.map((/** @type {any} */ axis, /** @type {number} */ at) => html`<${Scatter} key=${axis.column} axis=${axis} at=${at} table=${table}
        scale=${scale} selected=${selectedRows} best=${bestRows} dark=${dark}
        onSelect=${(/** @type {number[]} */ rows, /** @type {boolean} */ add) => choose(rows.map((row) => table.arrays.number[row]), add)}
        onOpen=${(/** @type {number} */ row) => open(table.arrays.number[row])} />`)}</div>` : html`<p class="state empty">${word("noTrials")}</p>`}
      <h2>${word("curves")}</h2>
      <${Curves} round=${name} metrics=${round.metrics} objective=${round.metric} chosen=${metric || round.metric} trials=${lines} ends=${endsOf(table, lines, places)} turn=${crowdTurn} onChoose=${setMetric} />
      <h2>${word("comparisons")}</h2>
      ${verdict?.figures ? html`<${Figures} figures=${verdict.figures} table=${table} onSelect=${choose} />` : html`<p class="state empty">${word("figuresWait")}</p>`}
      <h2>${word("trials")}</h2>
      <${Table} round=${round} table=${table} selected=${selected} best=${new Set(best)} onToggle=${toggle} onOpen=${open} />
      <${Notes} name=${name} notes=${round.notes} allowed=${allowed} onWritten=${page.again} />`}
    <//>`;
}

/** Whether some of an element can be seen now. @param {string} selector */
function inView(selector) {
  const box = document.querySelector(selector)?.getBoundingClientRect();
  return Boolean(box && box.bottom > 0 && box.top < innerHeight);
}

/** Values of the completed trials. @param {any} table */
const completed = (table) => table.arrays.value.filter((/** @type {number} */ _, /** @type {number} */ row) => table.arrays.status[row] === 2);

/** Where each of some trials had its best value, or that it was infeasible. @param {any} table @param {number[]} trials @param {Map<number, number>} places */
const endsOf = (table, trials, places) => trials.map((n) => {
  const row = /** @type {number} */ (places.get(n));
  return { step: table.arrays.step[row], infeasible: table.arrays.status[row] === 3 };
});

/** @param {Float32Array} values */
const total = (values) => values.reduce((a, b) => a + (Number.isFinite(b) ? b : 0), 0);

/** Which colour is which setting. @param {{names: string[]}} props */
function Studies({ names }) {
  return html`<span class="studies">${names.slice(0, 8).map((label, i) => html`<span class=${`study s${i % 8}`}><i class="swatch"></i>${label} </span>`)}</span>`;
}

/** @param {{state: "connecting" | "live" | "stale" | "exported", active: number}} props */
function Connection({ state, active }) {
  const said = state === "stale" ? word("stale") : active ? word(state) : word("ended");
  return html`<span class=${`connection ${active || state === "stale" ? state : "over"}`} role="status"><i aria-hidden="true"></i>${said}</span>`;
}

/** How many are selected, and what to do with them. @param {{name: string, selected: Set<number>, onClear: () => void}} props */
function Selection({ name, selected, onClear }) {
  const size = selected.size;
  const few = size > 1 && size <= MOST_COMPARED;
  const to = `#/compare?${[...selected].map((n) => `t=${encodeURIComponent(`${name}:${n}`)}`).join("&")}`;
  return html`<div class="selection" role="status">
    ${size ? html`<b>${size} ${word("selected")}</b> ${few ? html`<a class="button" href=${to}>${word("compareThem")}</a>` : html`<small>${word("pickSome")}</small>`}
      <button onClick=${onClear}>${word("clear")}</button>` : html`<small>${word("noSelection")}</small>`}</div>`;
}
