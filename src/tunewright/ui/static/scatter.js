// A panel of an axis plot on a canvas: thousands of points, brushing, and points under the mouse.

import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { useWidth } from "./hooks.js";
import { colour } from "./palette.js";
import { number, says } from "./words.js";

const ACTIVE = 65534; // the largest position; the next number stands for "not a hyperparameter of this trial"
const PAD = { left: 52, right: 12, top: 10, bottom: 24 };
const RAIL = 14; // pixels above the plot for trials without a value
const NEAR = 9; // pixels
// as in the pictures of a report: times the distance of the median from the best
const FAR = 6; // where a trial is further away, some stand at the margin
const SHOWN = 4; // those that are further away than this

/**
 * The scale of the objective: limits that outliers do not decide, logarithmic where values are far apart.
 * @param {Float32Array} values
 * @param {boolean} minimize
 */
export function scaleOf(values, minimize) {
  const finite = Float32Array.from(values).filter(Number.isFinite).sort();
  if (!finite.length) return { low: 0, high: 1, log: false, worst: minimize ? Infinity : -Infinity };
  const at = (/** @type {number} */ q) => finite[Math.min(finite.length - 1, Math.floor(q * finite.length))];
  const middle = at(0.5);
  const [best, worst] = minimize ? [finite[0], finite[finite.length - 1]] : [finite[finite.length - 1], finite[0]];
  const spread = Math.abs(middle - best);
  let far = worst;
  if (finite.length >= 4 && spread > 0 && Math.abs(worst - best) > FAR * spread) {
    const near = finite.filter((v) => Math.abs(v - best) <= SHOWN * spread);
    far = minimize ? near[near.length - 1] : near[0];
  }
  const log = finite[0] > 0 && finite[finite.length - 1] / finite[0] > 50 && minimize;
  let low = minimize ? best : far;
  let high = minimize ? far : best;
  if (low === high) [low, high] = [middle - Math.abs(middle) * 0.05 - 1e-9, middle + Math.abs(middle) * 0.05 + 1e-9];
  const room = log ? 0 : 0.06 * (high - low);
  return { low: log ? low / 1.1 : low - room, high: log ? high * 1.1 : high + room, log, worst: far };
}

/** Where a value stands between 0 and 1 of a scale. @param {number} v @param {{low: number, high: number, log: boolean}} s */
export function share(v, s) {
  const x = s.log ? (Math.log(v) - Math.log(s.low)) / (Math.log(s.high) - Math.log(s.low)) : (v - s.low) / (s.high - s.low);
  return Math.min(1, Math.max(0, x));
}

/** 1 for a value above what a scale shows, -1 for one below it, 0 otherwise. @param {number} v @param {{low: number, high: number, worst: number}} s */
export function beyondOf(v, s) {
  const minimize = Math.abs(s.worst - s.high) < Math.abs(s.worst - s.low);
  return minimize && v > s.worst ? 1 : !minimize && v < s.worst ? -1 : 0;
}

/** Round values on a scale. @param {{low: number, high: number, log: boolean}} s */
export function marks(s) {
  if (s.log) {
    const first = Math.ceil(Math.log10(s.low));
    const last = Math.floor(Math.log10(s.high));
    const found = [];
    for (let e = first; e <= last; e++) found.push(10 ** e);
    if (found.length > 1) return found;
  }
  const rough = (s.high - s.low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= rough) || rough;
  const found = [];
  for (let v = Math.ceil(s.low / step) * step; v <= s.high; v += step) found.push(Number(v.toPrecision(6)));
  return found;
}

/**
 * @param {{axis: any, at: number, table: any, scale: any, selected: Set<number>, best: Set<number>,
 *   dark: boolean, onSelect: (rows: number[], add: boolean) => void, onOpen: (row: number) => void}} props
 */
