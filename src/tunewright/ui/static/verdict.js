// The head of a round's page: what it asked, what it found, what not to trust, what to do next.

import { json, ofRound } from "./api.js";
import { Chip, Command } from "./parts.js";
import { html, useEffect, useRef, useState } from "./vendor/htm-preact.js";
import { word } from "./words.js";

const ASK_MS = 1500; // while a verdict is being made
const LATER_MS = 6000; // while the round runs: the server decides when a new one is due

/**
 * The newest verdict on a round, asked for again until it is about the newest trials.
 * @param {string} name @param {number} changes
 */
function useVerdict(name, changes) {
  const [known, setKnown] = useState(/** @type {any} */ ({ state: "waiting", fresh: false, verdict: null }));
  const has = useRef("");
  const timer = useRef(0);
  const asked = useRef(0);
  useEffect(() => {
    let current = true;
    /** @param {number} pause */
    const later = (pause) => {
      clearTimeout(timer.current);
      timer.current = setTimeout(ask, pause);
    };
    const ask = () => {
      asked.current = Date.now();
      return json(ofRound(name, `/verdict?has=${has.current}`)).then(
        (found) => {
          if (!current) return;
          if (found.verdict) has.current = found.made || "";
          setKnown((/** @type {any} */ before) => (found.verdict || !before.verdict ? found : { ...before, fresh: found.fresh }));
          if (!found.fresh && found.state !== "failed") later(has.current ? LATER_MS : ASK_MS);
        },
        () => current && later(LATER_MS),
      );
    };
    // trials that end every second need no verdict every second
    later(has.current ? Math.max(0, asked.current + LATER_MS - Date.now()) : 0);
    return () => {
      current = false;
      clearTimeout(timer.current);
    };
  }, [name, changes]);
  return known;
}

/**
 * @param {{round: any, changes: number, active: number, children: (verdict: any) => any}} props
 */
export function Verdict({ round, changes, active, children }) {
  const known = useVerdict(round.name, changes);
  const verdict = known.verdict;
  const check = `tunewright check ${quoted(round.name)}`;
  const of = (/** @type {string[]} */ kinds) => verdict.findings.filter((/** @type {any} */ f) => kinds.includes(f.verdict));
  return html`<section class="verdict" aria-label=${word("verdict")}>
    <div class="lead"><h2>${word("question")}</h2><p class="goal">${round.goal || round.asks || "–"}</p></div>
    ${!verdict ? html`<p class=${`state ${known.state === "failed" ? "failed" : "loading"}`} role="status">${word(known.state === "failed" ? "failed" : known.state === "working" ? "working" : "waiting")}
      ${known.error && html` ${known.error.message}`}
      ${known.state === "failed" && html` <${Command} command=${check} />`}</p>` : html`
    <div class="lead"><h2>${word("answer")}</h2>
      ${verdict.headline && html`<p class="headline">${verdict.headline}</p>`}
      ${verdict.compared.map((/** @type {any} */ f) => html`<p class="answer"><${Chip} verdict=${f.verdict}>${f.headline}<//> <small>${f.evidence.join("; ")}</small></p>`)}
      ${verdict.found.map((/** @type {string} */ line) => html`<p>${line}</p>`)}</div>
    <div class="lead"><h2>${word("verdict")}</h2><p class="trust">${verdict.trust} ${!known.fresh && active > 0 && html`<small>${word("outdated")}</small>`}</p>
      ${of(["warn", "note"]).map((/** @type {any} */ f) => html`<${Finding} finding=${f} open=${f.verdict === "warn"} />`)}
      ${of(["cannot_judge"]).length > 0 && html`<details><summary>${word("unknown")} (${of(["cannot_judge"]).length})</summary>${of(["cannot_judge"]).map((/** @type {any} */ f) => html`<${Finding} finding=${f} />`)}</details>`}
      ${of(["ok"]).length > 0 && html`<details><summary>${word("fine")} (${of(["ok"]).length})</summary>${of(["ok"]).map((/** @type {any} */ f) => html`<${Finding} finding=${f} />`)}</details>`}</div>
    ${verdict.caveats.length > 0 && html`<div class="lead"><h2>${word("caveats")}</h2><ul class="plain">${verdict.caveats.map((/** @type {string} */ c) => html`<li>${c}</li>`)}</ul></div>`}
    ${verdict.next.length > 0 && html`<div class="lead"><h2>${word("next")}</h2><ol class="steps">${verdict.next.map((/** @type {any} */ n) => html`<li>${n.text} <small>${n.why}</small>
      ${n.command && html`<${Command} command=${n.command} />`}</li>`)}</ol></div>`}`}
  </section>
  ${children(verdict)}`;
}

/** One entry of the checklist; those that share its verdict are folded. @param {{finding: any, open?: boolean}} props */
export function Finding({ finding, open = false }) {
  const [first, ...rest] = finding.found;
  const about = (/** @type {any} */ one) => (one.about ? `${one.about}: ` : "");
  const evidence = (/** @type {any} */ one) => html`<ul>${one.evidence.map((/** @type {string} */ line) => html`<li>${line}</li>`)}</ul>`;
  return html`<details class="finding" open=${open}><summary><${Chip} verdict=${finding.verdict} /> ${rest.length ? about(first) : ""}${first.headline}
      ${finding.others > 0 && html` <small>+${finding.others} ${word("others")}</small>`}</summary>
    ${evidence(first)}
    ${rest.map((/** @type {any} */ one) => html`<details class="also"><summary>${about(one)}${one.headline}</summary>${evidence(one)}</details>`)}
    ${finding.actions.map((/** @type {any} */ a) => html`<p class="action">${a.text} ${a.command && html`<${Command} command=${a.command} />`}</p>`)}</details>`;
}

/** A word of a shell command. @param {string} text */
export const quoted = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'"'"'`)}'`);
