// A campaign with its steps and budget, and the answers of probes.

import { json } from "./api.js";
import { Frame } from "./figures.js";
import { Command, Progress, Stale, toRound, Waiting } from "./parts.js";
import { useDark, useLoaded, useRepeatedly } from "./hooks.js";
import { colour } from "./palette.js";
import { Facts } from "./trial.js";
import { html } from "./vendor/htm-preact.js";
import { age, number, shown, word, wordOr } from "./words.js";

const AGAIN_MS = 4000;
const ENDED = ["completed", "infeasible", "failed", "pruned"];

/** Trials of rounds that have ended. @param {any[]} rounds */
export const spent = (rounds) => rounds.reduce((sum, r) => sum + ENDED.reduce((n, s) => n + (r.counts[s] || 0), 0), 0);

/** @param {{parts: string[]}} props */
export function Campaign({ parts }) {
  const name = parts[0] || "";
  const page = useLoaded(() => json(`api/campaign/${encodeURIComponent(name)}`), [name]);
  useRepeatedly(page.again, AGAIN_MS, true);
  const data = /** @type {any} */ (page.data);
  if (!data) return html`<h1>${name}</h1><${Waiting} of=${page} />`;
  const used = data.spent ?? spent(data.rounds);
  const left = data.left ?? Math.max(0, (data.total ?? used) - used);
  const byRound = Object.fromEntries(data.rounds.map((/** @type {any} */ r) => [r.name, r]));
  return html`
    <${Stale} of=${page} />
    <div class="title"><h1>${name}</h1></div>
    <p class="goal">${data.goal}</p>
    <section class="verdict" aria-label=${word("budget")}>${data.headline && html`<div class="lead"><h2>${word("answer")}</h2><p class="trust">${data.headline}</p></div>`}<div class="lead"><h2>${word("budget")}</h2>
      <p><strong>${used}</strong> ${word("spent")}, <strong>${left}</strong> ${word("left")}${data.total ? `, ${data.total} ${word("total")}` : ""}</p>
      <span class="progress big" role="img" aria-label=${`${used} ${word("spent")}, ${left} ${word("left")}`}><i class="completed" style=${{ flexGrow: used }}></i><i class="pending" style=${{ flexGrow: left }}></i></span></div>
      ${data.next && html`<div class="lead"><h2>${word("next")}</h2><p><b>${wordOr(data.next.kind)}</b> · ${data.next.reason}</p>${data.next.command && html`<${Command} command=${data.next.command} />`}</div>`}</section>
    <h2>${word("steps")}</h2>
    <ol class="timeline">${data.steps.map((/** @type {any} */ step) => html`<li class=${step.kind}><b>${step.number}. ${wordOr(step.kind)}</b> <small>· ${age(step.written)}</small><p>${step.reason}</p>
      ${step.round && html`<p><a href=${toRound(step.round)}>${step.round}</a> ${byRound[step.round] && html`<${Progress} counts=${byRound[step.round].counts} /> ${byRound[step.round].trials}`}</p>`}</li>`)}</ol>
    ${!data.steps.length && html`<p class="state empty">${word("nothing")}</p>`}`;
}

/** Every probe's answer. */
export function Probes() {
  const page = useLoaded(() => json("api/probes"), []);
  const data = /** @type {any} */ (page.data);
  if (!data) return html`<h1>${word("probes")}</h1><${Waiting} of=${page} />`;
  return html`<h1>${word("probes")}</h1>
    ${!data.probes.length && html`<p class="state empty">${word("noProbes")} <code>tunewright probe --help</code></p>`}
    ${data.probes.map((/** @type {any} */ probe) => html`<${Probe} key=${probe.id} probe=${probe} />`)}`;
}

/** @param {any} value */
const isTable = (value) => Array.isArray(value) && value.length > 0 && value.every((row) => row && typeof row === "object" && !Array.isArray(row));

const IN_WORDS = ["probe", "message", "caveats", "missing", "settings"]; // shown as sentences, or elsewhere

