// Every fixed word of the pages, by key; Chinese is another module. The page's `lang` chooses.

import { CHINESE, CHINESE_SAYS } from "./words_zh.js";

/** Whether the page is in Chinese. */
const chinese = document.documentElement.lang.startsWith("zh");

export const WORDS = {
  pages: "Pages",
  warn: "warnings",
  ok: "fine",
  run: "Run",
  roundFiles: "Round files",
  exitCode: "exit code",
  files: "Files",
  exported: "Exported; not live",
  skip: "Skip to the content",
  rounds: "Rounds",
  round: "Round",
  goal: "Goal",
  searchKind: "Search",
  note: "Note",
  begun: "Begun",
  moreRounds: "More rounds",
  campaigns: "Campaigns",
  campaign: "Campaign",
  launches: "Launch decisions",
  over: "over",
  probes: "Probes",
  probe: "Probe",
  compare: "Compare",
  diagnose: "Diagnose",
  noneWarns: "No question draws a warning.",
  search: "Search rounds",
  running: "running",
  question: "Question",
  answer: "Answer",
  best: "Best",
  trials: "Trials",
  trial: "Trial",
  repeats: "Repeats",
  setting: "Setting",
  status: "Status",
  step: "Step",
  time: "Time",
  verdict: "What not to trust",
  waiting: "The verdict is not ready yet.",
  working: "Checking the round. The verdict appears here when it is ready.",
  failed: "The checklist could not be run. Run this command in a terminal to see why.",
  outdated: "Trials have ended since this verdict; a new one is being made.",
  fine: "What was checked and is fine",
  unknown: "What could not be judged",
  next: "Next",
  copy: "Copy",
  copied: "Copied",
  caveats: "Holds for",
  axis: "Objective by hyperparameter",
  comparisons: "What the trials show",
  isolation: "Isolation",
  best_step: "Best step",
  best_of_k: "Best of k trials",
  sensitivity: "Sensitivity",
  gradient_norm: "Gradient norm",
  figuresWait: "These figures need the verdict.",
  curves: "Training curves",
  noCurves: "No curves are recorded.",
  crowd: "all trials",
  validation: "solid: validation",
  training: "dashed: training",
  selected: "selected",
  select: "Select",
  selectedOnly: "Selected only",
  clear: "Clear selection",
  compareThem: "Compare",
  pickSome: "Select 2 to 8 trials to compare them.",
  nothing: "Nothing is recorded yet.",
  noMatch: "No round matches.",
  noTrials: "No trial has ended yet.",
  loading: "Loading",
  again: "Try again",
  stale: "Connection lost. Values may be out of date; reconnecting.",
  live: "Live",
  connecting: "Connecting",
  ended: "All trials have ended",
  notFound: "There is no such page.",
  helpTitle: "Keys",
  help: "/ search · arrows move in a table · Enter opens · x selects · ? help · Esc closes",
  notes: "Notes",
  noNotes: "No notes.",
  addNote: "Add a note",
  save: "Save",
  stop: "Stop",
  stopRound: "Stop the round",
  stopTrial: "Stop the trial",
  stopAsked: "Stop requested.",
  configuration: "Configuration",
  attempts: "Attempts",
  attempt: "Attempt",
  place: "Where",
  outcome: "Outcome",
  snapshots: "Snapshots",
  applied: "Values in use",
  noSnapshots: "No snapshots.",
  log: "Log",
  noLog: "No log is stored.",
  resources: "Resources",
  seconds: "Seconds",
  memory: "Peak memory",
  provenance: "Provenance",
  noProvenance: "Nothing is recorded about where this trial ran.",
  reproduce: "Reproduce",
  packages: "Packages",
  codeChange: "Uncommitted changes",
  differences: "Configuration differences",
  sameConfiguration: "The configurations are equal.",
  codeDifferences: "Code and provenance differences",
  sameCode: "Code and provenance are equal.",
  infeasible: "infeasible",
  others: "more with the same verdict",
  noSelection: "Drag in a panel or select rows to mark trials everywhere.",
  steps: "Steps",
  budget: "Budget",
  spent: "spent",
  left: "left",
  total: "total",
  settings: "Settings it suggests",
  measured: "Measured",
  evidence: "Evidence",
  noProbes: "No probe has been run.",
  rail: "✕ infeasible",
  ringed: "○ best five",
  edges: "dashed: edges of the range",
  beyond: "△ beyond the scale",
  noiseBars: "thick bar: the best of half as many trials (5 to 95 %); thin bar: seed-to-seed deviation",
  quartiles: "box: 25 to 75 %, line: median, whiskers: 5 to 95 %",
  interval: "bar: share; line: 90 % interval",
  topTrials: "best trials",
  allTrials: "all completed trials",
  value: "Value",
  tableHint: "arrows move, x selects, Enter opens",
  best_: "best",
  launch_launch: "launch",
  launch_keep: "keep",
  launch_undecided: "undecided",
  launch_first: "first baseline",
  verdict_ok: "ok",
  verdict_note: "note",
  verdict_warn: "warning",
  verdict_cannot_judge: "cannot judge",
  status_completed: "completed",
  status_infeasible: "infeasible",
  status_pruned: "pruned",
  status_failed: "failed",
  status_running: "running",
  status_pending: "pending",
  trialFolder: "trial folder",
  // steps of a campaign
  baseline: "baseline",
  explore: "explore",
  exploit: "exploit",
  repeat: "repeat",
  repair: "repair",
  widen: "widen",
  narrow: "narrow",
  regularise: "regularise",
  fix: "fix",
  extend: "extend",
  launch: "launch",
  test: "test",
};

