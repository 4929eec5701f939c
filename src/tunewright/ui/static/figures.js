// Figures from the verdict's data: isolation, best step, best of k, sensitivity, gradient norm.

import { Overlay } from "./overlay.js";
import { useDark, useWidth } from "./hooks.js";
import { marks } from "./scatter.js";
import { colour } from "./palette.js";
import { html } from "./vendor/htm-preact.js";
import { number, says as said, shown, word, wordOr } from "./words.js";

const HEIGHT = 230;
const PAD = { left: 56, right: 12, top: 12, bottom: 40 };
const MOST_DOTS = 120; // marks of one arm; beyond, evenly spaced ones of the sorted values

/**
 * @param {{figures: any[], table: any, onSelect: (trials: number[]) => void}} props
 */
export function Figures({ figures, table, onSelect }) {
  return html`<div class="panels loose">${figures.map((figure, i) => {
    const Drawing = DRAWINGS[figure.kind];
    return Drawing && html`<figure class="panel ${figure.kind}" key=${`${figure.kind} ${i}`}>
      <figcaption>${wordOr(figure.kind)}${figure.data.name ? html` <small>${figure.data.name}</small>` : ""}</figcaption>
      <${Drawing} data=${figure.data} says=${figure.says} table=${table} onSelect=${onSelect} />
      <p class="says">${figure.says}</p></figure>`;
  })}</div>`;
}

/**
 * A frame with a value axis; `children` gets the places of the drawing.
 * @param {{says: string, low: number, high: number, height?: number, children: (at: any) => any}} props
 */
export function Frame({ says, low, high, height = HEIGHT, children }) {
  const [place, width] = useWidth();
  const [y0, y1] = [height - PAD.bottom, PAD.top];
  const spread = high - low || 1;
  const y = (/** @type {number} */ v) => y0 + (y1 - y0) * Math.min(1, Math.max(0, (v - low) / spread));
  const ticks = marks({ low, high: low + spread, log: false });
  return html`<div class="drawing" ref=${place}>${width > 0 && html`<svg width=${width} height=${height} role="img" aria-label=${says}>
    ${ticks.map((v) => html`<g><line class="grid" x1=${PAD.left} x2=${width - PAD.right} y1=${y(v)} y2=${y(v)} />
      <text class="tick end" x=${PAD.left - 6} y=${y(v) + 4}>${number(v)}</text></g>`)}
    ${children({ x0: PAD.left, x1: width - PAD.right, y0, y1, y, width })}</svg>`}</div>`;
}

/** Limits of values with room around them; what is far off the middle half does not widen them. @param {number[]} values @param {number[]} [always] */
function around(values, always = []) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  const at = (/** @type {number} */ q) => sorted[Math.floor(q * (sorted.length - 1))];
  const [q1, q3] = [at(0.25), at(0.75)];
  const inside = sorted.filter((v) => v >= q1 - 3 * (q3 - q1) && v <= q3 + 3 * (q3 - q1)).concat(always.filter(Number.isFinite));
  if (!inside.length) return { low: 0, high: 1 };
  const [low, high] = [Math.min(...inside), Math.max(...inside)];
  const room = 0.06 * (high - low) || Math.abs(low) * 0.05 || 0.5;
  return { low: low - room, high: high + room };
}

/** Limits around the better half, where the difference is; bars are inside. @param {number[]} values @param {number[]} bars @param {boolean} minimize */
function nearBest(values, bars, minimize) {
  const sorted = values.filter(Number.isFinite).sort((a, b) => (minimize ? a - b : b - a));
  return around([...sorted.slice(0, Math.ceil(0.6 * sorted.length)), ...bars], bars);
}

/** @param {number[]} values */
function thinned(values) {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length <= MOST_DOTS) return sorted;
  return Array.from({ length: MOST_DOTS }, (_, i) => sorted[Math.round((i * (sorted.length - 1)) / (MOST_DOTS - 1))]);
}

/** A spread of places that is the same every time. @param {number} i */
const aside = (i) => ((i * 0.618034) % 1) - 0.5;

