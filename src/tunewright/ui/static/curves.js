// Training curves: the crowd as a density image, chosen trials as lines, train and validation paired.

import { columns, ofRound } from "./api.js";
import { toTrial, Waiting } from "./parts.js";
import { useDark, useLoaded, useWidth } from "./hooks.js";
import { colour } from "./palette.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { number, says, word } from "./words.js";

export const MOST_LINES = 12;
const HEIGHT = 320;
const COLUMNS = 250;
const TRAINING = /^(train|training)(?=[_./-])|(?<=[_./-])(train|training)$/;
const VALIDATION = /^(valid|validation|val|eval|dev)(?=[_./-])|(?<=[_./-])(valid|validation|val|eval|dev)$/;

/**
 * Metrics in pairs of validation and training where their names differ only in that word.
 * @param {string[]} metrics
 * @param {string} objective stands first
 * @returns {{main: string, train: string | null}[]}
 */
export function paired(metrics, objective) {
  const stem = (/** @type {string} */ m) => m.replace(TRAINING, "").replace(VALIDATION, "");
  const training = metrics.filter((m) => TRAINING.test(m));
  const found = metrics
    .filter((m) => !TRAINING.test(m))
    .map((main) => ({ main, train: VALIDATION.test(main) ? training.find((m) => stem(m) === stem(main)) || null : null }));
  const used = new Set(found.map((pair) => pair.train));
  for (const m of training) if (!used.has(m)) found.push({ main: m, train: null });
  return found.sort((a, b) => Number(b.main === objective) - Number(a.main === objective));
}

/**
 * A line over common columns: the middle of the lowest and highest value of each.
 * @param {Float32Array} low @param {Float32Array} high @param {number} last @param {number} end the last step shown
 */
export function onColumns(low, high, last, end) {
  /** @type {(number | null)[][]} */
  const found = [new Array(COLUMNS).fill(null), new Array(COLUMNS).fill(null), new Array(COLUMNS).fill(null)];
  for (let i = 0; i < low.length; i++) {
    if (!Number.isFinite(low[i])) continue;
    const step = ((i + 0.5) * (last + 1)) / low.length;
    const at = Math.min(COLUMNS - 1, Math.floor((step * COLUMNS) / (end + 1)));
    const bottom = found[0][at];
    const top = found[1][at];
    found[0][at] = bottom === null ? low[i] : Math.min(bottom, low[i]);
    found[1][at] = top === null ? high[i] : Math.max(top, high[i]);
  }
  for (let at = 0; at < COLUMNS; at++) {
    const [bottom, top] = [found[0][at], found[1][at]];
    if (bottom !== null && top !== null) found[2][at] = (bottom + top) / 2;
  }
  return found;
}

/**
 * An image of a density in one colour, the lowest value at the bottom.
 * @param {Uint8Array} image @param {boolean} dark
 */
export function painted(image, dark) {
  const made = document.createElement("canvas");
  const height = image.length / COLUMNS;
  [made.width, made.height] = [COLUMNS, height];
  const c = /** @type {CanvasRenderingContext2D} */ (made.getContext("2d"));
  const pixels = c.createImageData(COLUMNS, height);
  const [r, g, b] = dark ? [120, 160, 210] : [70, 110, 160];
  for (let row = 0; row < height; row++)
    for (let at = 0; at < COLUMNS; at++) {
      const bright = image[row * COLUMNS + at];
      pixels.data.set([r, g, b, bright ? 20 + bright * 0.5 : 0], 4 * ((height - 1 - row) * COLUMNS + at));
    }
  c.putImageData(pixels, 0, 0);
  return made;
}

/** @param {string} round @param {string | null} metric @param {number[]} trials */
const linesOf = (round, metric, trials) =>
  metric && trials.length
    ? columns(ofRound(round, `/curves?metric=${encodeURIComponent(metric)}&${trials.map((t) => `trial=${t}`).join("&")}`))
    : Promise.resolve(null);

/** @param {string} round @param {string | null} metric */
const densityOf = (round, metric) =>
  metric ? columns(ofRound(round, `/density?metric=${encodeURIComponent(metric)}`)) : Promise.resolve(null);

/**
 * The curves of a round.
 * @param {{round: string, metrics: string[], objective: string, chosen: string, trials: number[], ends: {step: number, infeasible: boolean}[],
 *   turn: number, onChoose: (metric: string) => void}} props `turn` changes when the crowd is to be loaded again
 */
