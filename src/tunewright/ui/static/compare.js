// Two to eight trials beside each other: what differs in configuration, curves, code and origin.

import { json, ofRound } from "./api.js";
import { paired } from "./curves.js";
import { Overlay } from "./overlay.js";
import { Status, toRound, toTrial, Waiting } from "./parts.js";
import { useDark, useLoaded } from "./hooks.js";
import { colour } from "./palette.js";
import { html } from "./vendor/htm-preact.js";
import { duration, number, says, shown, word } from "./words.js";

const MOST = 8;

/** The trials that an address names. @param {URLSearchParams} query */
export function named(query) {
  return query.getAll("t").map((text) => {
    const at = text.lastIndexOf(":");
    return { round: text.slice(0, at), trial: Number(text.slice(at + 1)) };
  }).filter((one) => one.round && Number.isInteger(one.trial)).slice(0, MOST);
}

/**
 * Names whose values are not all equal, with each value as text.
 * @param {Record<string, any>[]} all
 * @returns {[string, any[]][]}
 */
export function differing(all) {
  const names = [...new Set(all.flatMap((one) => Object.keys(one)))];
  return /** @type {[string, any[]][]} */ (names.map((name) => [name, all.map((one) => one[name])]))
    .filter(([, values]) => values.some((v) => JSON.stringify(v) !== JSON.stringify(values[0])));
}

/** Where a trial came from, flat. @param {any} trial */
export function origin(trial) {
  const own = trial.origin || {};
  const flat = /** @type {Record<string, any>} */ ({
    command: own.command, folder: own.folder, commit: own.commit, changes: own.diff_sha256 || "", python: own.python,
    host: own.host, system: own.system, devices: (own.devices || []).map(shown).join(", "),
  });
  for (const [name, version] of Object.entries(own.packages || {})) flat[name] = version;
  for (const [file, hash] of Object.entries(own.sources || {})) flat[file] = String(hash).slice(0, 12);
  return flat;
}

/** @param {{of: {round: string, trial: number}}} one */
async function loaded({ of }) {
  const [trial, curves] = await Promise.all([
    json(ofRound(of.round, `/trial/${of.trial}`)), json(ofRound(of.round, `/trial/${of.trial}/curves`)),
  ]);
  return { ...trial, curves };
}

/** @param {{query: URLSearchParams}} props */
export function Compare({ query }) {
  const wanted = named(query);
  const dark = useDark();
  const found = useLoaded(() => Promise.all(wanted.map((of) => loaded({ of }))), [wanted.map((w) => `${w.round}:${w.trial}`).join()]);
  if (wanted.length < 2) return html`<h1>${word("compare")}</h1><p class="state empty">${word("pickSome")}</p>`;
  const trials = /** @type {any[] | null} */ (found.data);
  if (!trials) return html`<h1>${word("compare")}</h1><${Waiting} of=${found} />`;
  const label = (/** @type {any} */ t) => says.trialOf(t.round, t.number);
  const metrics = [...new Set(trials.flatMap((t) => Object.keys(t.curves)))];
  const configuration = differing(trials.map((t) => t.configuration));
  const code = differing(trials.map(origin));
  const head = html`<thead><tr><th scope="col"><span class="hidden">${word("value")}</span></th>${trials.map((t, i) => html`<th scope="col"><i class="swatch" style=${{ background: colour(dark, i) }}></i>
    <a href=${toTrial(t.round, t.number)}>${label(t)}</a></th>`)}</tr></thead>`;
  return html`
    <div class="title"><h1>${word("compare")}</h1>${[...new Set(trials.map((t) => t.round))].map((r) => html`<a href=${toRound(r)}>${r}</a> `)}</div>
    <div class="scroll" tabindex="0" role="group" aria-label=${word("differences")}><table class="facts sides">${head}<tbody>
      <tr><th scope="row">${trials[0].metric}</th>${trials.map((t) => html`<td class="number" title=${t.value ?? ""}><b>${number(t.value)}</b></td>`)}</tr>
      <tr><th scope="row">${word("status")}</th>${trials.map((t) => html`<td><${Status} status=${t.status} /> <small>${t.reason}</small></td>`)}</tr>
      <tr><th scope="row">${word("time")}</th>${trials.map((t) => html`<td class="number" title=${t.seconds}>${duration(t.seconds)}</td>`)}</tr>
      <tr class="sub"><th scope="row" colspan=${trials.length + 1}>${word("differences")}</th></tr>
      ${configuration.map(([name, values]) => html`<tr><th scope="row">${name}</th>${values.map((v) => html`<td class="number" title=${v ?? ""}>${shown(v)}</td>`)}</tr>`)}
      ${!configuration.length && html`<tr><td colspan=${trials.length + 1}>${word("sameConfiguration")}</td></tr>`}
    </tbody></table></div>
    <h2>${word("curves")}</h2>
    <div class="panels wide">${paired(metrics, trials[0].metric).map(({ main, train }) => html`<${Overlay} key=${main} name=${train ? `${main}, ${train}` : main}
      curves=${lines(trials, main, false).concat(train ? lines(trials, train, true) : [])} />`)}</div>
    <h2>${word("codeDifferences")}</h2>
    ${code.length ? html`<div class="scroll" tabindex="0" role="group" aria-label=${word("codeDifferences")}><table class="facts sides">${head}<tbody>${code.map(([name, values]) => html`<tr><th scope="row">${name}</th>
      ${values.map((v) => html`<td><code>${shown(v)}</code></td>`)}</tr>`)}</tbody></table></div>` : html`<p class="state empty">${word("sameCode")}</p>`}
    ${trials.filter((t) => t.origin?.diff).map((t) => html`<details><summary>${word("codeChange")}: ${label(t)}</summary><pre tabindex="0">${t.origin.diff}</pre></details>`)}`;
}

/** @param {any[]} trials @param {string} metric @param {boolean} dash */
const lines = (trials, metric, dash) =>
  trials.map((t, i) => ({ label: says.trialOf(t.round, t.number), ...(t.curves[metric] || { steps: [], values: [] }), dash, ink: i }))
    .filter((one) => one.steps.length);
