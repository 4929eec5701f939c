// Answers of an exported dashboard: the same addresses as the server's, read from files.

/** @typedef {{static: boolean, rounds: Record<string, string>, campaigns: Record<string, string>, metrics: Record<string, string[]>, rows: number, lines: number}} Manifest */

/** @type {Promise<Manifest | null> | undefined} */
let asked;

/** What was exported; null on a server. @returns {Promise<Manifest | null>} */
export function manifest() {
  asked ??= fetch("static/export.json")
    .then((response) => (response.ok ? response.json() : null))
    .then((found) => (found && found.static ? found : null))
    .catch(() => null);
  return asked;
}

/** @param {any} data */
const asAnswer = (data) => new Response(JSON.stringify(data), { status: 200 });
const missing = () =>
  new Response(JSON.stringify({ error: { code: "exported.missing", message: "Not part of the exported site." } }), {
    status: 404,
  });

/** Parts of a path and its query. @param {string} path */
function split(path) {
  const [place, query = ""] = path.split("?");
  const parts = place.split("/").map(decodeURIComponent).map((part) => (/^~\.\.?$/.test(part) ? part.slice(1) : part));
  return { parts, query: new URLSearchParams(query) };
}

/** The numbers that a query asks for, by file. @param {URLSearchParams} query @param {number} each */
function byFile(query, each) {
  /** @type {Map<number, number[]>} */
  const found = new Map();
  for (const number of query.getAll("trial").map(Number)) {
    const file = Math.floor(number / each);
    found.set(file, [...(found.get(file) || []), number]);
  }
  return found;
}

/**
 * The answer to an address of the server.
 * @param {Manifest} site
 * @param {string} path
 * @returns {Promise<Response>}
 */
export async function answer(site, path) {
  const { parts, query } = split(path);
  const [, kind, name, what, number, rest] = parts;
  if (kind === "campaign") return Object.hasOwn(site.campaigns, name) ? fetch(`data/${site.campaigns[name]}.json`) : missing();
  if (kind !== "round") return fetch(`data/${kind}.json`);
  if (!Object.hasOwn(site.rounds, name)) return missing();
  const own = site.rounds[name];
  const at = `data/${own}`;
  if (!what) return fetch(`${at}/round.json`);
  if (what === "table") return fetch(`${at}/table.bin`);
  if (what === "verdict") return fetch(`${at}/verdict.json`);
  if (what === "density") return fetch(`${at}/density/${metricOf(site, name, query)}.bin`);
  if (what === "rows") return asAnswer(await rows(site, at, query));
  if (what === "trial") {
    if (rest === "log") return asAnswer({ text: "", file: "" });
    const response = await fetch(`${at}/trials/${number}.json`);
    if (!response.ok) return missing();
    const found = await response.json();
    return asAnswer(rest === "curves" ? found.curves : found.trial);
  }
  return missing();
}

/** @param {Manifest} site @param {string} name @param {URLSearchParams} query */
const metricOf = (site, name, query) => site.metrics[name].indexOf(query.get("metric") || "");

/** @param {Manifest} site @param {string} at @param {URLSearchParams} query */
async function rows(site, at, query) {
  const found = [];
  for (const [file, numbers] of byFile(query, site.rows)) {
    const response = await fetch(`${at}/rows/${file}.json`);
    const all = response.ok ? await response.json() : [];
    found.push(...all.filter((/** @type {any} */ row) => numbers.includes(row.number)));
  }
  return found;
}

/**
 * Curves of chosen trials, as `columns` answers them; null for any other address.
 * @param {Manifest} site
 * @param {string} path
 * @param {(buffer: ArrayBuffer) => {head: any, arrays: Record<string, any>}} unframed
 */
export async function curves(site, path, unframed) {
  const { parts, query } = split(path);
  const [, kind, name, what] = parts;
  if (kind !== "round" || what !== "curves" || !Object.hasOwn(site.rounds, name)) return null;
  const at = `data/${site.rounds[name]}/curves/${metricOf(site, name, query)}`;
  /** @type {number[]} */
  const trials = [];
  /** @type {number[]} */
  const last = [];
  /** @type {number[]} */
  const low = [];
  /** @type {number[]} */
  const high = [];
  let buckets = 250;
  for (const [file, numbers] of byFile(query, site.lines)) {
    const response = await fetch(`${at}/${file}.bin`);
    if (!response.ok) continue;
    const { head, arrays } = unframed(await response.arrayBuffer());
    buckets = head.buckets;
    head.trials.forEach((/** @type {number} */ trial, /** @type {number} */ row) => {
      if (!numbers.includes(trial)) return;
      trials.push(trial);
      last.push(head.last[row]);
      low.push(...arrays.low.subarray(row * buckets, (row + 1) * buckets));
      high.push(...arrays.high.subarray(row * buckets, (row + 1) * buckets));
    });
  }
  return { head: { trials, last, buckets }, arrays: { low: Float32Array.from(low), high: Float32Array.from(high) } };
}