/** @param {{data: any, says: string, onSelect: (trials: number[]) => void}} props */
function Isolation({ data, says, onSelect }) {
  const dark = useDark();
  if (data.buckets) return html`<${Ranged} data=${data} says=${says} />`;
  const arms = data.arms;
  const bars = arms.flatMap((/** @type {any} */ a) => [a.best, a.best - (a.trial_sd || 0), ...(a.luck || [])]).filter((/** @type {any} */ v) => v !== null);
  const limits = nearBest(arms.flatMap((/** @type {any} */ a) => thinned(a.values)), bars, data.minimize);
  return html`<${Frame} says=${says} ...${limits}>${(/** @type {any} */ at) => {
    const each = (at.x1 - at.x0) / arms.length;
    return arms.map((/** @type {any} */ arm, /** @type {number} */ i) => {
      const x = at.x0 + each * (i + 0.5);
      const ink = colour(dark, i);
      const half = Math.min(26, each / 3);
      const sd = arm.trial_sd;
      return html`<g>
        ${thinned(arm.values).map((v, n) => v < limits.low || v > limits.high ? null : html`<circle cx=${x + 1.4 * half * aside(n + 1)} cy=${at.y(v)} r="2.4" fill=${ink} fill-opacity="0.35" />`)}
        ${arm.luck && html`<rect x=${x - 5} width="10" y=${at.y(arm.luck[1])} height=${Math.max(2, at.y(arm.luck[0]) - at.y(arm.luck[1]))} fill=${ink} fill-opacity="0.45" rx="2" />`}
        ${arm.best !== null && html`<g class="pick" onClick=${() => typeof arm.trial === "number" && onSelect([arm.trial])}>
          <path d=${`M${x - half} ${at.y(arm.best)}H${x + half}`} stroke=${ink} stroke-width="3" /><title>${said.trial(arm.trial)}: ${arm.best}</title></g>`}
        ${arm.best !== null && sd !== null && html`<path class="bar" d=${`M${x - 4} ${at.y(arm.best - sd)}h8m-4 0V${at.y(arm.best + sd)}m-4 0h8`} />`}
        <text class="tick middle" x=${x} y=${at.y0 + 16}>${shown(arm.value)}</text>
        <text class="tick middle faint" x=${x} y=${at.y0 + 31}>${said.trials(arm.trials)}${arm.infeasible && each > 110 ? `, ${arm.infeasible} ✕` : ""}</text></g>`;
    });
  }}<//><p class="key">${word("noiseBars")}</p>`;
}

/** A scientific range: every trial, and the best of neighbouring ones. @param {{data: any, says: string}} props */
function Ranged({ data, says }) {
  const dark = useDark();
  const own = data.buckets;
  const every = Math.max(1, Math.ceil(own.values.length / 600));
  const limits = around(own.values, own.buckets.map((/** @type {any} */ b) => b.best));
  return html`<${Frame} says=${says} ...${limits}>${(/** @type {any} */ at) => {
    const x = (/** @type {number} */ p) => at.x0 + (at.x1 - at.x0) * p;
    return html`<g>${own.values.map((/** @type {number} */ v, /** @type {number} */ i) => i % every ? null : html`<circle cx=${x(own.positions[i])} cy=${at.y(v)} r="2.4" fill=${colour(dark, 0)} fill-opacity="0.35" />`)}
      ${own.buckets.map((/** @type {any} */ b) => html`<g><rect class="band" x=${x(b.low)} width=${Math.max(2, x(b.high) - x(b.low))} y=${at.y(Math.max(...b.band))} height=${Math.abs(at.y(b.band[0]) - at.y(b.band[1]))} />
        <circle cx=${x(b.best_at)} cy=${at.y(b.best)} r="4.5" fill=${colour(dark, 1)}><title>${b.best} (${said.trials(b.trials)})</title></circle></g>`)}</g>`;
  }}<//>`;
}

/** Completed trials with a best step in an interval. @param {any} table @param {number} above @param {number} upto */
function bestBetween(table, above, upto) {
  const { number: numbers, status, step } = table.arrays;
  return [...numbers].filter((_, row) => status[row] === 2 && step[row] > above && step[row] <= upto);
}

/** @param {{data: any, says: string, table: any, onSelect: (trials: number[]) => void}} props */
function BestStep({ data, says, table, onSelect }) {
  const dark = useDark();
  const bins = 20;
  const size = data.max_train_steps / bins || 1;
  const count = (/** @type {number[]} */ steps) => {
    const found = new Array(bins).fill(0);
    for (const s of steps) found[Math.min(bins - 1, Math.max(0, Math.ceil(s / size) - 1))]++;
    return found;
  };
  const [every, top] = [count(data.steps), count(data.top)];
  return html`<${Frame} says=${says} low=${0} high=${Math.max(1, ...every)}>${(/** @type {any} */ at) => {
    const each = (at.x1 - at.x0) / bins;
    return html`<g>${every.map((n, i) => html`<g class="pick" onClick=${() => onSelect(bestBetween(table, i ? i * size : -1, i === bins - 1 ? Infinity : (i + 1) * size))}><title>${`${number(i * size)} – ${number((i + 1) * size)}: ${n}`}</title>
      <rect x=${at.x0 + i * each + 1} width=${Math.max(1, each - 2)} y=${at.y(n)} height=${at.y0 - at.y(n)} fill=${colour(dark, 0)} fill-opacity="0.4" />
      <rect x=${at.x0 + i * each + 1} width=${Math.max(1, each - 2)} y=${at.y(top[i])} height=${at.y0 - at.y(top[i])} fill=${colour(dark, 1)} /></g>`)}
      <line class="edge" x1=${at.x0} x2=${at.x1} y1=${at.y0} y2=${at.y0} />
      ${[0, 0.25, 0.5, 0.75, 1].map((q) => html`<text class="tick middle" x=${at.x0 + (at.x1 - at.x0) * q} y=${at.y0 + 16}>${number(Math.round(q * data.max_train_steps))}</text>`)}
      ${data.proposed !== null && html`<line class="bar" x1=${at.x0 + ((at.x1 - at.x0) * data.proposed) / data.max_train_steps} x2=${at.x0 + ((at.x1 - at.x0) * data.proposed) / data.max_train_steps} y1=${at.y0} y2=${at.y1} />`}</g>`;
  }}<//><p class="key"><i class="swatch" style=${{ background: colour(dark, 1) }}></i>${word("topTrials")} <i class="swatch faint" style=${{ background: colour(dark, 0) }}></i>${word("allTrials")}</p>`;
}

