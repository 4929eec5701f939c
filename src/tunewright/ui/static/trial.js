// One trial: configuration, curves, attempts, log, resources, snapshots, origin, how to reproduce it.

import { json, ofRound } from "./api.js";
import { paired } from "./curves.js";
import { Overlay } from "./overlay.js";
import { Command, Notes, Stale, Status, Stop, Tile, toDiagnosis, toRound, toTrial, Waiting } from "./parts.js";
import { useLoaded, useRepeatedly } from "./hooks.js";
import { html, useEffect, useRef } from "./vendor/htm-preact.js";
import { age, duration, number, says, shown, word } from "./words.js";

const AGAIN_MS = 2000; // while the trial runs

/** @param {{parts: string[]}} props */
export function Trial({ parts }) {
  const [name, text] = parts;
  const path = ofRound(name || "", `/trial/${encodeURIComponent(text || "")}`);
  const page = useLoaded(() => json(path), [path]);
  const curves = useLoaded(() => json(`${path}/curves`), [path]);
  const log = useLoaded(() => json(`${path}/log`), [path]);
  const round = useLoaded(() => json(ofRound(name || "")), [name]);
  const trial = /** @type {any} */ (page.data);
  const running = trial?.status === "running" || trial?.status === "pending";
  useRepeatedly(() => [page, curves, log].forEach((one) => one.again()), AGAIN_MS, running);
  const title = html`<a href=${toRound(name || "")}>${name}</a> ${says.trial(text)}`;
  if (!trial) return html`<h1>${title}</h1><${Waiting} of=${page} />`;
  const own = /** @type {any} */ (round.data);
  const allowed = Boolean(own?.allow.includes("actions"));
  const logged = /** @type {any} */ (curves.data) || {};
  return html`
    <${Stale} of=${page} />
    <div class="title"><h1>${title}</h1><${Status} status=${trial.status} />
      <nav class="beside" aria-label=${word("trials")}>${trial.number > 0 && html`<a href=${toTrial(name, trial.number - 1)} rel="prev" aria-label=${`${word("trial")} ${trial.number - 1}`}>←</a>`}
        <a href=${toTrial(name, trial.number + 1)} rel="next" aria-label=${`${word("trial")} ${trial.number + 1}`}>→</a></nav>
      ${allowed && running && html`<${Stop} name=${name} trial=${trial.number} />`}</div>
    <p class="goal">${trial.goal}</p>
    ${trial.reason && html`<p class="state why ${trial.status}">${trial.reason}</p>`}
    <div class="tiles">
      <${Tile} name=${trial.metric} value=${number(trial.value)} title=${trial.value ?? ""} />
      <${Tile} name=${word("step")} value=${trial.best_step ?? "–"} />
      <${Tile} name=${word("time")} value=${duration(trial.seconds)} title=${`${trial.seconds} s`} />
      <${Tile} name=${word("memory")} value=${trial.peak_memory_mb === null ? "–" : `${number(trial.peak_memory_mb)} MB`} />
      <${Tile} name=${word("attempts")} value=${trial.attempts} />
    </div>
    <div class="two"><section><h2>${word("configuration")}</h2><${Facts} facts=${trial.configuration} />
      ${trial.applied && html`<h2>${word("applied")}</h2><${Facts} facts=${trial.applied} />`}</section>
    <section><h2>${word("reproduce")}</h2>${trial.command ? html`<${Command} command=${trial.command} />` : html`<p class="state empty">–</p>`}
      <h2>${word("attempts")}</h2><${Attempts} all=${trial.attempted} />
      <h2>${word("snapshots")}</h2>${trial.snapshots.length ? html`<ul class="plain">${trial.snapshots.map((/** @type {any} */ s) => html`<li>${Object.entries(s).map(([k, v]) => html`<span class="fact"><small>${k}</small> ${shown(v)}</span> `)}</li>`)}</ul>`
        : html`<p class="state empty">${word("noSnapshots")}</p>`}</section></div>
    <h2>${word("curves")}${trial.diagnosed && html` <small><a href=${toDiagnosis(name || "", trial.number)}>${word("diagnose")}</a></small>`}</h2>
    ${!curves.data ? html`<${Waiting} of=${curves} />` : !Object.keys(logged).length ? html`<p class="state empty">${word("noCurves")}</p>`
      : html`<div class="panels wide">${paired(Object.keys(logged), trial.metric).map(({ main, train }) => html`<${Overlay} key=${main} name=${train ? `${main} (${word("validation")}), ${train} (${word("training")})` : main}
        curves=${[main, train].filter(Boolean).map((m, i) => ({ label: m, ...logged[/** @type {string} */ (m)], dash: i > 0, ink: 0 }))} />`)}</div>`}
    <h2>${word("log")}</h2><${Log} data=${log.data} />
    ${trial.files?.length > 0 && html`<h2>${word("files")}</h2><ul class="plain">${trial.files.map((/** @type {any} */ f) => html`<li><a download href=${`${path}/file?path=${encodeURIComponent(f.path)}`}>${f.path}</a> <small>${number(f.bytes / 1024)} KB</small></li>`)}</ul>`}
    <h2>${word("provenance")}</h2><${Origin} own=${trial.origin} folder=${trial.folder} seed=${trial.seed} />
    ${own && html`<${Notes} name=${name} notes=${own.notes} allowed=${allowed} onWritten=${round.again} />`}`;
}

