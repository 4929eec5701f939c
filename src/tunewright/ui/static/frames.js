// Binary answers: a head and arrays in one buffer.

const TYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
};

/**
 * The arrays of a buffer by name, and its head: uint32 length, JSON, arrays at multiples of 8.
 * @param {ArrayBuffer} buffer
 * @returns {{head: any, arrays: Record<string, any>}}
 */
export function unframed(buffer) {
  const size = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
  /** @type {Record<string, any>} */
  const arrays = {};
  for (const [name, own] of Object.entries(head.arrays)) {
    const length = own.shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    arrays[name] = new TYPES[/** @type {keyof typeof TYPES} */ (own.type)](buffer, 4 + size + own.at, length);
  }
  return { head, arrays };
}

/** The same, from the text of an event. @param {string} text in base64 */
export const unframedText = (text) => unframed(Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer);
