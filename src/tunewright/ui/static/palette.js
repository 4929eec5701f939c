// Colours of settings and lines that colour-blind readers tell apart, for light and dark pages.

const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#B0508A", "#A87400", "#2F8FC4", "#5F5F5F", "#8B3A00"];
const DARK = ["#56B4E9", "#FF9A4D", "#2FC79A", "#E79BC4", "#F0C94A", "#8AA4FF", "#B5B5B5", "#D7A07A"];

let chosen = { light: LIGHT, dark: DARK };

/** Use the colours of a report, whose pictures have them too. @param {{light: string[], dark: string[]}} colours */
export function paintWith(colours) {
  chosen = colours;
}

/** The colour at a place; they return after the last. @param {boolean} dark @param {number} at */
export function colour(dark, at) {
  const all = dark ? chosen.dark : chosen.light;
  return all[at % all.length];
}
