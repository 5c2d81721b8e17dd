// A scene to look at: time, camera, names, arrows. The solids are painted by painter.js.
"use strict";
class ScenePlayer {
  /** Reads the scene that a figure holds, and shows it there. */
  static async open(root) {
    const data = await Reader.open(root.querySelector("script[type='application/json']").textContent);
    return new ScenePlayer(root, data);
  }

  constructor(root, data) {
    this.root = root; this.data = data;
    this.canvas = root.querySelector("canvas");
    this.state = { t: 0, playing: false, speed: 1, zoom: 1, force: 1, amplitude: 1, clip: 0 };
    if (data.amplitude) this.state.amplitude = data.amplitude.start;
    this.listeners = [];
    this.selected = null; this.follow = -1; this.offset = [0, 0, 0];
    this.reset();
    this.controls = new SceneControls(this);
    try {
      this.painter = new Painter(data.solids);
      this.painter.canvas.addEventListener("webglcontextlost", () => { this.painter = null; });
    } catch (error) {
      this.painter = null; this.failed = "This browser has no WebGL 2: solids are not drawn.";
    }
    this.choose(0);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  // --- time -----------------------------------------------------------------------------------
  get clip() { return this.data.clips[this.state.clip]; }
  get first() { return this.clip.first; }
  get last() { return this.clip.last; }

  choose(k) {
    this.state.clip = k;
    this.controls.describe(this.clip);
    this.seek(this.first);
  }

  seek(t, from = null) {
    this.state.t = Math.min(Math.max(t, this.first), this.last);
    this.controls.tell(this.state.t);
    if (this.selected) this.controls.announce(this.describe(this.selected));
    this.draw();
    this.listeners.forEach((f) => f !== from && f(this.state.t));
  }

  play(on = !this.state.playing) {
    const was = this.state.playing;
    this.state.playing = on && this.last > this.first;
    this.controls.playing(this.state.playing);
    if (this.state.playing && !was) {
      if (this.state.t >= this.last) this.seek(this.first);
      this.stamp = performance.now();
      requestAnimationFrame((now) => this.tick(now));
    }
  }

  tick(now) {
    if (!this.state.playing) return;
    const t = this.state.t + (now - this.stamp) / 1000 * this.state.speed * (this.clip.pace || 1);
    this.stamp = now;
    this.seek(t > this.last ? this.first : t);
    requestAnimationFrame((next) => this.tick(next));
  }

  /** Frame before a time, and how far on to the next. */
  at(t) {
    const { first, last, count } = this.clip;
    if (count < 2 || last <= first) return [0, 0];
    const place = Math.min(Math.max((t - first) / (last - first), 0), 1) * (count - 1);
    const i = Math.min(Math.floor(place), count - 2);
    return [i, place - i];
  }

  mixed(array, width, [i, w]) {
    const out = new Array(width), a = i * width, b = array.length > width ? a + width : a;
    for (let k = 0; k < width; k++) out[k] = (1 - w) * array[a + k] + w * array[b + k];
    return out;
  }

  /** Position and unit quaternion of a track. */
  pose(track, where) {
    let p = this.mixed(this.clip.poses[track], 7, where);
    if (this.data.rest) {
      const rest = this.data.rest[track], k = this.state.amplitude;
      p = p.map((x, i) => rest[i] + k * (x - rest[i]));
    }
    const n = Math.hypot(p[3], p[4], p[5], p[6]) || 1;
    for (let k = 3; k < 7; k++) p[k] /= n;
    return p;
  }

  /** World position of a body's origin at the shown time. */
  position(name) {
    const k = this.data.tracks.indexOf(name);
    return k < 0 ? null : this.pose(k, this.at(this.state.t)).slice(0, 3);
  }

  // --- camera ---------------------------------------------------------------------------------
  reset() {
    const home = this.data.camera;
    this.axes = home.axes.map((row) => row.slice());
    this.middle = home.center.slice();
    this.perspective = home.perspective;
    this.state.zoom = 1;
  }

  turn(dx, dy) {
    const up = this.data.camera.up;
    this.axes = this.axes.map((row) => V.about(row, up, -dx));
    const tilted = this.axes.map((row) => V.about(row, this.axes[0], -dy));
    if (V.dot(tilted[1], up) > -0.05) this.axes = tilted;
    this.perspective = true;
    this.draw();
  }

  pan(dx, dy) {
    const k = this.data.camera.radius / this.frame().k * this.ratio;
    this.middle = V.sum(
      this.middle, V.scaled(this.axes[0], -dx * k), V.scaled(this.axes[1], dy * k));
    this.draw();
  }

  zoomBy(factor) {
    this.state.zoom = Math.min(Math.max(this.state.zoom * factor, 0.05), 60);
    this.draw();
  }

  followBody(track) {
    this.follow = track;
    if (track >= 0) {
      const here = this.pose(track, this.at(this.state.t));
      this.offset = V.less(this.middle, here.slice(0, 3));
    } else this.middle = this.data.camera.center.slice();
    this.draw();
  }

  get ratio() { return Math.min(window.devicePixelRatio || 1, 2); }

  /** Pixels of one radius, and the middle of the picture. */
  frame() {
    const { width, height } = this.canvas;
    const [wide, high] = this.data.camera.extent, share = this.perspective ? 0.44 : 0.46;
    return {
      k: share * Math.min(width / wide, height / high) * this.state.zoom,
      x: width / 2, y: height / 2 };
  }

  /** Where a world point is on the canvas; the third is its depth, 1 at most for what is ahead. */
  project(p) {
    const d = V.less(p, this.middle), { radius, distance } = this.data.camera, s = this.frame();
    const z = V.dot(this.axes[2], d) / radius;
    const near = this.perspective ? distance / Math.max(distance - z, 0.02 * distance) : 1;
    return [
      s.x + s.k * near * V.dot(this.axes[0], d) / radius,
      s.y - s.k * near * V.dot(this.axes[1], d) / radius, z];
  }

  /** World to clip space, column by column. */
  viewMatrix() {
    const { radius, distance: D } = this.data.camera, s = this.frame();
    const [a, b, c] = this.axes.map((row) => V.scaled(row, 1 / radius));
    const sx = s.k / s.x, sy = s.k / s.y, near = 0.02 * D, far = D + 80;
    const rows = this.perspective
      ? [[V.scaled(a, sx * D), 0], [V.scaled(b, sy * D), 0],
        [V.scaled(c, -(far + near) / (far - near)), D * (far + near) / (far - near)
          - 2 * far * near / (far - near)], [V.scaled(c, -1), D]]
      : [[V.scaled(a, sx), 0], [V.scaled(b, sy), 0], [V.scaled(c, -1 / 40), 0], [[0, 0, 0], 1]];
    const out = new Array(16);
    rows.forEach(([row, last], i) => {
      for (let j = 0; j < 3; j++) out[4 * j + i] = row[j];
      out[12 + i] = last - V.dot(row, this.middle);
    });
    return out;
  }

  // --- drawing --------------------------------------------------------------------------------
  draw() {
    const canvas = this.canvas, ratio = this.ratio;
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (!width || !height) return;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width; canvas.height = height;
    }
    const where = this.at(this.state.t);
    this.matrices = this.data.tracks.map((_, k) => V.matrix(this.pose(k, where)));
    if (this.follow >= 0) {
      const here = this.matrices[this.follow].slice(12, 15);
      this.middle = V.sum(here, this.offset);
    }
    const context = canvas.getContext("2d"), style = getComputedStyle(this.root);
    this.ink = style.getPropertyValue("--ink").trim() || "#1d2630";
    this.paper = style.getPropertyValue("--card").trim() || "#ffffff";
    const dark = this.dark = parseInt(this.ink.slice(1, 3), 16) > 127;
    context.fillStyle = this.paper;
    context.fillRect(0, 0, width, height);
    const picture = this.painter && this.painter.paint([width, height], this.scene(where, dark));
    if (picture) context.drawImage(picture, 0, 0);
    if (this.controls.on("reaction", "applied")) this.drawArrows(context, where);
    Overlay.draw(this, context, where);
  }

