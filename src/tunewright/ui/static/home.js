// The first page: every round and campaign, running ones on top, and the decisions made.

import { json } from "./api.js";
import { html, useEffect, useState } from "./vendor/htm-preact.js";
import { Progress, useLoaded, Waiting } from "./parts.js";
import { age, number, word } from "./words.js";

const AT_ONCE = 20; // rounds whose best value is asked for in one request
const AGAIN_MS = 10000; // a list of rounds changes rarely; a round's own page is live

/** @param {any} round */
const isRunning = (round) => Boolean(round.counts.running);

/** Rounds that match what was typed, running ones first. @param {any[]} rounds @param {string} typed */
export function listed(rounds, typed) {
  const wanted = typed.trim().toLowerCase();
  const kept = rounds.filter((r) => !wanted || `${r.name} ${r.goal} ${r.campaign}`.toLowerCase().includes(wanted));
  return kept.sort((a, b) => Number(isRunning(b)) - Number(isRunning(a)));
}

/** @param {{query: URLSearchParams}} props */
export function Home({ query }) {
  const [typed, setTyped] = useState(query.get("q") || "");
  const [bests, setBests] = useState(/** @type {Record<string, any>} */ ({}));
  const [shown, setShown] = useState(50);
  const home = useLoaded(() => json("api/home"), []);
  const data = /** @type {any} */ (home.data);
  useEffect(() => {
    const timer = setInterval(home.again, AGAIN_MS);
    return () => clearInterval(timer);
  });
  const rounds = data ? listed(data.rounds, typed).slice(0, shown) : [];
  const missing = rounds.filter((r) => !(key(r) in bests)).slice(0, AT_ONCE);
  useEffect(() => {
    if (!missing.length) return;
    const asked = missing.map((r) => `round=${encodeURIComponent(r.name)}`).join("&");
    json(`api/bests?${asked}`).then((found) => {
      const named = Object.fromEntries(missing.map((r) => [key(r), found[r.name]]));
      setBests((known) => ({ ...known, ...named }));
    }, () => {});
  }, [missing.map(key).join()]);
  if (!data) return html`<${Waiting} of=${home} />`;
  return html`
    <h1>${word("rounds")}</h1>
    <input type="search" placeholder=${word("search")} aria-label=${word("search")} value=${typed}
      onInput=${(/** @type {any} */ event) => setTyped(event.target.value)} />
    ${!data.rounds.length && html`<p class="state empty">${word("nothing")} <code>tunewright run ROUND</code></p>`}
    <div class="scroll"><table class="rounds" onKeyDown=${arrows}>
      <thead><tr><th>Round</th><th>Goal</th><th>${word("trials")}</th><th>${word("best")}</th><th>Search</th><th>Note</th><th>Begun</th></tr></thead>
      <tbody>${rounds.map((r) => html`<${Line} key=${r.name} round=${r} best=${bests[key(r)]} />`)}</tbody>
    </table></div>
    ${data.rounds.length > shown && html`<button onClick=${() => setShown(shown + 200)}>More rounds</button>`}
    ${data.campaigns.length > 0 && html`<h2>${word("campaigns")}</h2>
      <ul class="plain">${data.campaigns.map((/** @type {any} */ c) => html`<li><a href=${`#/campaign/${encodeURIComponent(c.name)}`}>${c.name}</a> <small>${age(c.created)}</small></li>`)}</ul>`}
    ${data.launches.length > 0 && html`<h2>${word("launches")}</h2><ol class="timeline">
      ${data.launches.map((/** @type {any} */ l) => html`<li class=${l.verdict}><b>${l.verdict}</b> ${place(l.candidate)} over ${place(l.baseline)}
        <small>${age(l.written)}</small><p>${l.why || l.goal}</p></li>`)}</ol>`}
    <footer><small>${data.store} · Tunewright ${data.version}</small></footer>`;
}

/** Changes with the state of a round, so that its best is asked for anew. @param {any} round */
const key = (round) => `${round.name} ${JSON.stringify(round.counts)}`;

/** @param {any} trial */
const place = (trial) => (trial ? `${trial.round} trial ${trial.trial ?? trial.number ?? ""}` : "nothing");

/** @param {{round: any, best: any}} props */
function Line({ round, best }) {
  const to = `#/round/${encodeURIComponent(round.name)}`;
  return html`<tr class=${isRunning(round) ? "live" : ""}>
    <th scope="row"><a href=${to}>${round.name}</a>${isRunning(round) && html` <em>${word("running")}</em>`}</th>
    <td>${round.goal}</td>
    <td><${Progress} counts=${round.counts} trials=${round.trials} /> ${round.trials}</td>
    <td class="number" title=${best?.value ?? ""}>${best ? number(best.value) : "…"}<small> ${round.metric}</small></td>
    <td>${round.search}</td><td>${best?.note}</td><td><small>${age(round.created)}</small></td></tr>`;
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
