// The frame around the pages: which page the address names, keys that work everywhere, help.

import { html, render, useEffect, useState } from "./vendor/htm-preact.js";
import { parsed } from "./address.js";
import { Campaign, Probes } from "./campaign.js";
import { Compare } from "./compare.js";
import { Diagnose } from "./diagnose.js";
import { Home } from "./home.js";
import { Round } from "./round.js";
import { Trial } from "./trial.js";
import { word, wordOr } from "./words.js";

const PAGES = { home: Home, round: Round, trial: Trial, compare: Compare, campaign: Campaign, probes: Probes, diagnose: Diagnose };

function App() {
  const [place, setPlace] = useState(parsed(location.hash));
  const [help, setHelp] = useState(false);
  useEffect(() => {
    const moved = () => {
      setPlace(parsed(location.hash));
      window.scrollTo(0, 0);
      document.getElementById("main")?.focus({ preventScroll: true });
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
  useEffect(() => {
    document.title = [...place.parts, place.page === "home" ? "" : wordOr(place.page), "Tunewright"].filter(Boolean).join(" · ");
  }, [place]);
  const Page = PAGES[/** @type {keyof typeof PAGES} */ (place.page)] || Missing;
  /** @param {Event} event */
  const skip = (event) => {
    event.preventDefault();
    document.getElementById("main")?.focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${skip}>${word("skip")}</a>
    <header class="top">
      <a class="brand" href="#/">Tunewright</a>
      <nav aria-label=${word("pages")}>
        <a href="#/" aria-current=${place.page === "home" ? "page" : null}>${word("rounds")}</a>
        <a href="#/probes" aria-current=${place.page === "probes" ? "page" : null}>${word("probes")}</a>
      </nav>
      <button class="quiet" onClick=${() => setHelp(!help)} aria-expanded=${help} aria-label=${word("helpTitle")}>?</button>
    </header>
    ${help && html`<p class="help" role="note">${word("help")}</p>`}
    <main id="main" tabindex="-1">
      <${Page} key=${place.hash} parts=${place.parts} query=${place.query} />
    </main>`;
}

/** An address that names no page. */
const Missing = () => html`<p class="state empty">${word("notFound")} <a href="#/">${word("rounds")}</a></p>`;

const root = document.getElementById("app");
if (root) render(html`<${App} />`, root);
