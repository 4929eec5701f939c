// Requests to the server: JSON, binary columns, and events that survive a lost connection.

import { answer, curves, manifest } from "./exported.js";
import { unframed } from "./frames.js";

/**
 * An answer that is not what was asked for: the server's own code and message.
 */
export class Refused extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The address of something about a round. @param {string} name @param {string} [rest] */
export const ofRound = (name, rest = "") => `api/round/${encodeURIComponent(reachable(name))}${rest}`;

/** Addresses cannot hold the names . and ..; the server reads ~. and ~.. @param {string} name */
const reachable = (name) => (name === "." || name === ".." ? `~${name}` : name);

/** @param {string} path @param {RequestInit} [options] */
async function answered(path, options) {
  const site = await manifest();
  const response = site ? await answer(site, path) : await fetch(path, options);
  if (response.ok) return response;
  const error = (await response.json().catch(() => ({}))).error || {};
  throw new Refused(response.status, error.code || "http", error.message || response.statusText);
}

/** @param {string} path @returns {Promise<any>} */
export const json = async (path) => (await answered(path)).json();

/** @param {string} path @param {object} body @returns {Promise<any>} */
export async function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  return (await answered(path, { method: "POST", headers, body: JSON.stringify(body) })).json();
}

/**
 * Arrays of a binary answer by name, and its head.
 * @param {string} path
 * @returns {Promise<{head: any, arrays: Record<string, any>}>}
 */
export async function columns(path) {
  const site = await manifest();
  const lines = site && (await curves(site, path, unframed));
  if (lines) return lines;
  const buffer = await (await answered(path)).arrayBuffer();
  return unframed(buffer);
}

const RETRY_MS = 3000; // after an answer that is not a stream; a lost connection the browser retries

/**
 * Follow the events of a round; `heard` gets each event, `state` "live" or "stale".
 * The browser reconnects by itself with the number of the last event it saw. A page that nobody
 * sees follows nothing, and catches up when it is shown.
 * @param {string} name
 * @param {string} cursor
 * @param {(event: any) => void} heard
 * @param {(state: "live" | "stale") => void} state
 * @returns {() => void} stops following
 */
export function follow(name, cursor, heard, state) {
  if (!cursor) return () => {}; // an exported site, in which nothing happens
  let last = cursor;
  let timer = 0;
  /** @type {EventSource | undefined} */
  let source;
  const open = () => {
    if (document.hidden) return;
    source = new EventSource(ofRound(name, `/events?cursor=${encodeURIComponent(last)}`));
    source.onopen = () => state("live");
    source.onerror = () => {
      state("stale");
      if (source?.readyState === EventSource.CLOSED) timer = setTimeout(open, RETRY_MS);
    };
    source.onmessage = (message) => {
      last = message.lastEventId || last;
      const event = JSON.parse(message.data);
      state(event.kind === "stale" ? "stale" : "live");
      if (event.kind !== "stale" && event.kind !== "live") heard(event);
    };
  };
  const turned = () => {
    clearTimeout(timer);
    source?.close();
    open();
  };
  document.addEventListener("visibilitychange", turned);
  open();
  return () => {
    document.removeEventListener("visibilitychange", turned);
    clearTimeout(timer);
    source?.close();
  };
}
