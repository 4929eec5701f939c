// What the curves of one trial show: every question of `tw.diagnose`, answered with its error rate.

import { json, ofRound } from "./api.js";
import { useLoaded } from "./hooks.js";
import { Stale, toRound, toTrial, Waiting } from "./parts.js";
import { Finding } from "./verdict.js";
import { html } from "./vendor/htm-preact.js";
import { word } from "./words.js";

/** @param {{parts: string[]}} props */
export function Diagnose({ parts }) {
  const [name = "", text = ""] = parts;
  const path = ofRound(name, `/trial/${encodeURIComponent(text)}/diagnosis`);
  const page = useLoaded(() => json(path), [path]);
  const data = /** @type {any} */ (page.data);
  const title = html`<a href=${toRound(name)}>${name}</a> <a href=${toTrial(name, text)}>${word("trial")} ${text}</a>`;
  if (!data) return html`<h1>${title}</h1><${Waiting} of=${page} />`;
  const of = (/** @type {string[]} */ kinds) => data.answers.filter((/** @type {any} */ one) => kinds.includes(one.verdict));
  const folded = (/** @type {"fine" | "unknown"} */ key, /** @type {any[]} */ answers) =>
    answers.length > 0 && html`<details><summary>${word(key)} (${answers.length})</summary>${answers.map((one) => html`<${Finding} key=${one.question} finding=${one} />`)}</details>`;
  const pressing = of(["warn", "note"]);
  return html`
    <${Stale} of=${page} />
    <div class="title"><h1>${title}</h1></div>
    <section class="verdict" aria-label=${word("diagnose")}>
      <div class="lead"><h2>${word("diagnose")}</h2><p class="trust">${data.headline}</p>
        ${pressing.map((/** @type {any} */ one) => html`<${Finding} key=${one.question} finding=${one} open=${one.verdict === "warn"} />`)}
        ${!pressing.length && html`<p>${word("noneWarns")}</p>`}
        ${folded("unknown", of(["cannot_judge"]))}
        ${folded("fine", of(["ok"]))}</div>
    </section>`;
}
