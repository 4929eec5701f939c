// Small pieces that several pages use: states of loading, chips, commands to copy, tiles.

import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { word } from "./words.js";

/**
 * Load something; the page shows one of loading, failed, or what came.
 * @template T
 * @param {() => Promise<T>} load
 * @param {any[]} about reload when one of these changes
 * @returns {{state: "loading" | "failed" | "ready", data: T | null, error: Error | null, again: () => void}}
 */
export function useLoaded(load, about) {
  const [known, setKnown] = useState(/** @type {any} */ ({ state: "loading", data: null, error: null }));
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let current = true;
    load().then(
      (data) => current && setKnown({ state: "ready", data, error: null }),
      (error) => current && setKnown({ state: "failed", data: null, error }),
    );
    return () => {
      current = false;
    };
  }, [...about, turn]);
  return { ...known, again: () => setTurn(turn + 1) };
}

/** What to show until there is data. @param {{of: {state: string, error: Error | null}}} props */
export function Waiting({ of }) {
  if (of.state === "failed") return html`<p class="state failed" role="alert">${of.error?.message}</p>`;
  return html`<p class="state loading" role="status">${word("loading")}</p>`;
}

const MARKS = { ok: "✓", note: "i", warn: "!", cannot_judge: "?" };
const NAMES = { ok: "ok", note: "note", warn: "warning", cannot_judge: "cannot judge" };

/** A verdict as a chip: sign, colour and word. @param {{verdict: keyof typeof MARKS, children?: any}} props */
export const Chip = ({ verdict, children }) =>
  html`<span class="chip ${verdict}"><b aria-hidden="true">${MARKS[verdict]}</b> ${children || NAMES[verdict]}</span>`;

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
  return html`<span class="command"><code>${command}</code>
    <button class="quiet" onClick=${copy} aria-label=${`${word("copy")}: ${command}`}>${done ? word("copied") : word("copy")}</button></span>`;
}

/** A number with its name. @param {{name: string, value: any, title?: string}} props */
export const Tile = ({ name, value, title }) =>
  html`<div class="tile" title=${title}><span>${name}</span><strong>${value}</strong></div>`;

/** The share of trials in each state, as a bar. @param {{counts: Record<string, number>, trials: number}} props */
export function Progress({ counts, trials }) {
  const order = ["completed", "infeasible", "pruned", "failed", "running", "pending"];
  const told = order.filter((s) => counts[s]).map((s) => `${counts[s]} ${s}`).join(", ");
  return html`<span class="progress" role="img" aria-label=${told} title=${told}>
    ${order.map((s) => counts[s] && html`<i class=${s} data-share=${Math.round((100 * counts[s]) / trials)}></i>`)}</span>`;
}
