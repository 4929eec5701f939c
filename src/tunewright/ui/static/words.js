// Every fixed word of the pages, by key, so that another language is another module.

export const WORDS = {
  rounds: "Rounds",
  campaigns: "Campaigns",
  launches: "Launch decisions",
  probes: "Probes",
  compare: "Compare",
  search: "Search rounds",
  running: "running",
  question: "Question",
  best: "Best",
  trials: "Trials",
  hours: "Time",
  verdict: "What not to trust",
  working: "Checking the round. This page shows the verdict when it is ready.",
  failed: "The checklist could not be run. Run the command in a terminal to see why.",
  next: "Next",
  copy: "Copy",
  copied: "Copied",
  caveats: "Holds for",
  axis: "Objective by hyperparameter",
  curves: "Training curves",
  crowd: "all trials",
  selected: "Selected trials",
  clear: "Clear selection",
  nothing: "Nothing is recorded yet.",
  loading: "Loading",
  stale: "Connection lost. Values may be out of date; reconnecting.",
  live: "Live",
  notFound: "Not found",
  help: "Keyboard: / search, arrows move in a table, Enter opens, x selects, ? help, Esc closes",
  notes: "Notes",
  addNote: "Add a note",
  stop: "Stop",
  attempts: "Attempts",
  snapshots: "Snapshots",
  log: "Log",
  reproduce: "Reproduce",
  differences: "Differences",
  infeasible: "infeasible",
  others: "others with the same verdict",
  noSelection: "Click points or drag in a panel to select trials.",
};

/** @param {keyof typeof WORDS} key */
export const word = (key) => WORDS[key];

/** A number with four significant digits. @param {number | null | undefined} x */
export function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e5) return String(Number(x.toPrecision(4)));
  return x.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
}

/** Seconds as a reader says them. @param {number} s */
export function duration(s) {
  if (s < 60) return `${number(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  if (s < 172800) return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
  return `${number(s / 86400)} days`;
}

/** How long ago. @param {string} iso */
export function age(iso) {
  const s = (Date.now() - Date.parse(iso)) / 1000;
  return s < 60 ? "just now" : `${duration(s)} ago`;
}
