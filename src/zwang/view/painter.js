// Paints a scene with WebGL 2: floor, shadows, solids and lines, without any library.
"use strict";
const SOLID = [`#version 300 es
in vec3 place; in vec3 normal; in vec3 color;
uniform mat4 model, view;
out vec3 n, c;
void main() {
  gl_Position = view * (model * vec4(place, 1.0));
  n = mat3(model) * normal; c = color;
}`, `#version 300 es
precision highp float;
in vec3 n, c;
uniform vec3 light, eye; uniform float alpha, glow, lift;
out vec4 pixel;
void main() {
  vec3 u = normalize(n);
  if (dot(u, eye) < 0.0) u = -u;
  float lit = 0.52 + 0.36 * max(dot(u, light), 0.0) + 0.16 * max(dot(u, eye), 0.0);
  // On dark paper dark paint gets lighter.
  vec3 paint = c + lift * (1.0 - smoothstep(0.3, 0.45, max(c.r, max(c.g, c.b))));
  vec3 shown = mix(paint * lit, vec3(1.0, 0.85, 0.3), glow);
  pixel = vec4(shown * alpha, alpha);
}`];
const SHADOW = [SOLID[0], `#version 300 es
precision highp float;
in vec3 n, c;
uniform float alpha;
out vec4 pixel;
void main() { pixel = vec4(0.0, 0.0, 0.0, alpha); }`];
const FLOOR = [`#version 300 es
in vec3 place; in vec2 grid;
uniform mat4 view;
out vec2 g;
void main() { gl_Position = view * vec4(place, 1.0); g = grid; }`, `#version 300 es
precision highp float;
in vec2 g;
uniform vec3 ink; uniform float cell, reach, strength;
out vec4 pixel;
float lines(vec2 at) {
  vec2 wide = fwidth(at), gap = abs(fract(at - 0.5) - 0.5) / max(wide, vec2(1e-6));
  float fine = clamp(1.2 - max(wide.x, wide.y) * 2.0, 0.0, 1.0);
  return fine * (1.0 - min(min(gap.x, gap.y), 1.0));
}
void main() {
  float far = 1.0 - smoothstep(0.35, 1.0, length(g) / reach);
  float a = far * (0.07 + 0.55 * lines(g / cell) + 0.4 * lines(g / (5.0 * cell))) * strength;
  pixel = vec4(ink * a, a);
}`];
const LINE = [`#version 300 es
in vec3 from; in vec3 to; in vec2 corner; in vec4 paint;
uniform mat4 view; uniform vec2 size;
out vec3 c;
void main() {
  vec4 a = view * vec4(from, 1.0), b = view * vec4(to, 1.0);
  vec2 d = (b.xy / b.w - a.xy / a.w) * size;
  float len = length(d);
  d = len > 0.0 ? d / len : vec2(1.0, 0.0);
  vec4 p = corner.x < 0.5 ? a : b;
  vec2 off = (vec2(-d.y, d.x) * corner.y + d * (2.0 * corner.x - 1.0) * 0.5) * paint.w / size;
  gl_Position = p + vec4(off * p.w, -2e-5 * p.w, 0.0);
  c = paint.rgb;
}`, `#version 300 es
precision highp float;
in vec3 c;
out vec4 pixel;
void main() { pixel = vec4(c, 1.0); }`];

