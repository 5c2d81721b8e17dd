// Charts of a report: values under the pointer, series on and off, tables, one time for all.
"use strict";
class Charts {
  constructor(data) {
    this.charts = data.charts;
    // What rounding and the tolerance of a run leave of a zero is far below what a chart can show.
    for (const chart of this.charts) {
      chart.zero = chart.log ? 0 : 1e-10 * Math.max(0, ...chart.series.map(({ values }) =>
        values.reduce((most, x) => (Math.abs(x) > most ? Math.abs(x) : most), 0)));
    }
    this.figures = [...document.querySelectorAll("figure.plot")];
    this.t = null; this.player = null;
    this.figures.forEach((figure) => this.connect(figure));
    document.querySelectorAll("button.csv-all").forEach((button) => {
      button.addEventListener("click", () => Charts.save(this.everything(), "report.csv"));
    });
  }

  static async open() {
    const node = document.getElementById("charts");
    return node ? new Charts(await Reader.open(node.textContent)) : null;
  }

  of(figure) { return this.charts[+figure.dataset.chart]; }

  connect(figure) {
    const svg = figure.querySelector("svg");
    const time = (e) => {
      const box = svg.getBoundingClientRect(), { start, end, left, right } = svg.dataset;
      const x = (e.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
      const t = +start + (x - left) / (right - left) * (end - start);
      return Math.min(Math.max(t, +start), +end);
    };
    svg.addEventListener("pointermove", (e) => {
      this.show(time(e));
      if (e.buttons && this.player) { this.player.play(false); this.player.seek(time(e)); }
    });
    svg.addEventListener("pointerdown", (e) => {
      if (this.player) { this.player.play(false); this.player.seek(time(e)); }
    });
    svg.addEventListener("pointerleave", () => this.show(this.player ? this.player.state.t : null));
    figure.querySelectorAll("button.series").forEach((button) => {
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", on);
        const path = svg.querySelector(`path[data-series="${button.dataset.series}"]`);
        path.style.display = on ? "" : "none";
      });
    });
    figure.querySelector("button.csv").addEventListener("click", () => {
      const { title } = this.of(figure);
      Charts.save(this.table([this.of(figure)]), `${title.replace(/\W+/g, "_")}.csv`);
    });
  }

  /** Cursor and values of all charts at a time; null hides them. */
  show(t) {
    this.t = t;
    for (const figure of this.figures) {
      const svg = figure.querySelector("svg"), { start, end, left, right } = svg.dataset;
      const inside = t !== null && t >= +start - 1e-9 && t <= +end + 1e-9;
      const x = inside ? +left + (t - start) / (end - start) * (right - left) : -9;
      const cursor = svg.querySelector(".cursor");
      cursor.setAttribute("x1", x); cursor.setAttribute("x2", x);
      const chart = this.of(figure);
      figure.querySelectorAll("button.series").forEach((button, k) => {
        const value = inside ? Charts.value(chart, chart.series[k].values, t) : NaN;
        button.querySelector("output").textContent = Number.isFinite(value)
          ? Charts.written(Math.abs(value) < chart.zero ? 0 : value) : "";
      });
    }
  }

  static written(value) { return Number(value.toPrecision(4)).toString().replaceAll("-", "−"); }

  /** A series at a time, straight between its values. */
  static value({ t, log }, values, time) {
    let low = 0, high = t.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (t[middle] <= time) low = middle; else high = middle;
    }
    const span = t[high] - t[low], w = span > 0 ? Math.min(Math.max((time - t[low]) / span, 0), 1) : 0;
    if (log) return values[w < 0.5 ? low : high];
    return (1 - w) * values[low] + w * values[high];
  }

  table(charts) {
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const unit = (c) => (c.unit ? ` [${c.unit}]` : "");
    const heads = charts.flatMap((c) => c.series.map((s) => `${s.name}${unit(c)}`));
    const { t } = charts[0], columns = charts.flatMap((c) => c.series.map((s) => s.values));
    const number = (x) => (Number.isFinite(x) ? Number(x.toPrecision(8)).toString() : "");
    const lines = [["t [s]", ...heads].map(quoted).join()];
    t.forEach((time, i) => lines.push([time, ...columns.map((c) => c[i])].map(number).join()));
    return `${lines.join("\n")}\n`;
  }

  /** All series that share the times of the first chart. */
  everything() {
    const { t } = this.charts[0];
    return this.table(this.charts.filter((c) => c.t.length === t.length && c.t[1] === t[1]));
  }

  static save(text, name) { SceneControls.save(new Blob([text], { type: "text/csv" }), name); }
}

const ReportCharts = Promise.all([Charts.open(), Players]).then(([charts, players]) => {
  if (charts && players.length) {
    [charts.player] = players;
    players[0].listeners.push((t) => charts.show(t));
    charts.show(players[0].state.t);
  }
  document.documentElement.dataset.charts = "yes";
  return charts;
});
