// The first page: every round and campaign, running ones on top, and the decisions made.

import { keepInAddress } from "./address.js";
import { json, post } from "./api.js";
import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { Chip, Progress, Stale, toRound, toTrial, Waiting } from "./parts.js";
import { useLoaded, useRepeatedly } from "./hooks.js";
import { age, number, says, word, wordOr } from "./words.js";

const AT_ONCE = 20; // rounds whose best value is asked for in one request
const LARGE = 2000; // trials; a round with more is asked for alone, after the others
const AGAIN_MS = 10000; // a list of rounds changes rarely; a round's own page is live

/** @param {any} round */
const isRunning = (round) => Boolean(round.counts.running);

/** Rounds that match what was typed, running ones first. @param {any[]} rounds @param {string} typed */
export function listed(rounds, typed) {
  const wanted = typed.trim().toLowerCase();
  const kept = rounds.filter((r) => !wanted || `${r.name} ${r.goal} ${r.campaign}`.toLowerCase().includes(wanted));
  return kept.sort((a, b) => Number(isRunning(b)) - Number(isRunning(a)));
}

/** What a column is sorted by. @type {Record<string, (round: any, best: any) => any>} */
const SORTS = {
  round: (r) => r.name.toLowerCase(),
  trials: (r) => -r.trials,
  best: (r, best) => best?.value ?? Infinity,
  searchKind: (r) => r.search,
  begun: (r) => -Date.parse(r.created),
};
const COLUMNS = /** @type {const} */ (["round", "goal", "trials", "best", "searchKind", "note", "begun"]);