export function Scatter({ axis, at, table, scale, selected, best, dark, onSelect, onOpen }) {
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const [place, measured] = useWidth();
  const width = Math.max(220, measured);
  const [hover, setHover] = useState(-1);
  const [drag, setDrag] = useState(/** @type {null | {x0: number, y0: number, x: number, y: number}} */ (null));
  const height = 240;
  const places = useRef(/** @type {Float32Array} */ (new Float32Array(0)));
  useEffect(() => {
    if (canvas.current) places.current = draw(canvas.current, { axis, at, table, scale, selected, best, dark, width, height, hover });
  }, [axis, table, scale, selected, best, dark, width, hover]);
  /** @param {number} x @param {number} y */
  const nearest = (x, y) => {
    let found = -1;
    let least = NEAR * NEAR;
    const p = places.current;
    for (let row = 0; row < p.length / 2; row++) {
      const dx = p[2 * row] - x;
      const dy = p[2 * row + 1] - y;
      const d = dx * dx + dy * dy;
      if (d < least) [found, least] = [row, d];
    }
    return found;
  };
  /** @param {any} event */
  const spot = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  /** @param {any} event */
  const end = (event) => {
    if (!drag) return;
    const { x, y } = spot(event);
    if (Math.abs(x - drag.x0) > 4 || Math.abs(y - drag.y0) > 4) {
      const [x0, x1] = [Math.min(x, drag.x0), Math.max(x, drag.x0)];
      const [y0, y1] = [Math.min(y, drag.y0), Math.max(y, drag.y0)];
      const rows = [];
      const p = places.current;
      for (let row = 0; row < p.length / 2; row++)
        if (p[2 * row] >= x0 && p[2 * row] <= x1 && p[2 * row + 1] >= y0 && p[2 * row + 1] <= y1) rows.push(row);
      onSelect(rows, event.shiftKey);
    } else {
      const row = nearest(x, y);
      if (row >= 0 && event.detail > 1) onOpen(row);
      else onSelect(row >= 0 ? [row] : [], event.shiftKey);
    }
    setDrag(null);
  };
  const label = `${axis.name}${axis.condition ? ` ${axis.condition.trim()}` : ""}`;
  const brush = drag && {
    left: `${Math.min(drag.x, drag.x0)}px`, top: `${Math.min(drag.y, drag.y0)}px`,
    width: `${Math.abs(drag.x - drag.x0)}px`, height: `${Math.abs(drag.y - drag.y0)}px`,
  };
  return html`<figure class="panel">
    <figcaption title=${axis.column}>${label}<small class="range">${axis.range}</small></figcaption>
    <div class="canvas" ref=${place}>
      <canvas ref=${canvas} role="img" aria-label=${says.objectiveBy(label)}
        onPointerDown=${(/** @type {any} */ e) => {
          if (e.button) return;
          e.currentTarget.setPointerCapture(e.pointerId);
          setHover(-1);
          setDrag({ x0: spot(e).x, y0: spot(e).y, ...spot(e) });
        }}
        onPointerMove=${(/** @type {any} */ e) => {
          const { x, y } = spot(e);
          if (drag) setDrag({ ...drag, x, y });
          else setHover(nearest(x, y));
        }}
        onPointerLeave=${() => setHover(-1)}
        onPointerCancel=${() => setDrag(null)}
        onPointerUp=${end}></canvas>
      ${brush && html`<i class="brush" style=${brush}></i>`}
      ${hover >= 0 && html`<output class="tip">${says.trial(table.head.labels?.[hover] ?? table.arrays.number[hover])}: ${number(table.arrays.value[hover])}</output>`}
    </div></figure>`;
}

/**
 * Draw a panel; where each row stands, NaN for rows that are not in it.
 * @param {HTMLCanvasElement} canvas
 * @param {any} of
 */
