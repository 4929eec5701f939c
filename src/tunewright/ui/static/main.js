// The frame around the pages: which page the address names, keys that work everywhere, help.

import { html, render, useEffect, useState } from "./vendor/htm-preact.js";
import { Campaign, Probes } from "./campaign.js";
import { Compare } from "./compare.js";
import { Home } from "./home.js";
import { Round } from "./round.js";
import { Trial } from "./trial.js";
import { word } from "./words.js";

/**
 * The page and its settings, out of the part of the address after #.
 * @param {string} hash
 */
export function parsed(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  return { page: parts[0] || "home", parts: parts.slice(1), query: new URLSearchParams(query) };
}

/** Put settings into the address without a new entry of the history. @param {URLSearchParams} query */
export function keepInAddress(query) {
  const path = location.hash.split("?")[0] || "#/";
  const text = query.toString();
  history.replaceState(null, "", text ? `${path}?${text}` : path);
}

const PAGES = { home: Home, round: Round, trial: Trial, compare: Compare, campaign: Campaign, probes: Probes };

function App() {
  const [place, setPlace] = useState(parsed(location.hash));
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const moved = () => {
      setPlace(parsed(location.hash));
      window.scrollTo(0, 0);
    };
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
      const typing = event.target instanceof HTMLElement && event.target.closest("input, textarea, select");
      if (event.key === "Escape") setHelp(false);
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "?") setHelp((shown) => !shown);
      if (event.key === "/") {
        const field = document.querySelector("input[type=search]");
        if (field instanceof HTMLElement) {
          event.preventDefault();
          field.focus();
        }
      }
    };
    addEventListener("hashchange", moved);
    addEventListener("keydown", pressed);
    return () => {
      removeEventListener("hashchange", moved);
      removeEventListener("keydown", pressed);
    };
  }, []);
  const Page = PAGES[/** @type {keyof typeof PAGES} */ (place.page)] || Home;
  return html`
    <header class="top">
      <a class="brand" href="#/">Tunewright</a>
      <nav aria-label="Pages">
        <a href="#/" aria-current=${place.page === "home" ? "page" : null}>${word("rounds")}</a>
        <a href="#/probes" aria-current=${place.page === "probes" ? "page" : null}>${word("probes")}</a>
      </nav>
      <button class="quiet" onClick=${() => setHelp(!help)} aria-expanded=${help}>?</button>
    </header>
    ${help && html`<p class="help" role="note">${word("help")}</p>`}
    <main id="main" tabindex="-1">
      <${Page} key=${place.page + place.parts.join("/")} parts=${place.parts} query=${place.query} />
    </main>`;
}

const root = document.getElementById("app");
if (root) render(html`<${App} />`, root);