export function Curves({ round, metrics, objective, chosen, trials, ends, turn, onChoose }) {
  const pairs = paired(metrics, objective);
  const pair = pairs.find((p) => p.main === chosen) || pairs[0];
  const { main, train } = pair || { main: "", train: null };
  const drawn = trials.slice(0, MOST_LINES);
  const crowd = useLoaded(() => Promise.all([densityOf(round, main || null), densityOf(round, train)]), [main, turn]);
  const lines = useLoaded(() => Promise.all([linesOf(round, main || null, drawn), linesOf(round, train, drawn)]), [main, drawn.join(), turn]);
  if (!pair) return html`<p class="state empty">${word("noCurves")}</p>`;
  const both = /** @type {any} */ (crowd.data);
  return html`<div class="curves">
    <div class="choices" role="group" aria-label=${word("curves")}>
      ${pairs.map((p) => html`<button aria-pressed=${p.main === main} onClick=${() => onChoose(p.main)}>${p.main}</button>`)}
      <small>${word("crowd")}: ${both?.[0]?.head.curves ?? "…"}${train ? ` · ${word("validation")}, ${word("training")}` : ""}</small>
    </div>
    ${both && lines.data ? html`<${Plot} key=${main} crowd=${both} lines=${lines.data} trials=${drawn} ends=${main === objective ? ends : []} round=${round} names=${[main, train]} />`
      : html`<div class="plot space"><${Waiting} of=${crowd.state === "failed" ? crowd : lines} /></div>`}
  </div>`;
}

/** The limits of both densities together. @param {any[]} crowd */
function limits(crowd) {
  const heads = crowd.filter(Boolean).map((one) => one.head);
  const value = (/** @type {any} */ h, /** @type {number} */ v) => (h.logarithmic ? 10 ** v : v);
  const low = Math.min(...heads.map((h) => value(h, h.low)));
  const high = Math.max(...heads.map((h) => value(h, h.high)));
  return { low, high, log: heads[0].logarithmic && low > 0, last: Math.max(...heads.map((h) => h.last)) };
}

/**
 * Mark the best step of a line by a dot, the end of an infeasible one by a cross.
 * @param {any} u @param {(number | null)[]} values @param {{step: number, infeasible: boolean}} end @param {string} ink @param {number[]} x
 */
function marked(u, values, end, ink, x) {
  let at = values.length - 1;
  if (end.infeasible) while (at >= 0 && values[at] === null) at--;
  else at = x.findIndex((step, i) => step >= end.step || i === x.length - 1);
  const value = nearest(values, at);
  if (at < 0 || value === null || value === undefined || (!end.infeasible && end.step < 0)) return;
  const [left, top] = [u.valToPos(end.infeasible ? x[at] : end.step, "x", true), u.valToPos(value, "y", true)];
  if (left < u.bbox.left || left > u.bbox.left + u.bbox.width) return;
  const size = 4 * devicePixelRatio;
  const c = u.ctx;
  c.save();
  [c.strokeStyle, c.fillStyle, c.lineWidth] = [ink, ink, 2 * devicePixelRatio];
  c.beginPath();
  if (end.infeasible) {
    c.moveTo(left - size, top - size);
    c.lineTo(left + size, top + size);
    c.moveTo(left - size, top + size);
    c.lineTo(left + size, top - size);
    c.stroke();
  } else {
    c.arc(left, top, size, 0, 7);
    c.fill();
  }
  c.restore();
}