class Painter {
  /** Makes buffers of all solids; throws where there is no WebGL 2. */
  constructor(solids) {
    this.canvas = document.createElement("canvas");
    const gl = this.canvas.getContext("webgl2", { antialias: true, alpha: true, stencil: true });
    if (!gl) throw new Error("no WebGL 2");
    this.gl = gl;
    this.programs = { solid: SOLID, shadow: SHADOW, floor: FLOOR, line: LINE };
    for (const [name, source] of Object.entries(this.programs)) {
      this.programs[name] = this.program(...source);
    }
    const parts = solids.map((s) => Painter.corners(s));
    const data = new Float32Array(parts.reduce((n, p) => n + p.length, 0));
    let at = 0;
    this.ranges = parts.map((p) => {
      data.set(p, at);
      const range = [at / 9, p.length / 9];
      at += p.length;
      return range;
    });
    this.solids = this.vertices({ place: 3, normal: 3, color: 3 }, data, this.programs.solid);
    this.shadows = this.vertices({ place: 3, normal: 3, color: 3 }, data, this.programs.shadow);
    this.lines = this.vertices({ from: 3, to: 3, corner: 2, paint: 4 }, null, this.programs.line);
    this.floor = this.vertices({ place: 3, grid: 2 }, null, this.programs.floor);
  }

  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source); gl.compileShader(shader); gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(gl.getProgramInfoLog(program));
    }
    const uniforms = {};
    for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
      const { name } = gl.getActiveUniform(program, i);
      uniforms[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniforms };
  }

  /** A buffer with its layout: name of an attribute → how many numbers. */
  vertices(layout, data, { program }) {
    const gl = this.gl, array = gl.createVertexArray(), buffer = gl.createBuffer();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    if (data) gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    const stride = Object.values(layout).reduce((a, b) => a + b) * 4;
    let at = 0;
    for (const [name, width] of Object.entries(layout)) {
      const place = gl.getAttribLocation(program, name);
      if (place >= 0) {
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, width, gl.FLOAT, false, stride, at);
      }
      at += width * 4;
    }
    return { array, buffer };
  }

  /** Triangles of a solid with normals, smooth where faces that share a corner nearly agree. */
  static corners(solid) {
    const v = solid.vertices, f = solid.triangles, count = f.length / 3;
    const point = (i) => [v[3 * i], v[3 * i + 1], v[3 * i + 2]];
    // Corners at the same place are one, so that a seam is not seen.
    const places = new Map(), same = new Uint32Array(v.length / 3);
    for (let i = 0; i < same.length; i++) {
      const key = point(i).join();
      if (!places.has(key)) places.set(key, i);
      same[i] = places.get(key);
    }
    const normals = [], around = new Map();
    for (let k = 0; k < count; k++) {
      const [a, b, c] = [0, 1, 2].map((j) => point(f[3 * k + j]));
      normals.push(V.cross(V.less(b, a), V.less(c, a)));
      for (let j = 0; j < 3; j++) {
        const i = same[f[3 * k + j]];
        if (!around.has(i)) around.set(i, []);
        around.get(i).push(k);
      }
    }
    const units = normals.map(V.unit), out = new Float32Array(27 * count);
    const hex = (text) => [1, 3, 5].map((k) => parseInt(text.slice(k, k + 2), 16) / 255);
    const plain = hex(solid.color), paints = (solid.palette || []).map(hex);
    for (let k = 0; k < count; k++) {
      const color = paints.length ? paints[solid.paint[k]] : plain;
      for (let j = 0; j < 3; j++) {
        const i = f[3 * k + j];
        let n = [0, 0, 0];
        for (const other of around.get(same[i])) {
          if (V.dot(units[other], units[k]) > 0.8) n = V.sum(n, normals[other]);
        }
        out.set([...point(i), ...V.unit(n), ...color], 27 * k + 9 * j);
      }
    }
    return out;
  }

  /** Paints one picture of `size` pixels; returns the canvas it is on. */
  paint(size, what) {
    const gl = this.gl;
    if (gl.isContextLost()) return null;
    if (this.canvas.width !== size[0] || this.canvas.height !== size[1]) {
      [this.canvas.width, this.canvas.height] = size;
    }
    gl.viewport(0, 0, ...size);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (what.floor) {
      gl.depthMask(false);
      this.paintFloor(what);
      this.paintShadows(what);
      gl.depthMask(true);
    }
    this.paintSolids(what, (s) => s.role !== "surface", 1);
    this.paintLines(size, what);
    gl.depthMask(false);
    this.paintSolids(what, (s) => s.role === "surface", 0.45);
    gl.depthMask(true);
    return this.canvas;
  }

  paintFloor({ view, floor, dark }) {
    const gl = this.gl, { program, uniforms } = this.programs.floor, reach = floor.reach;
    const at = (x, y) => [...V.sum(floor.center, V.scaled(floor.a, x), V.scaled(floor.b, y)), x, y];
    const data = [[-1, -1], [1, -1], [-1, 1], [1, 1]].flatMap(([x, y]) => at(x * reach, y * reach));
    gl.useProgram(program);
    gl.bindVertexArray(this.floor.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.floor.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.DYNAMIC_DRAW);
    gl.uniformMatrix4fv(uniforms.view, false, view);
    gl.uniform3fv(uniforms.ink, dark ? [0.62, 0.7, 0.78] : [0.42, 0.48, 0.54]);
    gl.uniform1f(uniforms.cell, floor.cell);
    gl.uniform1f(uniforms.reach, reach);
    gl.uniform1f(uniforms.strength, dark ? 0.5 : 0.6);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  paintShadows({ view, floor, solids, matrices, dark, light, hidden }) {
    // Every point along the light onto the floor; the stencil lets each pixel darken once.
    const gl = this.gl, { program, uniforms } = this.programs.shadow;
    const slope = V.dot(light, floor.up);
    if (slope < 0.15) return;
    const d = V.scaled(light, 1 / slope), u = floor.up, h = V.dot(floor.center, u);
    const flat = [];
    for (let j = 0; j < 3; j++) {
      for (let i = 0; i < 4; i++) flat.push(i < 3 ? (i === j ? 1 : 0) - d[i] * u[j] : 0);
    }
    flat.push(d[0] * h, d[1] * h, d[2] * h, 1);
    const onto = V.product(view, flat);
    gl.useProgram(program);
    gl.bindVertexArray(this.shadows.array);
    gl.enable(gl.STENCIL_TEST);
    gl.stencilFunc(gl.EQUAL, 0, 255);
    gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
    gl.disable(gl.DEPTH_TEST);
    gl.uniformMatrix4fv(uniforms.view, false, onto);
    gl.uniform1f(uniforms.alpha, dark ? 0.4 : 0.16);
    solids.forEach((solid, k) => {
      if (solid.role === "surface" || hidden(solid)) return;
      gl.uniformMatrix4fv(uniforms.model, false, matrices[solid.track]);
      gl.drawArrays(gl.TRIANGLES, ...this.ranges[k]);
    });
    gl.disable(gl.STENCIL_TEST);
    gl.enable(gl.DEPTH_TEST);
  }

  paintSolids({ view, solids, matrices, light, eye, dark, selected, hidden }, chosen, alpha) {
    const gl = this.gl, { program, uniforms } = this.programs.solid;
    gl.useProgram(program);
    gl.bindVertexArray(this.solids.array);
    gl.uniformMatrix4fv(uniforms.view, false, view);
    gl.uniform3fv(uniforms.light, light);
    gl.uniform3fv(uniforms.eye, eye);
    gl.uniform1f(uniforms.alpha, alpha);
    gl.uniform1f(uniforms.lift, dark ? 0.25 : 0);
    solids.forEach((solid, k) => {
      if (!chosen(solid) || hidden(solid)) return;
      const name = selected && selected.name === solid.name && selected.role === solid.role;
      gl.uniform1f(uniforms.glow, name ? 0.45 : 0);
      gl.uniformMatrix4fv(uniforms.model, false, matrices[solid.track]);
      gl.drawArrays(gl.TRIANGLES, ...this.ranges[k]);
    });
  }

  paintLines(size, { view, strokes }) {
    const gl = this.gl, { program, uniforms } = this.programs.line, data = [];
    for (const { points, color, width } of strokes) {
      for (let k = 1; k < points.length; k++) {
        for (const [end, side] of [[0, 1], [0, -1], [1, 1], [1, 1], [0, -1], [1, -1]]) {
          data.push(...points[k - 1], ...points[k], end, side, ...color, width);
        }
      }
    }
    if (!data.length) return;
    gl.useProgram(program);
    gl.bindVertexArray(this.lines.array);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lines.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(data), gl.DYNAMIC_DRAW);
    gl.uniformMatrix4fv(uniforms.view, false, view);
    gl.uniform2fv(uniforms.size, size);
    gl.drawArrays(gl.TRIANGLES, 0, data.length / 12);
  }
}
