// What components share that is not markup: loading, repeating, the width of a place, light or dark.

import { useEffect, useRef, useState } from "./vendor/htm-preact.js";

/**
 * Load something; the page shows one of loading, failed, or what came.
 * A later failure keeps what came before and is reported beside it.
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
      (error) => current && setKnown((/** @type {any} */ before) => ({ state: "failed", data: before.data, error })),
    );
    return () => {
      current = false;
    };
  }, [...about, turn]);
  return { ...known, again: () => setTurn((n) => n + 1) };
}

/** Call again every so often while it is wanted. @param {() => void} call @param {number} every @param {boolean} wanted */
export function useRepeatedly(call, every, wanted) {
  const newest = useRef(call);
  newest.current = call;
  useEffect(() => {
    if (!wanted) return undefined;
    const timer = setInterval(() => newest.current(), every);
    return () => clearInterval(timer);
  }, [every, wanted]);
}

/** The width that an element has. @returns {[{current: any}, number]} */
export function useWidth() {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const seen = new ResizeObserver((entries) => setWidth(Math.floor(entries[0].contentRect.width)));
    if (place.current) seen.observe(place.current);
    return () => seen.disconnect();
  }, []);
  return [place, width];
}

/** Whether dark colours are wanted; changes with the system. */
export function useDark() {
  const asked = matchMedia("(prefers-color-scheme: dark)");
  const [dark, setDark] = useState(asked.matches);
  useEffect(() => {
    const changed = () => setDark(asked.matches);
    asked.addEventListener("change", changed);
    return () => asked.removeEventListener("change", changed);
  }, []);
  return dark;
}