/** @param {{probe: any}} props */
function Probe({ probe }) {
  const answer = Object.entries(probe.answer || {}).filter(([name]) => !IN_WORDS.includes(name));
  const plain = answer.filter(([name, v]) => v !== null && typeof v !== "object" && name !== "round");
  const tables = answer.filter(([, v]) => isTable(v));
  const round = probe.answer?.round;
  return html`<section class="verdict" aria-label=${wordOr(probe.name)}><div class="lead"><h2>${wordOr(probe.name)}</h2>
      ${probe.says && html`<p class="trust">${probe.says}</p>`}
      ${(probe.missing || []).map((/** @type {string} */ line) => html`<p>${line}</p>`)}
      <p><small>${probe.workload} · ${age(probe.written)}${round && html` · <a href=${toRound(round)}>${round}</a>`}</small></p></div>
    ${Object.keys(probe.settings || {}).length > 0 && html`<div class="lead"><h2>${word("settings")}</h2><${Facts} facts=${probe.settings} /></div>`}
    ${probe.caveats?.length > 0 && html`<div class="lead"><h2>${word("caveats")}</h2><ul class="plain">${probe.caveats.map((/** @type {string} */ c) => html`<li>${c}</li>`)}</ul></div>`}
    <div class="lead"><h2>${word("measured")}</h2><div><${Facts} facts=${Object.fromEntries(plain)} />
    ${tables.map(([name, rows]) => html`<${Points} name=${name} rows=${/** @type {any[]} */ (rows)} /><details><summary>${wordOr(name)} (${/** @type {any[]} */ (rows).length})</summary><${Rows} name=${name} rows=${/** @type {any[]} */ (rows)} /></details>`)}</div></div></section>`;
}

/** Which of these places are far enough from the one before. @param {number[]} places @param {number} least */
function apart(places, least) {
  let last = -Infinity;
  return places.flatMap((p, i) => (p - last < least ? [] : ((last = p), [i])));
}

const ACROSS = ["batch_size", "size", "learning_rate", "warmup_steps", "clip_norm"];
const UP = ["throughput", "examples_per_second", "steps_to_goal", "fit_steps", "crossing", "final_loss"];

/** What a probe measured at each size or rate, where its rows have both. @param {{name: string, rows: any[]}} props */
function Points({ name, rows }) {
  const dark = useDark();
  const finite = (/** @type {string} */ key) => rows.filter((row) => Number.isFinite(row[key])).length > 1;
  const [x, y] = [ACROSS.find(finite), UP.find(finite)];
  if (!x || !y) return null;
  const kept = rows.filter((row) => row[x] > 0 && Number.isFinite(row[y])).sort((a, b) => a[x] - b[x]);
  const ups = kept.map((row) => row[y]);
  const room = 0.08 * (Math.max(...ups) - Math.min(...ups)) || 1;
  const [first, last] = [Math.log(kept[0][x]), Math.log(kept[kept.length - 1][x])];
  const says = `${wordOr(y)} by ${wordOr(x)}`;
  return html`<figure class="panel"><figcaption>${says} <small>${wordOr(name)}</small></figcaption>
    <${Frame} says=${says} low=${Math.min(...ups) - room} high=${Math.max(...ups) + room}>${(/** @type {any} */ at) => {
      const across = (/** @type {number} */ v) => at.x0 + 20 + (at.x1 - at.x0 - 40) * ((Math.log(v) - first) / (last - first || 1));
      const path = kept.map((row, i) => `${i ? "L" : "M"}${across(row[x])} ${at.y(row[y])}`).join("");
      return html`<g><path d=${path} fill="none" stroke=${colour(dark, 0)} stroke-width="1.5" />
        ${kept.map((row) => html`<circle cx=${across(row[x])} cy=${at.y(row[y])} r="4" fill=${colour(dark, row.stable === false ? 1 : 0)}><title>${`${row[x]}: ${row[y]}`}</title></circle>`)}
        ${apart(kept.map((row) => across(row[x])), 64).map((i) => kept[i]).map((row) => html`<text class="tick middle" x=${across(row[x])} y=${at.y0 + 16}>${number(row[x])}</text>`)}</g>`;
    }}<//></figure>`;
}

/** @param {{name: string, rows: any[]}} props */
function Rows({ name, rows }) {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${wordOr(name)}><table class="facts"><thead><tr>${columns.map((c) => html`<th scope="col">${wordOr(c)}</th>`)}</tr></thead>
    <tbody>${rows.slice(0, 200).map((row) => html`<tr>${columns.map((c) => html`<td class="number" title=${typeof row[c] === "number" ? row[c] : null}>${shown(row[c])}</td>`)}</tr>`)}</tbody></table></div>`;
}
