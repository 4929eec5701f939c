// Whole curves of a few trials in one plot: drag zooms, double-click zooms out, the legend follows the mouse.

import { useDark, useWidth } from "./hooks.js";
import { colour } from "./palette.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { number, word } from "./words.js";

const HEIGHT = 280;
const FAINT = "40"; // of a line that is not selected, as the last two digits of its colour
const WIDE = 20; // a ratio of high to low values beyond which the axis is logarithmic

/** @typedef {{label: string, steps: number[], values: (number | null)[], dash?: boolean, ink: number, faint?: boolean}} Line */

/** The value at a place of a joined curve, or the last one before it. @param {(number | null | undefined)[]} values @param {number} at */
function before(values, at) {
  for (let i = at; i >= 0; i--) if (values[i] !== null && values[i] !== undefined) return values[i];
  return null;
}

/**
 * Whole curves of a few trials in one plot, each over its own steps.
 * @param {{curves: Line[], name: string, bare?: boolean}} props
 */
export function Overlay({ curves, name, bare = false }) {
  const [place, width] = useWidth();
  const dark = useDark();
  const [under, setUnder] = useState(/** @type {{step: number, values: (number | null | undefined)[]} | null} */ (null));
  const canvas = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const into = canvas.current;
    if (!into || width < 100 || !curves.length) return undefined;
    const UPlot = /** @type {any} */ (window).uPlot;
    const finite = curves.flatMap((c) => c.values.filter((v) => v !== null && Number.isFinite(v))).map(Number).sort((a, b) => a - b);
    const log = finite.length > 0 && finite[0] > 0 && finite[Math.floor(0.95 * (finite.length - 1))] / finite[0] > WIDE;
    const ink = dark ? "#b9c3cf" : "#4a5563";
    const grid = { stroke: dark ? "#2b3440" : "#e6eaef", width: 1 };
    const axis = { stroke: ink, grid, ticks: grid, font: "11px system-ui" };
    const joined = UPlot.join(curves.map((c) => [c.steps, c.values]));
    const made = new UPlot({
      width, height: HEIGHT, legend: { show: false }, cursor: { y: false },
      series: [{}, ...curves.map((c) => ({
        stroke: `${colour(dark, c.ink)}${c.faint ? FAINT : ""}`, width: c.dash ? 1.3 : 2, dash: c.dash ? [5, 4] : undefined,
        spanGaps: true, points: { show: c.values.length < 3 },
      }))],
      scales: { x: { time: false }, y: { distr: log ? 3 : 1 } },
      axes: [{ ...axis, size: 34, values: (/** @type {any} */ _, /** @type {number[]} */ v) => v.map(number) },
        { ...axis, size: 58, values: (/** @type {any} */ _, /** @type {(number | null)[]} */ v) => v.map((n) => (n === null ? "" : number(n))) }],
      hooks: {
        setCursor: [(/** @type {any} */ u) => {
          const at = u.cursor.idx;
          setUnder(at === null || at === undefined ? null
            : { step: joined[0][at], values: joined.slice(1).map((/** @type {any} */ values) => before(values, at)) });
        }],
      },
    }, joined, into);
    return () => made.destroy();
  }, [curves, width, dark]);
  const named = curves.map((c, i) => ({ ...c, i })).filter((c) => curves.findIndex((other) => other.label === c.label) === c.i);
  const drawing = html`<div ref=${place}><div class="space low" ref=${canvas} role="img"
    aria-label=${`${name}: ${curves.map((c) => c.label).join(", ")}`}></div></div>
    <ul class="legend">${named.map((c) => html`<li><i class=${c.dash ? "dash" : ""} style=${{ background: colour(dark, c.ink), color: colour(dark, c.ink) }}></i>${c.label}
        <output title=${under?.values[c.i] ?? ""}>${under ? number(under.values[c.i]) : ""}</output></li>`)}
      <li class="at">${word("step")} <output>${under ? under.step : "–"}</output></li></ul>`;
  return bare ? drawing : html`<figure class="panel"><figcaption>${name}</figcaption>${drawing}</figure>`;
}
