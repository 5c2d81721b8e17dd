const D = JSON.parse(document.getElementById('data').textContent);
const names = Object.keys(D.columns), charts = [];
let chosen = -1;

function element(kind, content, attributes) {
  const made = Object.assign(document.createElement(kind), attributes);
  made.append(...[].concat(content ?? []));
  return made;
}

/** What a table has of a name, which may be that of a method of every object. */
function own(table, name) { return Object.hasOwn(table, name) ? table[name] : undefined; }

function label(name) {
  const said = own(D.labels, name) ?? name, unit = own(D.units, name);
  return unit ? `${said} [${unit}]` : said;
}

function color(name) { return getComputedStyle(document.documentElement).getPropertyValue(name); }

/** Whether a run came to its end, or to an event that stops it. */
function finished(i) { return D.status[i] === 'finished' || D.status[i] === 'stopped by event'; }

function range(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (v !== null) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) return [0, 1];
  if (low === high) { const room = Math.abs(low) || 1; return [low - 0.1 * room, high + 0.1 * room]; }
  const margin = 0.05 * (high - low);  // so that no point lies on the frame
  return [low - margin, high + margin];
}

/** Round numbers 1, 2 or 5 times a power of ten within low … high, some `count` of them. */
function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find(m => m * power >= raw * (1 - 1e-9));
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9), found = [];
  for (let k = first; k <= last; k++) found.push(k * step);
  return found;
}

function short(value, span) {
  if (Math.abs(value) < 1e-9 * span) return '0';
  const digits = Math.min(Math.max(Math.ceil(Math.log10(Math.abs(value) / span)) + 3, 2), 9);
  return String(Number(value.toPrecision(digits))).replaceAll('-', '−');
}

