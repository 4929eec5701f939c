// The address after #: which page it names, and the settings that it carries.

/**
 * The page and its settings, out of the part of the address after #.
 * @param {string} hash
 */
export function parsed(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split("?");
  const parts = path.split("/").filter(Boolean).map(decoded);
  return { hash, page: parts[0] || "home", parts: parts.slice(1), query: new URLSearchParams(query) };
}

/** A part of an address; one with a broken escape is taken as it is. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Put settings into the address without a new entry of the history. @param {URLSearchParams} query */
export function keepInAddress(query) {
  const path = location.hash.split("?")[0] || "#/";
  const text = query.toString();
  history.replaceState(null, "", text ? `${path}?${text}` : path);
}

/** Trial numbers as text: 1-5,9. @param {Iterable<number>} numbers */
export function asRanges(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const found = [];
  for (let i = 0; i < sorted.length; ) {
    let j = i;
    while (j + 1 < sorted.length && sorted[j + 1] === sorted[j] + 1) j++;
    found.push(j > i ? `${sorted[i]}-${sorted[j]}` : String(sorted[i]));
    i = j + 1;
  }
  return found.join(",");
}

/** The numbers of such a text; what is not one is left out. @param {string} text */
export function fromRanges(text) {
  /** @type {Set<number>} */
  const found = new Set();
  for (const part of text.split(",")) {
    const known = /^(\d{1,9})(?:-(\d{1,9}))?$/.exec(part);
    if (!known) continue;
    const last = Math.min(Number(known[2] ?? known[1]), Number(known[1]) + 100000);
    for (let n = Number(known[1]); n <= last; n++) found.add(n);
  }
  return found;
}