function draw(canvas, { axis, at, table, scale, selected, best, dark, width, height, hover }) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = height * ratio;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const c = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  c.scale(ratio, ratio);
  c.clearRect(0, 0, width, height);
  const ink = dark ? "#d8dee6" : "#39424e";
  const [x0, x1] = [PAD.left, width - PAD.right];
  const [y0, y1] = [height - PAD.bottom, PAD.top + RAIL];
  c.font = "11px system-ui, sans-serif";
  c.strokeStyle = dark ? "#39424e" : "#dfe4ea";
  c.fillStyle = ink;
  c.textAlign = "right";
  c.textBaseline = "middle";
  for (const v of marks(scale)) {
    const y = y0 + (y1 - y0) * share(v, scale);
    line(c, x0, y, x1, y);
    c.fillText(number(v), x0 - 5, y);
  }
  c.textAlign = "center";
  c.textBaseline = "top";
  for (const tick of axis.ticks) c.fillText(tick.label, x0 + (x1 - x0) * tick.at, y0 + 6);
  c.strokeStyle = dark ? "#6b7684" : "#9aa5b1";  // the edges of what is searched
  c.setLineDash([3, 3]);
  line(c, x0, y0, x0, y1);
  line(c, x1, y0, x1, y1);
  c.setLineDash([]);
  const { number: numbers, study, status, value, position } = table.arrays;
  const axes = table.head.columns.length;
  const places = new Float32Array(2 * numbers.length).fill(NaN);
  const many = numbers.length > 2500;
  const aside = axis.choice ? 0.6 / Math.max(1, axis.ticks.length) : 0; // equal values beside each other
  const radius = many ? 1.6 : 3.2;
  for (let pass = 0; pass < 2; pass++) {
    for (let row = 0; row < numbers.length; row++) {
      const p = position[row * axes + at];
      if (p > ACTIVE) continue;
      const marked = selected.has(row) || best.has(row) || row === hover;
      if (marked !== (pass === 1)) continue;
      const x = x0 + (x1 - x0) * (p / ACTIVE + aside * (((numbers[row] * 0.618034) % 1) - 0.5));
      const shown = status[row] === 2 && Number.isFinite(value[row]);
      const pruned = status[row] === 5;
      if (!shown && !pruned && status[row] !== 3) continue;
      const beyond = shown ? beyondOf(value[row], scale) : 0;
      const up = beyond ? (beyond + 1) / 2 : share(value[row], scale);
      const y = shown ? y0 + (y1 - y0) * up : PAD.top + 4;
      places[2 * row] = x;
      places[2 * row + 1] = y;
      const dim = selected.size && !selected.has(row);
      c.globalAlpha = dim ? 0.15 : many ? 0.55 : 0.85;
      if (!shown) {
        c.strokeStyle = pruned ? (dark ? "#b3ada7" : "#6b6661") : dark ? "#ff8f7d" : "#c0392b";
        if (pruned) {
          line(c, x, y - 4, x, y + 4);
          continue;
        }
        line(c, x - 3, y - 3, x + 3, y + 3);
        line(c, x - 3, y + 3, x + 3, y - 3);
        continue;
      }
      c.fillStyle = c.strokeStyle = colour(dark, study[row]);
      if (beyond) triangle(c, x, y, beyond);
      else if (many && !marked) c.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
      else {
        c.beginPath();
        c.arc(x, y, marked ? 4 : radius, 0, 7);
        c.fill();
      }
      if (best.has(row) || row === hover) {
        c.globalAlpha = 1;
        c.strokeStyle = ink;
        c.beginPath();
        c.arc(x, y, 6.5, 0, 7);
        c.stroke();
      }
    }
  }
  c.globalAlpha = 1;
  return places;
}

/** A hollow triangle that points out of the panel. @param {CanvasRenderingContext2D} c @param {number} x @param {number} y @param {number} up */
function triangle(c, x, y, up) {
  c.beginPath();
  c.moveTo(x, y - 4 * up);
  c.lineTo(x + 4, y + 3 * up);
  c.lineTo(x - 4, y + 3 * up);
  c.closePath();
  c.stroke();
}

/** @param {CanvasRenderingContext2D} c @param {number} a @param {number} b @param {number} x @param {number} y */
function line(c, a, b, x, y) {
  c.beginPath();
  c.moveTo(a, b);
  c.lineTo(x, y);
  c.stroke();
}
