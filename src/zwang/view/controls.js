// Buttons, sliders and gestures of a scene.
"use strict";
class SceneControls {
  constructor(player) {
    this.player = player;
    this.boxes = {};
    const { root, data } = player, first = data.clips[0];
    const bar = this.add(root, "div", { className: "bar" });
    this.button = this.add(bar, "button", { type: "button", className: "play" });
    this.slider = this.add(bar, "input", { type: "range", step: "any", className: "time" });
    this.slider.setAttribute("aria-label", "time");
    this.clock = this.add(bar, "output", { className: "clock" });
    if (data.clips.length > 1) this.menuOfClips(bar);
    if (data.amplitude) this.sliderOfAmplitude(bar);
    this.said = this.add(root, "p", { className: "said" });
    this.said.setAttribute("aria-live", "polite");
    this.note = this.add(root, "p", { className: "said" });
    const more = this.add(root, "details", { className: "more" });
    const arrows = data.clips.flatMap((c) => c.arrows);
    this.add(more, "summary", { textContent: arrows.length ? "View and forces" : "View" });
    const options = this.add(more, "div", { className: "bar" });
    if (first.count > 1) this.menuOfSpeed(options);
    this.menuOfBodies(options);
    const has = (role) => arrows.some((a) => a.role === role);
    if (has("reaction")) this.box(options, "reaction", "reactions", data.colors.reaction);
    if (arrows.some((a) => a.open)) {
      this.key(this.add(options, "span", {}), data.colors.open, "open", "not determined by the motion");
    }
    if (has("applied")) this.box(options, "applied", "applied forces", data.colors.applied);
    if (first.traces.length) {
      this.box(options, "traces", `trace of ${first.traces.map((t) => t.name).join(", ")}`);
    }
    if (data.solids.some((s) => s.role === "joint" || s.role === "ground")) {
      this.box(options, "joints", "joints");
    }
    this.box(options, "names", "names", null, false);
    if (arrows.length) {
      const scale = this.labelled(options, "arrows", "input", {
        type: "range", min: -1.5, max: 1.5, step: "any", value: 0 });
      scale.addEventListener("input", () => {
        player.state.force = 10 ** +scale.value; player.draw();
      });
    }
    this.tools(options);
    this.connect();
  }

  add(parent, tag, properties) {
    const node = Object.assign(document.createElement(tag), properties);
    parent.append(node);
    return node;
  }

  labelled(parent, text, tag, properties) {
    const label = this.add(parent, "label", {});
    label.append(`${text} `);
    return this.add(label, tag, properties);
  }

  key(parent, color, kind, text) {
    this.add(parent, "i", { className: `key ${kind}` }).style.setProperty("--key", color);
    parent.append(` ${text}`);
  }

  box(parent, role, text, color = null, checked = true) {
    const label = this.add(parent, "label", {});
    const box = this.add(label, "input", { type: "checkbox", checked });
    if (color) this.key(label, color, "", text); else label.append(text);
    box.dataset.shows = role;
    box.addEventListener("change", () => this.player.draw());
    this.boxes[role] = box;
  }

  /** Whether any of these is shown. */
  on(...roles) { return roles.some((role) => this.boxes[role] && this.boxes[role].checked); }

  menuOfClips(bar) {
    const { data } = this.player, menu = this.labelled(bar, data.choice || "show", "select", {});
    data.clips.forEach((clip, k) => this.add(menu, "option", { value: k, textContent: clip.label }));
    menu.addEventListener("change", () => this.player.choose(+menu.value));
    this.clips = menu;
  }

  sliderOfAmplitude(bar) {
    const { amplitude } = this.player.data;
    const slider = this.labelled(bar, "amplitude", "input", {
      type: "range", min: 0, max: amplitude.most, step: "any", value: amplitude.start });
    slider.classList.add("amplitude");
    slider.addEventListener("input", () => {
      this.player.state.amplitude = +slider.value; this.player.draw();
    });
  }

  menuOfSpeed(bar) {
    const menu = this.labelled(bar, "speed", "select", {});
    for (const s of [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10]) {
      this.add(menu, "option", { value: s, textContent: `${s} ×`, selected: s === 1 });
    }
    menu.addEventListener("change", () => { this.player.state.speed = +menu.value; });
  }

  menuOfBodies(bar) {
    const { data } = this.player, menu = this.labelled(bar, "follow", "select", {});
    this.add(menu, "option", { value: -1, textContent: "nothing" });
    data.tracks.forEach((name, k) => {
      if (k && data.labels[k]) this.add(menu, "option", { value: k, textContent: name });
    });
    menu.addEventListener("change", () => this.player.followBody(+menu.value));
    this.bodies = menu;
  }

  tools(bar) {
    const { player } = this, tool = (text, action) => {
      const button = this.add(bar, "button", { type: "button", className: "tool", textContent: text });
      button.addEventListener("click", () => action(button));
      return button;
    };
    tool("first view", () => {
      player.reset(); player.follow = -1; this.bodies.value = -1; player.draw();
    });
    if (document.fullscreenEnabled) {
      this.full = tool("full screen", () => (document.fullscreenElement
        ? document.exitFullscreen() : player.root.requestFullscreen()));
    }
    tool("picture", () => player.canvas.toBlob((blob) => SceneControls.save(blob, "scene.png")));
    if (window.MediaRecorder && player.canvas.captureStream) {
      this.recorder = tool("record", () => this.record());
    }
  }