class Chart {
  constructor(host, x, y, what) {
    this.x = this.choice(x, `${what}: horizontal`);
    this.y = this.choice(y, `${what}: vertical`);
    this.canvas = element('canvas', [], { role: 'img' });
    host.append(element('div', [this.y, ' over ', this.x], { className: 'bar' }), this.canvas);
    this.canvas.addEventListener('click', event => this.pick(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  choice(value, about) {
    const made = element('select', names.map(n => new Option(label(n), n, n === value, n === value)),
      { ariaLabel: about });
    made.addEventListener('change', () => this.draw());
    return made;
  }

  draw() {
    const { canvas } = this, ratio = window.devicePixelRatio || 1;
    const width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width) return;
    canvas.width = width * ratio; canvas.height = height * ratio;
    const g = canvas.getContext('2d');
    g.scale(ratio, ratio);
    const X = D.columns[this.x.value], Y = D.columns[this.y.value];
    const [a, b] = range(X), [p, q] = range(Y);
    const left = 64, right = 16, top = 14, bottom = 44;
    // A run that has no value, as it was refused, is a mark on the lower frame.
    this.unknown = i => Y[i] === null && !finished(i);
    this.at = i => X[i] === null || (Y[i] === null && !this.unknown(i)) ? null :
      [left + (X[i] - a) / (b - a) * (width - left - right),
       this.unknown(i) ? height - bottom :
         height - bottom - (Y[i] - p) / (q - p) * (height - top - bottom)];
    canvas.ariaLabel = `${label(this.y.value)} over ${label(this.x.value)}, ${D.run.length} runs`;
    this.axes(g, [a, b, p, q], [left, right, top, bottom, width, height]);
    this.points(g);
  }

  axes(g, [a, b, p, q], [left, right, top, bottom, width, height]) {
    g.strokeStyle = color('--line'); g.fillStyle = color('--soft'); g.font = '12px system-ui';
    this.ticks = [ticks(a, b, (width - left - right) / 70), ticks(p, q, (height - top - bottom) / 50)];
    g.textAlign = 'center';
    for (const value of this.ticks[0]) {
      const x = left + (value - a) / (b - a) * (width - left - right);
      g.beginPath(); g.moveTo(x, top); g.lineTo(x, height - bottom); g.stroke();
      g.fillText(short(value, b - a), x, height - bottom + 16);
    }
    g.textAlign = 'right';
    for (const value of this.ticks[1]) {
      const y = height - bottom - (value - p) / (q - p) * (height - top - bottom);
      g.beginPath(); g.moveTo(left, y); g.lineTo(width - right, y); g.stroke();
      g.fillText(short(value, q - p), left - 6, y + 4);
    }
    g.strokeRect(left, top, width - left - right, height - top - bottom);
    g.textAlign = 'center'; g.fillStyle = color('--ink');
    g.fillText(label(this.x.value), (left + width - right) / 2, height - 8);
  }

  points(g) {
    // Few runs are large and full, thousands small and pale.
    const few = D.run.length <= 300, size = few ? 8 : D.run.length <= 1500 ? 6 : 4;
    for (let i = 0; i < D.run.length; i++) {
      const at = this.at(i);
      if (!at) continue;
      g.globalAlpha = few || D.status[i] !== 'finished' ? 0.9 : 0.6;
      g.fillStyle = color(D.status[i] === 'finished' ? '--run' : finished(i) ? '--stopped' : '--bad');
      if (this.unknown(i)) g.fillRect(at[0] - 1.5, at[1] - 7, 3, 14);
      else g.fillRect(at[0] - size / 2, at[1] - size / 2, size, size);
    }
    g.globalAlpha = 1;
    const at = chosen < 0 ? null : this.at(chosen);
    if (!at) return;
    g.strokeStyle = color('--ink'); g.lineWidth = 2;
    g.beginPath(); g.arc(at[0], at[1], 7, 0, 7); g.stroke();
  }

  pick(event) {
    const box = this.canvas.getBoundingClientRect();
    const px = event.clientX - box.left, py = event.clientY - box.top;
    let best = 900, found = -1;
    for (let i = 0; i < D.run.length; i++) {
      const at = this.at(i);
      if (!at) continue;
      const d = (at[0] - px) ** 2 + (at[1] - py) ** 2;
      if (d < best) { best = d; found = i; }
    }
    if (found >= 0) choose(found);
  }
}

function lines(number) {
  const model = D.stored ? '' : ', model';
  return `import zwang as zw\n\nstudy = zw.open_study(${JSON.stringify(D.path)}${model})\n`
    + `run = study.run_of(${number})\nrun.report("run-${number}.html")\n`;
}

function choose(i) {
  chosen = i;
  charts.forEach(c => c.draw());
  const number = D.run[i];
  document.getElementById('number').value = number;
  const row = (name, text) => element('tr', [element('th', name), element('td', text)]);
  const rows = [...Object.keys(D.words).map(n => row(n, D.words[n][i])),
    ...names.map(n => row(label(n), String(D.columns[n][i] ?? '–').replaceAll('-', '−')))];
  const parts = [
    element('h3', `Run ${number}: ${D.status[i]}`),
    element('div', element('table', element('tbody', rows)),
      { className: 'wide', tabIndex: 0, role: 'region', ariaLabel: 'values of the run' }),
  ];
  if (D.reasons[number]) parts.splice(1, 0, element('p', D.reasons[number], { className: finished(i) ? '' : 'bad' }));
  if (D.runs_again && D.status[i] !== 'refused') {
    parts.push(element('p', 'The same again, bit for bit, with all that a run has:'),
      element('pre', lines(number), { tabIndex: 0 }));
    if (!D.stored) parts.push(element('p', 'The model is one of Python, which is not in the dataset: '
      + 'it is the model that the study was made of.', { className: 'soft' }));
  }
  document.getElementById('run').replaceChildren(...parts);
}

charts.push(new Chart(document.getElementById('one'), ...D.first, 'first chart'),
  new Chart(document.getElementById('two'), ...D.second, 'second chart'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => charts.forEach(c => c.draw()));
document.getElementById('number').addEventListener('change', event => {
  const i = D.run.indexOf(Number(event.target.value));
  if (i >= 0) choose(i);
  else document.getElementById('run').replaceChildren(
    element('p', `Run ${event.target.value} is not among those shown here.`));
});
