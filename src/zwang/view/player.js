// Plays a scene on a canvas: faces painted from back to front, without any library.
"use strict";
const Player = (() => {
  const element = (id) => document.getElementById(id);
  const data = JSON.parse(element("scene").textContent);
  const floats = (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  };
  const times = Float64Array.from(data.times);
  const first = times[0], last = times[times.length - 1];
  const state = { t: first, playing: false, speed: 1, zoom: 1, force: 1 };
  const canvas = element("view");
  const listeners = [];

  // --- the scene: vertices of all solids in one array, faces as lists of corners --------------
  const tracks = (data.tracks || []).map((t) => ({ name: t.name, poses: floats(t.poses) }));
  const vertices = [], owner = [], faces = [];
  (data.solids || []).forEach((solid) => {
    const start = owner.length, points = floats(solid.vertices);
    for (let i = 0; i < points.length; i++) vertices.push(points[i]);
    for (let i = 0; i < points.length / 3; i++) owner.push(solid.track);
    const color = [1, 3, 5].map((k) => parseInt(solid.color.substr(k, 2), 16));
    solid.faces.forEach((face) => faces.push({ corners: face.map((i) => i + start), color }));
  });
  const lines = (data.lines || []).map((l) => ({ ...l, points: floats(l.points) }));
  const arrows = (data.arrows || []).map((a) => ({ ...a, points: floats(a.points) }));
  const traces = (data.traces || []).map((l) => ({ ...l, points: floats(l.points) }));
  const world = new Float64Array(vertices.length);
  const seen = new Float64Array(vertices.length);

  // --- the view -------------------------------------------------------------------------------
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [
    a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const scaled = (a, k) => [a[0] * k, a[1] * k, a[2] * k];
  const sum = (...v) => v.reduce((a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
  const unit = (a) => scaled(a, 1 / (Math.hypot(...a) || 1));
  const home = data.camera;
  let axes = home && home.axes.map((row) => row.slice());
  let middle = home && home.center.slice();

  function turn(dx, dy) {
    // About the upward direction, and about the horizontal of the picture.
    const about = (v, n, angle) => {
      const c = Math.cos(angle), s = Math.sin(angle);
      return sum(scaled(v, c), scaled(cross(n, v), s), scaled(n, dot(n, v) * (1 - c)));
    };
    axes = axes.map((row) => about(row, home.up, -dx));
    const tilted = axes.map((row) => about(row, axes[0], -dy));
    if (dot(tilted[1], home.up) > -0.05) axes = tilted;
    home.perspective = true;
    draw();
  }

  function project(p) {
    const d = [p[0] - middle[0], p[1] - middle[1], p[2] - middle[2]];
    const r = home.radius;
    let x = dot(axes[0], d) / r, y = dot(axes[1], d) / r;
    const z = dot(axes[2], d) / r;
    if (home.perspective) {
      const k = Math.min(Math.max(home.distance / (home.distance - z), 0.1), 10);
      x *= k; y *= k;
    }
    return [x, y, z];
  }

  function scale() {
    const side = Math.min(canvas.width, canvas.height);
    return { k: 0.46 * side * state.zoom, x: canvas.width / 2, y: canvas.height / 2 };
  }

  const onPage = (p, s) => [s.x + s.k * p[0], s.y - s.k * p[1]];

  function at(t) {
    // Frame before, and how far on to the next.
    if (times.length < 2) return [0, 0];
    const place = Math.min(Math.max((t - first) / (last - first), 0), 1) * (times.length - 1);
    const i = Math.min(Math.floor(place), times.length - 2);
    return [i, place - i];
  }

  function mixed(array, width, offset, [i, w]) {
    const out = new Array(width), a = i * width + offset;
    const b = array.length > width ? a + width : a;
    for (let k = 0; k < width; k++) out[k] = (1 - w) * array[a + k] + w * array[b + k];
    return out;
  }

  const pose = (track, where) => mixed(tracks[track].poses, 12, 0, where);

  function place(where) {
    const poses = tracks.map((_, k) => pose(k, where));
    for (let i = 0; i < owner.length; i++) {
      const m = poses[owner[i]], k = 3 * i;
      const x = vertices[k], y = vertices[k + 1], z = vertices[k + 2];
      const p = [
        m[0] + m[3] * x + m[4] * y + m[5] * z,
        m[1] + m[6] * x + m[7] * y + m[8] * z,
        m[2] + m[9] * x + m[10] * y + m[11] * z];
      const q = project(p);
      world[k] = p[0]; world[k + 1] = p[1]; world[k + 2] = p[2];
      seen[k] = q[0]; seen[k + 1] = q[1]; seen[k + 2] = q[2];
    }
  }

  function corner(array, i) { return [array[3 * i], array[3 * i + 1], array[3 * i + 2]]; }

  function paint(context, s) {
    const light = unit(sum(...home.light.map((x, k) => scaled(axes[k], x))));
    const ready = [];
    for (const face of faces) {
      const c = face.corners;
      let area = 0, depth = 0, normal = [0, 0, 0];
      for (let k = 0; k < c.length; k++) {
        const i = c[k], j = c[(k + 1) % c.length];
        area += seen[3 * i] * seen[3 * j + 1] - seen[3 * i + 1] * seen[3 * j];
        depth += seen[3 * i + 2];
        normal = sum(normal, cross(corner(world, i), corner(world, j)));
      }
      if (area <= 0) continue;
      const lit = home.ambient + (1 - home.ambient) * Math.max(dot(unit(normal), light), 0);
      const color = `rgb(${face.color.map((x) => Math.round(x * lit)).join(",")})`;
      ready.push({ c, color, depth: depth / c.length });
    }
    ready.sort((a, b) => a.depth - b.depth);
    context.lineWidth = 0.8;
    context.lineJoin = "round";
    for (const { c, color } of ready) {
      context.beginPath();
      c.forEach((i, k) => {
        const [x, y] = onPage([seen[3 * i], seen[3 * i + 1]], s);
        if (k) context.lineTo(x, y); else context.moveTo(x, y);
      });
      context.closePath();
      context.fillStyle = context.strokeStyle = color;
      context.fill();
      context.stroke();
    }
  }

  function stroke(context, points, s, color, width, dash = []) {
    context.beginPath();
    points.forEach((p, k) => {
      const [x, y] = onPage(project(p), s);
      if (k) context.lineTo(x, y); else context.moveTo(x, y);
    });
    context.strokeStyle = color;
    context.lineWidth = width * (window.devicePixelRatio || 1);
    context.setLineDash(dash.map((x) => x * (window.devicePixelRatio || 1)));
    context.stroke();
    context.setLineDash([]);
  }

  function coil(a, b) {
    // The zigzag of a spring.
    const along = sum(b, scaled(a, -1));
    let side = cross(along, axes[2]);
    if (Math.hypot(...side) === 0) return [a, b];
    side = scaled(unit(side), 0.02 * data.size);
    const points = [a];
    for (let k = 0; k < 18; k++) {
      const share = 0.15 + 0.7 * k / 17;
      points.push(sum(a, scaled(along, share), scaled(side, k % 2 ? -1 : 1)));
    }
    return [...points, b];
  }

  function arrow(context, a, s, where) {
    const [x, y, z, fx, fy, fz] = mixed(a.points, 6, 0, where);
    const k = data.newton * state.force;
    const tail = [x, y, z], tip = sum(tail, scaled([fx, fy, fz], k));
    const p = onPage(project(tail), s), q = onPage(project(tip), s);
    const d = [q[0] - p[0], q[1] - p[1]], length = Math.hypot(...d);
    const ratio = window.devicePixelRatio || 1;
    if (length < 3 * ratio) return;
    const head = Math.min(10 * ratio, 0.5 * length), u = [d[0] / length, d[1] / length];
    const base = [q[0] - head * u[0], q[1] - head * u[1]];
    context.strokeStyle = context.fillStyle = a.color;
    context.globalAlpha = a.open ? 0.75 : 1;
    context.lineWidth = 2 * ratio;
    context.setLineDash(a.open ? [5 * ratio, 4 * ratio] : []);
    context.beginPath(); context.moveTo(...p); context.lineTo(...base); context.stroke();
    context.setLineDash([]);
    context.beginPath();
    context.moveTo(...q);
    context.lineTo(base[0] - 0.4 * head * u[1], base[1] + 0.4 * head * u[0]);
    context.lineTo(base[0] + 0.4 * head * u[1], base[1] - 0.4 * head * u[0]);
    context.closePath();
    if (a.open) { context.lineWidth = ratio; context.stroke(); } else context.fill();
    context.globalAlpha = 1;
  }

  const shown = (id) => { const box = element(id); return !box || box.checked; };

  function draw() {
    if (!canvas || !home) return;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width; canvas.height = height;
    }
    const context = canvas.getContext("2d"), s = scale(), where = at(state.t);
    const style = getComputedStyle(canvas);
    context.clearRect(0, 0, width, height);
    if (home.perspective) {
      const color = style.getPropertyValue("--grid") || "#dde2e7";
      data.floor.forEach(([a, b]) => stroke(context, [a, b], s, color, 1));
    }
    if (shown("traces")) {
      for (const trace of traces) {
        const points = [];
        for (let i = 0; i <= where[0]; i++) points.push(corner(trace.points, i));
        points.push(mixed(trace.points, 3, 0, where));
        stroke(context, points, s, trace.color, 1.2);
      }
    }
    for (const line of lines) {
      const p = mixed(line.points, 6, 0, where), a = p.slice(0, 3), b = p.slice(3);
      const spring = line.role === "spring";
      stroke(context, spring ? coil(a, b) : [a, b], s, "#66717d", spring ? 1.3 : 3);
    }
    place(where);
    paint(context, s);
    for (const a of arrows) {
      if (shown(a.role === "applied" ? "applied" : "reactions")) arrow(context, a, s, where);
    }
  }

  // --- time -----------------------------------------------------------------------------------
  function seek(t) {
    state.t = Math.min(Math.max(t, first), last);
    const slider = element("time");
    if (slider) slider.value = state.t;
    if (element("clock")) element("clock").textContent = `t = ${state.t.toFixed(3)} s`;
    document.querySelectorAll("svg.chart").forEach((chart) => {
      const { start, end, left, right } = chart.dataset;
      const x = +left + (state.t - start) / (end - start) * (right - left);
      const cursor = chart.querySelector(".cursor");
      cursor.setAttribute("x1", x); cursor.setAttribute("x2", x);
    });
    draw();
    listeners.forEach((f) => f(state.t));
  }

  let stamp = 0;
  function tick(now) {
    if (!state.playing) return;
    const t = state.t + (now - stamp) / 1000 * state.speed;
    stamp = now;
    seek(t > last ? first : t);
    requestAnimationFrame(tick);
  }

  function play(on = !state.playing) {
    state.playing = on && last > first;
    if (element("play")) element("play").textContent = state.playing ? "❚❚ Pause" : "▶ Play";
    if (state.playing) { stamp = performance.now(); requestAnimationFrame(tick); }
  }

  // --- controls -------------------------------------------------------------------------------
  function connect() {
    const on = (id, event, f) => { if (element(id)) element(id).addEventListener(event, f); };
    on("play", "click", () => play());
    on("time", "input", (e) => { play(false); seek(+e.target.value); });
    on("speed", "change", (e) => { state.speed = +e.target.value; });
    on("scale", "input", (e) => { state.force = 10 ** +e.target.value; draw(); });
    ["traces", "reactions", "applied"].forEach((id) => on(id, "change", draw));
    document.querySelectorAll("svg.chart").forEach((chart) => {
      chart.addEventListener("click", (e) => {
        const box = chart.getBoundingClientRect(), { start, end, left, right } = chart.dataset;
        const x = (e.clientX - box.left) / box.width * chart.viewBox.baseVal.width;
        play(false);
        seek(+start + (x - left) / (right - left) * (end - start));
      });
    });
    document.addEventListener("keydown", (e) => {
      if (e.code === "Space" && e.target.tagName !== "BUTTON") { e.preventDefault(); play(); }
    });
    if (!canvas) return;
    let held = null;
    canvas.addEventListener("pointerdown", (e) => {
      held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!held) return;
      const d = [e.clientX - held[0], e.clientY - held[1]];
      held = [e.clientX, e.clientY];
      if (e.shiftKey) {
        const k = home.radius / scale().k * (window.devicePixelRatio || 1);
        middle = sum(middle, scaled(axes[0], -d[0] * k), scaled(axes[1], d[1] * k));
        draw();
      } else turn(0.008 * d[0], 0.008 * d[1]);
    });
    ["pointerup", "pointercancel"].forEach((x) => canvas.addEventListener(x, () => { held = null; }));
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      state.zoom *= Math.exp(-0.001 * e.deltaY);
      draw();
    }, { passive: false });
    canvas.addEventListener("dblclick", () => {
      axes = home.axes.map((row) => row.slice()); middle = home.center.slice();
      home.perspective = data.camera.wasPerspective; state.zoom = 1; draw();
    });
    window.addEventListener("resize", draw);
  }

  if (home) home.wasPerspective = home.perspective;
  connect();
  seek(first);
  const picture = element("still");
  if (picture && canvas) picture.remove();
  if (canvas) { canvas.hidden = false; draw(); }
  return {
    state, seek, play, draw, listeners,
    /** World position of a body's origin at the shown time. */
    position(name) {
      const k = tracks.findIndex((t) => t.name === name);
      return k < 0 ? null : pose(k, at(state.t)).slice(0, 3);
    },
  };
})();