/** @param {{crowd: any[], lines: any[], trials: number[], ends: {step: number, infeasible: boolean}[], round: string, names: (string | null)[]}} props */
function Plot({ crowd, lines, trials, ends, round, names }) {
  const [place, width] = useWidth();
  const dark = useDark();
  const [under, setUnder] = useState(/** @type {{step: number, values: (number | null)[]} | null} */ (null));
  const canvas = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const into = canvas.current;
    if (!into || width < 100) return undefined;
    const { low, high, log, last } = limits(crowd);
    const room = log ? 0 : 0.03 * (high - low);
    const x = Array.from({ length: COLUMNS }, (_, i) => ((i + 0.5) * (last + 1)) / COLUMNS);
    /** @type {any[]} */
    const data = [x];
    /** @type {any[]} */
    const series = [{}];
    /** @type {any[]} */
    const bands = [];
    /** @type {number[]} */
    const middles = [];
    lines.forEach((own, which) => own?.head.trials.forEach((/** @type {number} */ trial, /** @type {number} */ i) => {
      const size = own.head.buckets;
      const parts = ["low", "high"].map((n) => own.arrays[n].subarray(i * size, (i + 1) * size));
      const [bottom, top, middle] = onColumns(parts[0], parts[1], own.head.last[i], last);
      const ink = colour(dark, trials.indexOf(trial));
      const hidden = { show: true, stroke: "transparent", width: 0, points: { show: false }, spanGaps: true };
      bands.push({ series: [series.length + 1, series.length], fill: `${ink}22` });
      series.push(hidden, hidden, {
        stroke: ink, width: which ? 1.3 : 2, dash: which ? [5, 4] : undefined, spanGaps: true, points: { show: false },
      });
      if (!which) middles[trials.indexOf(trial)] = series.length - 1;
      data.push(bottom, top, middle);
    }));
    const ink = dark ? "#b9c3cf" : "#4a5563";
    const grid = { stroke: dark ? "#2b3440" : "#e6eaef", width: 1 };
    const image = painted(crowd[0].arrays.image, dark);
    const UPlot = /** @type {any} */ (window).uPlot;
    const made = new UPlot({
      width, height: HEIGHT, series, bands,
      legend: { show: false },
      cursor: { y: false, drag: { x: true, y: false } },
      scales: {
        x: { time: false, range: (/** @type {any} */ _, /** @type {number} */ a, /** @type {number} */ b) => [Math.max(0, Math.min(a, b)) < x[1] ? 0 : a, b] },
        y: { distr: log ? 3 : 1, range: () => [low - room, high + room] },
      },
      axes: [
        { stroke: ink, grid, ticks: grid, font: "11px system-ui", size: 34, values: (/** @type {any} */ _, /** @type {number[]} */ v) => v.map(number) },
        { stroke: ink, grid, ticks: grid, font: "11px system-ui", size: 58,
          values: (/** @type {any} */ _, /** @type {(number | null)[]} */ v) => v.map((n) => (n === null ? "" : number(n))) },
      ],
      hooks: {
        drawClear: [(/** @type {any} */ u) => {
          const head = crowd[0].head;
          const [bottom, top] = [head.low, head.high].map((v) => u.valToPos(head.logarithmic ? 10 ** v : v, "y", true));
          const [left, right] = [0, head.last + 1].map((v) => u.valToPos(v, "x", true));
          u.ctx.save();
          u.ctx.beginPath();
          u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
          u.ctx.clip();
          if (Number.isFinite(bottom) && log === head.logarithmic) u.ctx.drawImage(image, left, top, right - left, bottom - top);
          u.ctx.restore();
        }],
        draw: [(/** @type {any} */ u) => middles.forEach((at, i) => ends[i] && marked(u, data[at], ends[i], colour(dark, i), x))],
        setCursor: [(/** @type {any} */ u) => {
          const at = u.cursor.idx;
          setUnder(at === null || at === undefined ? null : { step: x[at], values: middles.map((s) => nearest(data[s], at)) });
        }],
      },
    }, data, into);
    return () => made.destroy();
  }, [crowd, lines, width, dark, trials.join(), JSON.stringify(ends)]);
  const said = says.byStep(names.filter(Boolean).join(", "), trials.join(", "));
  return html`<div class="plot" ref=${place}>
    <div class="space" ref=${canvas} role="img" aria-label=${said}></div>
    <ul class="legend" aria-label=${word("trials")}>
      ${trials.map((t, i) => html`<li><i style=${{ background: colour(dark, i) }}></i><a href=${toTrial(round, t)}>${word("trial")} ${t}</a>
        <output>${under ? number(under.values[i]) : ""}</output></li>`)}
      <li class="at">${word("step")} <output>${under ? Math.round(under.step) : "–"}</output></li>
    </ul></div>`;
}

/** The value at a column, or the last one before it. @param {(number | null)[] | undefined} values @param {number} at */
function nearest(values, at) {
  for (let i = at; values && i >= 0; i--) if (values[i] !== null) return values[i];
  return null;
}