/** Words around numbers and names. */
export const SAYS = {
  /** @param {string} round @param {number | string} trial */
  trialOf: (round, trial) => `${round} trial ${trial}`,
  /** @param {number | string} trial */
  trial: (trial) => `trial ${trial}`,
  /** @param {number | string} count */
  trials: (count) => `${count} trials`,
  /** @param {number} count @param {string} status */
  counted: (count, status) => `${count} ${status}`,
  /** @param {string} study @param {number} k @param {string} mean */
  bestOf: (study, k, mean) => `${study} best of ${k}: mean ${mean}`,
  /** @param {string} axis */
  objectiveBy: (axis) => `Objective by ${axis}; the table of trials has the values`,
  /** @param {string} names @param {string} trials */
  byStep: (names, trials) => `${names} by step, for trials ${trials}`,
  justNow: "just now",
  /** @param {number} count @param {string} unit */
  ago: (count, unit) => `${count} ${unit} ago`,
  units: { ms: "ms", s: "s", min: "min", h: "h", days: "days" },
};

const words = chinese ? CHINESE : WORDS;
export const says = chinese ? CHINESE_SAYS : SAYS;

/** @param {keyof typeof WORDS} key */
export const word = (key) => words[key];

/** A word for a key that may be unknown. @param {string} key */
export const wordOr = (key) => /** @type {Record<string, string>} */ (words)[key] || key.replaceAll("_", " ");

/** A word for a status that may be unknown. @param {string} status */
export const statusWord = (status) => /** @type {Record<string, string>} */ (words)[`status_${status}`] || status;

/** A number with four significant digits. @param {number | null | undefined} x */
export function number(x) {
  if (x === null || x === undefined || Number.isNaN(x)) return "–";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e-3 && size < 1e5) return String(Number(x.toPrecision(4)));
  return x.toExponential(3).replace(/\.?0+e/, "e").replace("e+", "e");
}

/** Any value of a configuration. @param {any} v */
export function shown(v) {
  if (typeof v === "number") return Number.isInteger(v) ? String(v) : number(v);
  if (v === null || v === undefined) return "–";
  return typeof v === "object" ? JSON.stringify(v) : String(v);
}

/** Seconds as a reader says them. @param {number} s */
export function duration(s) {
  const { ms, s: seconds, min, h, days } = says.units;
  if (!s) return "–";
  if (s < 1) return `${Number((1000 * s).toPrecision(2))} ${ms}`;
  if (s < 60) return `${Number(s.toPrecision(3))} ${seconds}`;
  if (s < 3600) return `${Math.floor(s / 60)} ${min} ${Math.floor(s % 60)} ${seconds}`;
  if (s < 172800) return `${Math.floor(s / 3600)} ${h} ${Math.floor((s % 3600) / 60)} ${min}`;
  return `${Math.round(s / 86400)} ${days}`;
}

/** How long ago. @param {string} iso */
export function age(iso) {
  const s = (Date.now() - Date.parse(iso)) / 1000;
  if (s < 60) return says.justNow;
  const { min, h, days } = says.units;
  if (s < 3600) return says.ago(Math.floor(s / 60), min);
  return s < 172800 ? says.ago(Math.floor(s / 3600), h) : says.ago(Math.floor(s / 86400), days);
}