/** @param {{data: any, says: string}} props */
function BestOfK({ data, says }) {
  const dark = useDark();
  const studies = data.studies.slice(0, 4);
  const edges = studies.flatMap((/** @type {any} */ s) => s.budgets.flatMap((/** @type {any} */ b) => [b.quantiles[0], b.quantiles[4]]));
  if (!studies.length) return null;
  const [low, high] = [Math.min(...edges), Math.max(...edges)];
  const room = 0.05 * (high - low) || 0.01;
  const ks = [...new Set(studies.flatMap((/** @type {any} */ s) => s.budgets.map((/** @type {any} */ b) => b.k)))].sort((a, b) => a - b);
  return html`<${Frame} says=${says} low=${low - room} high=${high + room}>${(/** @type {any} */ at) => {
    const each = (at.x1 - at.x0) / ks.length;
    const wide = Math.min(18, (each * 0.8) / studies.length);
    const apart = ks.length > 12 ? 2 : 1;
    return html`<g>${ks.map((k, i) => i % apart ? null : html`<text class="tick middle" x=${at.x0 + each * (i + 0.5)} y=${at.y0 + 16}>${k}</text>`)}
      ${studies.map((/** @type {any} */ study, /** @type {number} */ n) => study.budgets.map((/** @type {any} */ b) => {
        const x = at.x0 + each * (ks.indexOf(b.k) + 0.5) + wide * (n - (studies.length - 1) / 2);
        const q = b.quantiles.map(at.y);
        const ink = colour(dark, n);
        return html`<g><title>${said.bestOf(study.study, b.k, number(b.mean))}</title>
          <line x1=${x} x2=${x} y1=${q[0]} y2=${q[4]} stroke=${ink} stroke-width="1.3" />
          <rect x=${x - wide / 2 + 1} width=${Math.max(2, wide - 2)} y=${Math.min(q[1], q[3])} height=${Math.max(1.5, Math.abs(q[1] - q[3]))} fill=${ink} fill-opacity="0.55" />
          <line x1=${x - wide / 2 + 1} x2=${x + wide / 2 - 1} y1=${q[2]} y2=${q[2]} stroke=${ink} stroke-width="2.2" /></g>`;
      }))}</g>`;
  }}<//><p class="key">${studies.map((/** @type {any} */ s, /** @type {number} */ i) => html`<i class="swatch" style=${{ background: colour(dark, i) }}></i>${s.study} `)}${word("quartiles")}</p>`;
}

/** A name that may be broken after its dots and underscores. @param {string} name */
const breakable = (name) => name.split(/(?<=[._])/).map((part) => html`${part}<wbr />`);

/** A conditional hyperparameter without what it hangs on. @param {string} name */
const last = (name) => name.slice(name.lastIndexOf(".") + 1);

/** @param {{data: any}} props */
function Sensitivity({ data }) {
  const dark = useDark();
  if (!data.studies.length) return null;
  const percent = (/** @type {number} */ v) => `${Math.round(100 * v)}%`;
  return html`<div class="shares">${data.studies.slice(0, 4).map((/** @type {any} */ study, /** @type {number} */ i) => html`<div>
    <h3>${study.study || word("allTrials")} <small>${study.trials} ${word("trials").toLowerCase()}</small></h3>
    ${study.importances.slice(0, 8).map((/** @type {any} */ one) => html`<div class=${`share ${one.matters ? "" : "faint"}`} title=${`${one.share} (${one.interval.join(" – ")})`}>
      <span title=${one.name}>${breakable(last(one.name))}${one.name !== last(one.name) && html`<small>${one.name.slice(0, -last(one.name).length - 1)}</small>`}</span><span class="rail"><b style=${{ width: percent(one.share), background: colour(dark, i) }}></b>
        <i style=${{ left: percent(one.interval[0]), width: percent(one.interval[1] - one.interval[0]) }}></i></span><small>${percent(one.share)}</small></div>`)}</div>`)}
  </div><p class="key">${word("interval")}</p>`;
}

/** @param {{data: any}} props */
function GradientNorm({ data }) {
  const curves = data.trials.map((/** @type {any} */ t, /** @type {number} */ i) => ({ label: said.trial(t.trial), steps: t.curve.steps, values: t.curve.values, ink: i }));
  return html`<${Overlay} curves=${curves} name=${data.metric} bare />`;
}

/** What draws each kind of figure. @type {Record<string, any>} */
export const DRAWINGS = { isolation: Isolation, best_step: BestStep, best_of_k: BestOfK, sensitivity: Sensitivity, gradient_norm: GradientNorm };