/** Names and values. @param {{facts: Record<string, any>}} props */
export const Facts = ({ facts }) => html`<dl class="facts">${Object.entries(facts).map(([name, value]) => html`<div><dt>${name}</dt><dd title=${typeof value === "number" ? value : null}>${shown(value)}</dd></div>`)}</dl>`;

/** @param {{all: any[]}} props */
const Attempts = ({ all }) => html`<div class="scroll" tabindex="0" role="group" aria-label=${word("attempts")}><table class="facts"><thead><tr><th scope="col">${word("attempt")}</th><th scope="col">${word("place")}</th><th scope="col">${word("begun")}</th>
  <th scope="col">${word("time")}</th><th scope="col">${word("outcome")}</th></tr></thead><tbody>
  ${all.map((a) => html`<tr><td class="number">${a.n}</td><td>${a.place}</td><td><small title=${a.began}>${a.began ? age(a.began) : "–"}</small></td>
    <td class="number">${a.seconds === null ? "–" : duration(a.seconds)}</td><td>${a.outcome ? html`<${Status} status=${a.outcome} />` : "–"}</td></tr>`)}</tbody></table></div>`;

/** The end of the log; it stays at the end while lines are added, unless the reader has scrolled up. @param {{data: any}} props */
function Log({ data }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const atEnd = useRef(true);
  useEffect(() => {
    if (box.current && atEnd.current) box.current.scrollTop = box.current.scrollHeight;
  }, [data?.text]);
  if (!data?.text) return html`<p class="state empty">${word("noLog")}</p>`;
  return html`<p><small>${data.file}</small></p><pre class="log" tabindex="0" ref=${box} onScroll=${(/** @type {any} */ e) => {
    atEnd.current = e.currentTarget.scrollTop + e.currentTarget.clientHeight > e.currentTarget.scrollHeight - 20;
  }}>${data.text}</pre>`;
}

/** @param {{own: any, folder: string | null, seed: number}} props */
function Origin({ own, folder, seed }) {
  if (!own) return html`<p class="state empty">${word("noProvenance")}</p>`;
  const { diff, packages, sources, untracked, left_out, ...facts } = own;
  const plain = Object.fromEntries(Object.entries({ ...facts, [word("trialFolder")]: folder, seed }).filter(([, v]) => v !== "" && v !== null && !(Array.isArray(v) && !v.length)));
  return html`<${Facts} facts=${plain} />
    <details><summary>${word("packages")} (${Object.keys(packages || {}).length})</summary><${Facts} facts=${packages || {}} /></details>
    ${diff && html`<details><summary>${word("codeChange")}</summary><pre tabindex="0">${diff}</pre></details>`}`;
}