/** @param {{query: URLSearchParams}} props */
export function Home({ query }) {
  const [typed, setTyped] = useState(query.get("q") || "");
  const [sort, setSort] = useState(query.get("sort") || "");
  const [bests, setBests] = useState(/** @type {Record<string, any>} */ ({}));
  const [shown, setShown] = useState(50);
  const home = useLoaded(() => json("api/home"), []);
  useRepeatedly(home.again, AGAIN_MS, true);
  const data = /** @type {any} */ (home.data);
  useEffect(() => {
    const kept = new URLSearchParams();
    if (typed) kept.set("q", typed);
    if (sort) kept.set("sort", sort);
    keepInAddress(kept);
  }, [typed, sort]);
  let rounds = data ? listed(data.rounds, typed) : [];
  const by = SORTS[sort];
  if (by) {
    const value = (/** @type {any} */ r) => by(r, bests[key(r)]);
    rounds = [...rounds].sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0));
  }
  const all = rounds.length;
  rounds = rounds.slice(0, shown);
  const unknown = rounds.filter((r) => !(key(r) in bests));
  const small = unknown.filter((r) => r.trials <= LARGE);
  const missing = small.length ? small.slice(0, AT_ONCE) : unknown.slice(0, 1);
  useEffect(() => {
    if (!missing.length) return;
    const asked = missing.map((r) => `round=${encodeURIComponent(r.name)}`).join("&");
    json(`api/bests?${asked}`).then((found) => {
      const named = Object.fromEntries(missing.map((r) => [key(r), found[r.name]]));
      setBests((known) => ({ ...known, ...named }));
    }, () => {});
  }, [missing.map(key).join()]);
  if (!data) return html`<h1>${word("rounds")}</h1><${Waiting} of=${home} />`;
  return html`
    <${Stale} of=${home} />
    <div class="title"><h1>${word("rounds")}</h1>
    <input type="search" placeholder=${word("search")} aria-label=${word("search")} value=${typed}
      onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} /></div>
    ${!data.rounds.length ? html`<p class="state empty">${word("nothing")} <code>tunewright run ROUND</code></p>`
      : !all ? html`<p class="state empty">${word("noMatch")}</p>`
      : html`<div class="scroll" tabindex="0" role="group" aria-label=${word("rounds")}><table class="rounds" onKeyDown=${arrows}>
      <thead><tr>${COLUMNS.map((c) => html`<th scope="col" class=${c} aria-sort=${sort === c ? "ascending" : null}>
        ${SORTS[c] ? html`<button class="sort" onClick=${() => setSort(sort === c ? "" : c)}>${word(c)}</button>` : word(c)}</th>`)}</tr></thead>
      <tbody>${rounds.map((r) => html`<${Line} key=${r.name} round=${r} best=${bests[key(r)]} />`)}</tbody>
    </table></div>`}
    ${all > shown && html`<button onClick=${() => setShown(shown + 200)}>${word("moreRounds")}</button>`}
    <div class="two"><${Runs} allowed=${data.allow.includes("run")} />
    ${data.campaigns.length > 0 && html`<section><h2>${word("campaigns")}</h2>
      <ul class="plain">${data.campaigns.map((/** @type {any} */ c) => html`<li><a href=${`#/campaign/${encodeURIComponent(c.name)}`}>${c.name}</a> <small>${age(c.created)}</small></li>`)}</ul></section>`}
    ${data.launches.length > 0 && html`<section><h2>${word("launches")}</h2><ol class="timeline">
      ${data.launches.map((/** @type {any} */ l) => html`<li class=${l.verdict}><b>${wordOr(`launch_${l.verdict}`)}</b> <${Place} of=${l.candidate} /> ${word("over")} <${Place} of=${l.baseline} />
        <small> · ${age(l.written)}</small><p>${l.why || l.goal}</p></li>`)}</ol></section>`}</div>
    <footer><small>${data.store} · Tunewright ${data.version}</small></footer>`;
}

/** Changes with the state of a round, so that its best is asked for anew. @param {any} round */
const key = (round) => `${round.name} ${JSON.stringify(round.counts)}`;

/** A trial that a decision is about. @param {{of: any}} props */
function Place({ of }) {
  if (!of) return "–";
  const trial = of.trial ?? of.number;
  if (!of.round || typeof trial !== "number") return `${of.round || ""} ${trial ?? ""}`;
  return html`<a href=${toTrial(of.round, trial)}>${says.trialOf(of.round, trial)}</a>`;
}

const VERDICTS = /** @type {const} */ (["warn", "note", "ok"]);

/** How many findings of each verdict, where that is known. @param {{counts: Record<string, number> | null | undefined}} props */
const Chips = ({ counts }) => counts
  ? html`<span class="chips">${VERDICTS.filter((v) => counts[v]).map((v) => html`<${Chip} verdict=${v}>${counts[v]}<span class="hidden"> ${word(v)}</span><//>`)}</span>` : null;

/** Round files of the project that may be started from here. @param {{allowed: boolean}} props */
function Runs({ allowed }) {
  const runs = useLoaded(() => (allowed ? json("api/runs") : Promise.resolve(null)), [allowed]);
  const [said, setSaid] = useState("");
  useRepeatedly(runs.again, AGAIN_MS, allowed);
  const data = /** @type {any} */ (runs.data);
  if (!data?.files.length) return null;
  const start = (/** @type {string} */ round) => post("api/run", { round }).then(
    () => { setSaid(""); runs.again(); }, (/** @type {Error} */ error) => setSaid(error.message));
  return html`<section><h2>${word("roundFiles")}</h2><ul class="plain">${data.files.map((/** @type {string} */ name) => html`<li>${name} <button onClick=${() => start(name)}>${word("run")}</button></li>`)}</ul>
    ${said && html`<p class="state failed" role="alert">${said}</p>`}
    ${data.started.map((/** @type {any} */ one) => html`<details><summary>${one.round} <small>${one.code === null ? word("running") : `${word("exitCode")} ${one.code}`} · ${age(one.began)}</small></summary>
      <pre tabindex="0">${one.output}</pre></details>`)}</section>`;
}

/** @param {{round: any, best: any}} props */
function Line({ round, best }) {
  const running = isRunning(round);
  return html`<tr class=${running ? "live" : ""}>
    <th scope="row" class="round"><a href=${toRound(round.name)}>${round.name}</a>
      ${running && html`<em class="tag">${word("running")}</em>`}
      <${Chips} counts=${round.chips} /></th>
    <td class="goal"><span class="clamp" title=${round.goal}>${round.goal || round.asks}</span></td>
    <td class="trials"><${Progress} counts=${round.counts} /> ${round.trials}</td>
    <td class="best" title=${best?.value ?? ""}><b>${best ? number(best.value) : "…"}</b> <small>${round.metric}</small></td>
    <td class="searchKind">${round.search}</td><td class="note"><span class="clamp" title=${best?.note}>${best?.note}</span></td>
    <td class="begun"><small title=${round.created}>${age(round.created)}</small></td></tr>`;
}

/** Arrow keys move between the links of a table. @param {KeyboardEvent} event */
export function arrows(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !(event.currentTarget instanceof HTMLElement)) return;
  const links = [...event.currentTarget.querySelectorAll("tbody a")];
  const next = links[links.indexOf(/** @type {Element} */ (document.activeElement)) + step];
  if (next instanceof HTMLElement) {
    event.preventDefault();
    next.focus();
  }
}