  static save(blob, name) {
    const link = Object.assign(document.createElement("a"), {
      href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /** A video of what is played, until the button is pressed again or the end is reached. */
  record() {
    if (this.recording) { this.recording.stop(); return; }
    const pieces = [], stream = this.player.canvas.captureStream(30);
    const recording = this.recording = new MediaRecorder(stream, { videoBitsPerSecond: 6e6 });
    recording.ondataavailable = (e) => pieces.push(e.data);
    recording.onstop = () => {
      this.recording = null; this.recorder.textContent = "record"; this.player.play(false);
      SceneControls.save(new Blob(pieces, { type: recording.mimeType }), "scene.webm");
    };
    this.recorder.textContent = "stop recording";
    recording.start();
    this.player.seek(this.player.first);
    this.player.play(true);
    const end = (t) => {
      if (t < this.before) { recording.state === "recording" && recording.stop(); }
      this.before = t;
      if (recording.state !== "recording") {
        this.player.listeners.splice(this.player.listeners.indexOf(end), 1);
      }
    };
    this.before = this.player.first;
    this.player.listeners.push(end);
  }

  // --- what the player says -------------------------------------------------------------------
  describe(clip) {
    this.slider.min = clip.first; this.slider.max = clip.last;
    const still = clip.count < 2;
    [this.button, this.slider, this.clock].forEach((node) => { node.hidden = still; });
    this.note.textContent = clip.note || "";
    this.note.hidden = !clip.note;
    if (this.clips) this.clips.value = this.player.state.clip;
    this.playing(this.player.state.playing);
  }

  tell(t) {
    this.slider.value = t;
    const { first, last } = this.player.clip, span = last - first || 1;
    const digits = Math.min(Math.max(3 - Math.floor(Math.log10(span)), 0), 9);
    this.clock.textContent = `t = ${t.toFixed(Math.max(digits, span < 100 ? 3 : 0))} s`;
    this.slider.setAttribute("aria-valuetext", this.clock.textContent);
  }

  playing(on) {
    this.button.textContent = on ? "❚❚ Pause" : "▶ Play";
    this.said.setAttribute("aria-live", on ? "off" : "polite");  // a force that changes all the time
  }

  announce(text) { this.said.textContent = text; }

  // --- gestures -------------------------------------------------------------------------------
  connect() {
    const { player } = this, { canvas } = player, held = new Map();
    this.button.addEventListener("click", () => player.play());
    this.slider.addEventListener("input", () => { player.play(false); player.seek(+this.slider.value); });
    let moved = 0, apart = 0;
    const gap = () => {
      const [a, b] = [...held.values()];
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    };
    canvas.addEventListener("pointerdown", (e) => {
      held.set(e.pointerId, [e.clientX, e.clientY]);
      canvas.setPointerCapture(e.pointerId);
      moved = 0;
      if (held.size === 2) apart = gap();
    });
    canvas.addEventListener("pointermove", (e) => {
      if (!held.has(e.pointerId)) return;
      const before = held.get(e.pointerId), d = [e.clientX - before[0], e.clientY - before[1]];
      held.set(e.pointerId, [e.clientX, e.clientY]);
      moved += Math.hypot(...d);
      if (held.size === 2) {
        const now = gap();
        if (apart > 0) player.zoomBy(now / apart);
        apart = now;
        player.pan(d[0] / 2, d[1] / 2);
      } else if (moved > 4) {
        if (e.shiftKey || e.buttons === 2) player.pan(...d); else player.turn(0.008 * d[0], 0.008 * d[1]);
      }
    });
    canvas.addEventListener("pointerup", (e) => {
      if (held.size === 1 && moved <= 4) {
        const box = canvas.getBoundingClientRect(), k = canvas.width / box.width;
        player.select(player.pick((e.clientX - box.left) * k, (e.clientY - box.top) * k));
      }
    });
    ["pointerup", "pointercancel"].forEach((kind) => {
      canvas.addEventListener(kind, (e) => held.delete(e.pointerId));
    });
    canvas.addEventListener("contextmenu", (e) => e.preventDefault());
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault(); player.zoomBy(Math.exp(-0.001 * e.deltaY));
    }, { passive: false });
    canvas.addEventListener("dblclick", () => { player.reset(); player.draw(); });
    canvas.addEventListener("keydown", (e) => this.pressed(e));
  }

  pressed(e) {
    const { player } = this, act = {
      ArrowLeft: () => player.turn(0.1, 0), ArrowRight: () => player.turn(-0.1, 0),
      ArrowUp: () => player.turn(0, 0.1), ArrowDown: () => player.turn(0, -0.1),
      "+": () => player.zoomBy(1.15), "-": () => player.zoomBy(1 / 1.15), " ": () => player.play(),
    }[e.key];
    if (act) { e.preventDefault(); act(); }
  }
}
