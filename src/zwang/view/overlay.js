// What is written over a scene: axes, a bar for lengths and forces, names.
"use strict";
const Overlay = {
  draw(player, context, where) {
    const ratio = player.ratio;
    context.save();
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.textBaseline = "middle";
    Overlay.boxes = [];
    Overlay.triad(player, context, ratio);
    Overlay.scaleBar(player, context, ratio);
    if (player.controls.on("names")) {
      player.data.tracks.forEach((name, k) => {
        if (k === 0 || !player.data.labels[k]) return;
        const at = V.placed(player.matrices[k], player.data.labels[k]);
        Overlay.label(player, context, ratio, at, name);
      });
    }
    if (player.selected) {
      const { track, point } = player.selected;
      Overlay.label(player, context, ratio, V.placed(player.matrices[track], point),
        player.describe(player.selected), true);
    }
    if (player.failed) {
      context.fillStyle = player.ink;
      context.fillText(player.failed, 12 * ratio, 20 * ratio);
    }
    context.restore();
  },

  triad(player, context, ratio) {
    const at = [player.canvas.width - 42 * ratio, player.canvas.height - 40 * ratio];
    const colors = ["#d0453f", "#2f9e55", "#3b7dbd"];
    const ends = player.axes[0].map((_, k) => [
      player.axes[0][k], player.axes[1][k], player.axes[2][k], k]);
    ends.sort((a, b) => a[2] - b[2]).forEach(([x, y, , k]) => {
      const tip = [at[0] + 24 * ratio * x, at[1] - 24 * ratio * y];
      context.strokeStyle = context.fillStyle = colors[k];
      context.lineWidth = 2 * ratio;
      context.beginPath(); context.moveTo(...at); context.lineTo(...tip); context.stroke();
      if (Math.hypot(x, y) > 0.25) {
        context.textAlign = "center";
        Overlay.letters(player, context, ratio, "xyz"[k], at[0] + 33 * ratio * x, at[1] - 33 * ratio * y);
      }
    });
  },

  /** 1, 2 or 5 times a power of ten, at most `most`. */
  round(most) {
    const power = 10 ** Math.floor(Math.log10(most));
    return power * [5, 2, 1].find((m) => m * power <= most * (1 + 1e-12));
  },

  meters(x) {
    const [unit, size] = x >= 1 ? ["m", 1] : x >= 0.01 ? ["cm", 100] : x >= 1e-3 ? ["mm", 1e3] : ["µm", 1e6];
    return `${Overlay.number(x * size)} ${unit}`;
  },

  scaleBar(player, context, ratio) {
    const pixels = player.frame().k / player.data.camera.radius;
    const length = Overlay.round(130 * ratio / pixels), wide = length * pixels;
    const x = 14 * ratio, y = player.canvas.height - 14 * ratio;
    player.scaleShown = length;
    context.strokeStyle = context.fillStyle = player.ink;
    context.lineWidth = 1.5 * ratio;
    context.beginPath();
    context.moveTo(x, y - 5 * ratio); context.lineTo(x, y); context.lineTo(x + wide, y);
    context.lineTo(x + wide, y - 5 * ratio);
    context.stroke();
    context.textAlign = "left";
    let text = player.data.meters ? Overlay.meters(length) : Overlay.number(length);
    if (player.clip.arrows.length && player.controls.on("reaction", "applied")) {
      const force = length / (player.data.newton * player.state.force);
      text += ` ≙ ${Overlay.number(force)} N`;
    }
    Overlay.letters(player, context, ratio, text, x + 4 * ratio, y - 11 * ratio);
  },

  /** Text with paper around it: lines of the floor would cross it, and bodies have its color. */
  letters(player, context, ratio, text, x, y) {
    context.lineJoin = "round"; context.lineWidth = 4 * ratio; context.strokeStyle = player.paper;
    context.strokeText(text, x, y);
    context.fillText(text, x, y);
  },

  /** Three digits, with a minus as it is printed. */
  number(x) { return `${Number(x.toPrecision(3))}`.replaceAll("-", "−"); },

  label(player, context, ratio, at, text, strong = false) {
    const [x, y] = player.project(at), wide = context.measureText(text).width + 12 * ratio;
    const high = 20 * ratio, { width, height } = player.canvas;
    const left = Math.min(Math.max(x + 10 * ratio, 2), Math.max(width - wide - 2, 2));
    let top = Math.min(Math.max(y - 26 * ratio, 2), height - high - 2);
    // Below the labels that are there already, as far as there is room.
    for (let moved = true; moved;) {
      const other = Overlay.boxes.find((b) => left < b[0] + b[2] && b[0] < left + wide
        && top < b[1] + high && b[1] < top + high);
      moved = other !== undefined && other[1] + 2 * high + 4 * ratio < height;
      if (moved) top = other[1] + high + 2 * ratio;
    }
    Overlay.boxes.push([left, top, wide]);
    context.globalAlpha = strong ? 0.95 : 0.8;
    context.fillStyle = player.paper;
    context.strokeStyle = player.ink;
    context.lineWidth = ratio * (strong ? 1.4 : 0.7);
    context.beginPath();
    context.moveTo(x, y); context.lineTo(left + 4 * ratio, top + high);
    context.stroke();
    context.beginPath();
    context.roundRect(left, top, wide, high, 4 * ratio);
    context.fill(); context.stroke();
    context.globalAlpha = 1;
    context.fillStyle = player.ink;
    context.textAlign = "left";
    context.fillText(text, left + 6 * ratio, top + high / 2 + ratio);
  },
};
