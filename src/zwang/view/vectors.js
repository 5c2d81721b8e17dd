// Vectors, quaternions and matrices, the little that a scene needs.
"use strict";
const V = {
  dot: (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2],
  cross: (a, b) => [
    a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
  scaled: (a, k) => [a[0] * k, a[1] * k, a[2] * k],
  sum: (...v) => v.reduce((a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]),
  less: (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
  length: (a) => Math.hypot(a[0], a[1], a[2]),
  unit(a) { return V.scaled(a, 1 / (V.length(a) || 1)); },

  /** v rotated about the unit vector n. */
  about(v, n, angle) {
    const c = Math.cos(angle), s = Math.sin(angle);
    return V.sum(V.scaled(v, c), V.scaled(V.cross(n, v), s), V.scaled(n, V.dot(n, v) * (1 - c)));
  },

  /** Pose (x, y, z, w, i, j, k) → matrix of WebGL, column by column. */
  matrix(pose) {
    const [x, y, z, a, b, c, d] = pose;
    return [
      1 - 2 * (c * c + d * d), 2 * (b * c + a * d), 2 * (b * d - a * c), 0,
      2 * (b * c - a * d), 1 - 2 * (b * b + d * d), 2 * (c * d + a * b), 0,
      2 * (b * d + a * c), 2 * (c * d - a * b), 1 - 2 * (b * b + c * c), 0,
      x, y, z, 1];
  },

  /** World position of a point of a moving frame. */
  placed(m, p) {
    return [0, 1, 2].map((k) => m[k] * p[0] + m[4 + k] * p[1] + m[8 + k] * p[2] + m[12 + k]);
  },

  /** A world position in the axes of a moving frame, and a direction. */
  local(m, p) { return V.turnedBack(m, V.less(p, [m[12], m[13], m[14]])); },
  turnedBack(m, d) {
    return [0, 4, 8].map((k) => m[k] * d[0] + m[k + 1] * d[1] + m[k + 2] * d[2]);
  },

  product(a, b) {
    const out = new Array(16);
    for (let i = 0; i < 4; i++) {
      for (let j = 0; j < 4; j++) {
        out[4 * j + i] = 0;
        for (let k = 0; k < 4; k++) out[4 * j + i] += a[4 * k + i] * b[4 * j + k];
      }
    }
    return out;
  },

  /** A colour, as #rrggbb, with a share of white. */
  lighter(color, share) {
    const parts = [1, 3, 5].map((k) => parseInt(color.slice(k, k + 2), 16));
    return `rgb(${parts.map((x) => Math.round(x + share * (255 - x))).join()})`;
  },
};
