// Small pieces that several pages use: states of loading, chips, commands to copy, notes, sizes.

import { post, ofRound } from "./api.js";
import { html, useState } from "./vendor/htm-preact.js";
import { age, duration, says, statusWord, word, wordOr } from "./words.js";

/** What to show until there is data. @param {{of: {state: string, error: Error | null, again?: () => void}}} props */
export function Waiting({ of }) {
  if (of.state !== "failed") return html`<p class="state loading" role="status">${word("loading")}</p>`;
  return html`<p class="state failed" role="alert">${of.error?.message}
    ${of.again && html` <button onClick=${of.again}>${word("again")}</button>`}</p>`;
}

/** Beside data that could not be renewed. @param {{of: {state: string, data: any}}} props */
export const Stale = ({ of }) =>
  of.state === "failed" && of.data ? html`<p class="state stale" role="status">${word("stale")}</p>` : null;

const MARKS = { ok: "✓", note: "i", warn: "!", cannot_judge: "?" };

/** A verdict as a chip: sign, colour and word. @param {{verdict: keyof typeof MARKS, children?: any}} props */
export const Chip = ({ verdict, children }) =>
  html`<span class="chip ${verdict}"><b aria-hidden="true">${MARKS[verdict]}</b> ${children || wordOr(`verdict_${verdict}`)}</span>`;

/** A command with a button that copies it. @param {{command: string}} props */
export function Command({ command }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(command);
    } catch {
      const field = document.createElement("textarea");
      field.value = command;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<span class="command"><code tabindex="0">${command}</code>
    <button onClick=${copy} aria-label=${`${word("copy")}: ${command}`}>${done ? word("copied") : word("copy")}</button></span>`;
}

/** A number with its name. @param {{name: string, value: any, title?: any}} props */
export const Tile = ({ name, value, title }) =>
  html`<div class="tile" title=${title}><span>${name}</span><strong>${value}</strong></div>`;

const ORDER = ["completed", "infeasible", "pruned", "failed", "running", "pending"];

/** Counts of trials in words. @param {Record<string, number>} counts */
export const counted = (counts) => ORDER.filter((s) => counts[s]).map((s) => says.counted(counts[s], statusWord(s))).join(", ");

/** The share of trials in each state, as a bar. @param {{counts: Record<string, number>}} props */
export function Progress({ counts }) {
  const told = counted(counts);
  return html`<span class="progress" role="img" aria-label=${told} title=${told}>
    ${ORDER.map((s) => counts[s] ? html`<i key=${s} class=${s} style=${{ flexGrow: counts[s] }}></i>` : null)}</span>`;
}

/** A trial's status: a mark and a word. @param {{status: string}} props */
export const Status = ({ status }) => html`<span class="status ${status}">${statusWord(status)}</span>`;

/** The notes of a round, and a field for another where that is allowed. @param {{name: string, notes: any[], allowed: boolean, onWritten: () => void}} props */
export function Notes({ name, notes, allowed, onWritten }) {
  const [text, setText] = useState("");
  const [error, setError] = useState("");
  const write = async () => {
    try {
      await post(ofRound(name, "/note"), { text });
      setText("");
      setError("");
      onWritten();
    } catch (refused) {
      setError(/** @type {Error} */ (refused).message);
    }
  };
  return html`<section class="notes"><h2>${word("notes")}</h2>
    ${notes.length ? html`<ul class="plain">${notes.map((n) => html`<li>${n.text} <small>${age(n.written)}</small></li>`)}</ul>`
      : html`<p class="state empty">${word("noNotes")}</p>`}
    ${allowed && html`<div class="write"><textarea aria-label=${word("addNote")} placeholder=${word("addNote")} value=${text}
      onInput=${(/** @type {any} */ e) => setText(e.target.value)}></textarea>
      <button disabled=${!text.trim()} onClick=${write}>${word("save")}</button></div>`}
    ${error && html`<p class="state failed" role="alert">${error}</p>`}</section>`;
}

/** Ask to stop a round or a trial. @param {{name: string, trial?: number}} props */
export function Stop({ name, trial }) {
  const [said, setSaid] = useState("");
  const ask = async () => {
    try {
      await post(ofRound(name, "/stop"), trial === undefined ? {} : { trial });
      setSaid(word("stopAsked"));
    } catch (refused) {
      setSaid(/** @type {Error} */ (refused).message);
    }
  };
  return html`<span><button class="danger" onClick=${ask}>${word(trial === undefined ? "stopRound" : "stopTrial")}</button>
    <output>${said}</output></span>`;
}

/** Seconds with all digits on hover. @param {number} s */
export const seconds = (s) => html`<span title=${`${s} s`}>${duration(s)}</span>`;

/** A link to a trial's page. @param {string} round @param {number | string} trial */
export const toTrial = (round, trial) => `#/trial/${encodeURIComponent(round)}/${trial}`;

/** A link to what the curves of a trial show. @param {string} round @param {number | string} trial */
export const toDiagnosis = (round, trial) => `#/diagnose/${encodeURIComponent(round)}/${trial}`;

/** A link to a round's page. @param {string} round */
export const toRound = (round) => `#/round/${encodeURIComponent(round)}`;
