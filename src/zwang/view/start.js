// Opens all scenes of the page; those that belong together share their time.
"use strict";
let Player = null;
const Players = Promise.all(
  [...document.querySelectorAll("figure.player")].map((root) => ScenePlayer.open(root)),
).then((players) => {
  for (const one of players) {
    const group = one.root.dataset.clock;
    const others = players.filter((p) => p !== one && group && p.root.dataset.clock === group);
    for (const other of others) {
      one.listeners.push((t) => { if (Math.abs(other.state.t - t) > 1e-12 && !other.leading) {
        one.leading = true; other.seek(t); one.leading = false; } });
    }
  }
  Player = players[0] || null;
  document.documentElement.dataset.ready = "yes";
  return players;
});
document.querySelectorAll("button.theme").forEach((button) => {
  button.addEventListener("click", () => {
    const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const now = root.dataset.theme || (dark ? "dark" : "light");
    root.dataset.theme = now === "dark" ? "light" : "dark";
    Players.then((players) => players.forEach((p) => p.draw()));
  });
});
