// Arrays of the page: see packing.py.
"use strict";
const Reader = {
  async open(text) {
    const data = JSON.parse(text);
    const squeezed = Uint8Array.from(atob(data.arrays), (c) => c.charCodeAt(0));
    const stream = new Blob([squeezed]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    delete data.arrays;
    return Reader.fill(data, buffer);
  },

  /** The same structure with arrays in place of references. */
  fill(thing, buffer) {
    if (Array.isArray(thing)) return thing.map((x) => Reader.fill(x, buffer));
    if (thing === null || typeof thing !== "object") return thing;
    if (typeof thing.kind === "string" && "at" in thing) return Reader.array(thing, buffer);
    return Object.fromEntries(Object.entries(thing).map(([k, v]) => [k, Reader.fill(v, buffer)]));
  },

  array(ref, buffer) {
    if (ref.kind === "numbers") return new Float32Array(buffer, ref.at, ref.n);
    if (ref.kind === "short") return new Uint16Array(buffer, ref.at, ref.n);
    if (ref.kind === "wide") return new Uint32Array(buffer, ref.at, ref.n);
    const width = ref.low.length, count = ref.n * width;
    const bytes = new Uint8Array(buffer, ref.at, 2 * count), out = new Float32Array(count);
    for (let k = 0; k < width; k++) {
      let value = 0;
      for (let i = 0; i < ref.n; i++) {
        const j = k * ref.n + i;
        value = (value + bytes[j] + 256 * bytes[count + j]) & 65535;
        out[i * width + k] = ref.low[k] + ref.step[k] * value;
      }
    }
    return out;
  },
};