  scene(where, dark) {
    const eye = this.axes[2], { floor } = this.data, hidden = (s) =>
      (s.role === "joint" || s.role === "ground") && !this.controls.on("joints");
    const above = floor && V.dot(V.less(V.sum(this.middle, V.scaled(
      eye, this.data.camera.distance * this.data.camera.radius)), floor.center), floor.up) > 0;
    return {
      view: this.viewMatrix(), floor: this.perspective && above ? floor : null,
      light: this.data.light, eye, dark, hidden, solids: this.data.solids,
      matrices: this.matrices, selected: this.selected, strokes: this.strokes(where),
    };
  }

  strokes(where) {
    const paint = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);
    const out = [], wide = this.ratio * 2, clip = this.clip;
    if (this.controls.on("traces")) {
      for (const { points, color } of clip.traces) {
        const path = [];
        for (let i = 0; i <= where[0]; i++) path.push(points.subarray(3 * i, 3 * i + 3));
        path.push(this.mixed(points, 3, where));
        out.push({ points: path, color: paint(color), width: 0.9 * wide });
      }
    }
    for (const { points, track, color } of this.data.paths) {
      const path = [];
      for (let i = 0; i < points.length / 3; i++) {
        path.push(V.placed(this.matrices[track], points.subarray(3 * i, 3 * i + 3)));
      }
      out.push({ points: path, color: paint(color), width: 1.4 * wide });
    }
    for (const line of clip.lines) {
      const [a, b] = this.ends(line, where), spring = line.role === "spring";
      const points = spring ? this.coil(a, b) : [a, b];
      out.push({ points, color: [0.42, 0.47, 0.53], width: (spring ? 1.1 : 2) * wide });
    }
    return out;
  }

  ends(line, where) {
    // With an amplitude the ends follow the bodies they sit on.
    const p = this.mixed(line.points, 6, where);
    if (!this.data.rest) return [p.slice(0, 3), p.slice(3)];
    const k = this.state.amplitude, rest = line.rest;
    const q = p.map((x, i) => rest[i] + k * (x - rest[i]));
    return [q.slice(0, 3), q.slice(3)];
  }

  /** The windings of a spring. */
  coil(a, b) {
    const along = V.less(b, a), length = V.length(along);
    if (length === 0) return [a, b];
    const e = V.scaled(along, 1 / length), least = e.map(Math.abs);
    const k = least.indexOf(Math.min(...least));
    const n = V.unit(V.cross(e, [0, 1, 2].map((i) => (i === k ? 1 : 0)))), m = V.cross(e, n);
    const flat = !this.perspective, r = Math.min(0.02 * this.data.size, 0.2 * length);
    const side = flat ? V.unit(V.cross(e, this.axes[2])) : n, points = [a];
    for (let i = 0; i <= 96; i++) {
      const angle = 2 * Math.PI * 8 * i / 96, share = 0.12 + 0.76 * i / 96;
      const around = flat ? V.scaled(side, r * Math.sin(angle))
        : V.sum(V.scaled(n, r * Math.cos(angle)), V.scaled(m, r * Math.sin(angle)));
      points.push(V.sum(a, V.scaled(along, share), around));
    }
    return [...points, b];
  }

  // --- arrows ---------------------------------------------------------------------------------
  drawArrows(context, where) {
    this.arrowsDrawn = [];
    for (const a of this.clip.arrows) {
      if (!this.controls.on(a.role)) continue;
      const p = this.mixed(a.points, 6, where), tail = p.slice(0, 3), force = p.slice(3);
      const full = V.length(force) * this.data.newton * this.state.force;
      if (full === 0) continue;
      const length = Math.min(full, this.data.longest);
      const tip = V.sum(tail, V.scaled(V.unit(force), length));
      this.arrow(context, a, this.project(tail), this.project(tip), full > length);
    }
  }

  /** An arrow that ends within the picture; a second head says that it would be longer. */
  arrow(context, a, from, to, cut) {
    const ratio = this.ratio, edge = 6 * ratio, { width, height } = this.canvas;
    let d = [to[0] - from[0], to[1] - from[1]];
    const inside = ([x, y]) => x >= edge && y >= edge && x <= width - edge && y <= height - edge;
    if (!inside(from) || !d.every(Number.isFinite)) return;
    let share = 1;
    [[0, width], [1, height]].forEach(([k, high]) => {
      const room = d[k] > 0 ? high - edge - from[k] : from[k] - edge;
      if (Math.abs(d[k]) > room) share = Math.min(share, room / Math.abs(d[k]));
    });
    d = [d[0] * share, d[1] * share];
    const length = Math.hypot(...d), more = cut || share < 1;
    if (length < 3 * ratio) return;
    const u = [d[0] / length, d[1] / length], tip = [from[0] + d[0], from[1] + d[1]];
    const head = Math.min(10 * ratio, 0.45 * length), base = [tip[0] - head * u[0], tip[1] - head * u[1]];
    this.arrowsDrawn.push({ name: a.name, tip, longer: more });
    context.save();
    context.strokeStyle = context.fillStyle = V.lighter(a.color, this.dark ? 0.3 : 0);
    context.globalAlpha = a.open ? 0.8 : 1;
    context.lineWidth = 2 * ratio;
    context.setLineDash(a.open ? [5 * ratio, 4 * ratio] : []);
    context.beginPath(); context.moveTo(from[0], from[1]); context.lineTo(...base); context.stroke();
    context.setLineDash([]);
    for (const back of more ? [0, 0.8 * head] : [0]) {
      context.beginPath();
      context.moveTo(tip[0] - back * u[0], tip[1] - back * u[1]);
      for (const s of [1, -1]) {
        context.lineTo(
          base[0] - back * u[0] - s * 0.4 * head * u[1], base[1] - back * u[1] + s * 0.4 * head * u[0]);
      }
      context.closePath();
      if (a.open) { context.lineWidth = ratio; context.stroke(); } else context.fill();
    }
    context.restore();
  }

  // --- picking --------------------------------------------------------------------------------
  /** What lies under a place of the canvas, in its pixels: { name, role, track, point } or null. */
  pick(x, y) {
    const s = this.frame(), { radius, distance } = this.data.camera;
    const u = (x - s.x) / s.k * radius, w = (s.y - y) / s.k * radius;
    const plane = V.sum(this.middle, V.scaled(this.axes[0], u), V.scaled(this.axes[1], w));
    const away = V.scaled(this.axes[2], distance * radius);
    const eye = this.perspective ? V.sum(this.middle, away) : V.sum(plane, V.scaled(away, 10));
    const ray = V.unit(V.less(plane, eye));
    let best = null;
    for (const solid of this.data.solids) {
      if (solid.role === "surface" || !this.matrices) continue;
      const m = this.matrices[solid.track];
      const d = ScenePlayer.hit(solid, V.local(m, eye), V.turnedBack(m, ray));
      // Joints sit in bodies: a body in front by less than its thickness does not hide them.
      const rank = d - (solid.role === "body" ? 0 : 0.01 * this.data.size);
      if (Number.isFinite(d) && (!best || rank < best.rank)) {
        const point = V.local(m, V.sum(eye, V.scaled(ray, d)));
        best = { name: solid.name, role: solid.role, track: solid.track, point, rank };
      }
    }
    return best;
  }

  /** Distance along a ray to a solid, both in its own axes; Infinity where it passes by. */
  static hit({ vertices: v, triangles: f }, eye, ray) {
    let best = Infinity;
    for (let k = 0; k < f.length; k += 3) {
      const [a, b, c] = [0, 1, 2].map((j) => {
        const i = 3 * f[k + j];
        return [v[i], v[i + 1], v[i + 2]];
      });
      const e = V.less(b, a), g = V.less(c, a), h = V.cross(ray, g), det = V.dot(e, h);
      if (Math.abs(det) < 1e-18) continue;
      const s = V.less(eye, a), p = V.dot(s, h) / det;
      if (p < 0 || p > 1) continue;
      const q = V.cross(s, e), r = V.dot(ray, q) / det;
      if (r < 0 || p + r > 1) continue;
      const d = V.dot(g, q) / det;
      if (d > 0 && d < best) best = d;
    }
    return best;
  }

  select(found) {
    this.selected = found;
    this.controls.announce(found ? this.describe(found) : "");
    this.draw();
  }

  describe({ name, role }) {
    const text = this.data.about[`${role === "body" ? "body" : "joint"} ${name}`] || name;
    const arrow = this.clip.arrows.find((a) => a.name === name && role !== "body");
    if (!arrow) return text;
    const force = V.length(this.mixed(arrow.points, 6, this.at(this.state.t)).slice(3));
    return `${text}, ${Overlay.number(force)} N`;
  }
}
