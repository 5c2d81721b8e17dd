const D = JSON.parse(document.getElementById('data').textContent);
const names = Object.keys(D.columns), charts = [];
let chosen = -1;

function element(kind, content, attributes) {
  const made = Object.assign(document.createElement(kind), attributes);
  made.append(...[].concat(content ?? []));
  return made;
}

function label(name) { return D.units[name] ? `${name} [${D.units[name]}]` : name; }

function color(name) { return getComputedStyle(document.documentElement).getPropertyValue(name); }

function range(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) if (v !== null) { low = Math.min(low, v); high = Math.max(high, v); }
  if (low > high) return [0, 1];
  if (low === high) { const room = Math.abs(low) || 1; return [low - 0.1 * room, high + 0.1 * room]; }
  return [low, high];
}

function short(value) { return String(Number(value.toPrecision(3))); }

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
    this.at = i => X[i] === null || Y[i] === null ? null :
      [left + (X[i] - a) / (b - a) * (width - left - right),
       height - bottom - (Y[i] - p) / (q - p) * (height - top - bottom)];
    canvas.ariaLabel = `${label(this.y.value)} over ${label(this.x.value)}, ${D.run.length} runs`;
    this.axes(g, [a, b, p, q], [left, right, top, bottom, width, height]);
    this.points(g);
  }

  axes(g, [a, b, p, q], [left, right, top, bottom, width, height]) {
    g.strokeStyle = color('--line'); g.fillStyle = color('--soft'); g.font = '12px system-ui';
    for (let k = 0; k <= 4; k++) {
      const x = left + k / 4 * (width - left - right), y = height - bottom - k / 4 * (height - top - bottom);
      g.beginPath(); g.moveTo(x, top); g.lineTo(x, height - bottom); g.moveTo(left, y);
      g.lineTo(width - right, y); g.stroke();
      g.textAlign = 'center'; g.fillText(short(a + (b - a) * k / 4), x, height - bottom + 16);
      g.textAlign = 'right'; g.fillText(short(p + (q - p) * k / 4), left - 6, y + 4);
    }
    g.textAlign = 'center'; g.fillStyle = color('--ink');
    g.fillText(label(this.x.value), (left + width - right) / 2, height - 8);
  }

  points(g) {
    const size = D.run.length > 100 ? 4 : 9;
    for (let i = 0; i < D.run.length; i++) {
      const at = this.at(i);
      if (!at) continue;
      g.globalAlpha = D.status[i] === 'finished' ? 0.6 : 0.9;
      g.fillStyle = color(D.status[i] === 'finished' ? '--run' : '--bad');
      g.fillRect(at[0] - size / 2, at[1] - size / 2, size, size);
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
  const number = D.run[i], finished = D.status[i] === 'finished';
  document.getElementById('number').value = number;
  const row = (name, text) => element('tr', [element('th', name), element('td', text)]);
  const rows = [...Object.keys(D.words).map(n => row(n, D.words[n][i])),
    ...names.map(n => row(label(n), String(D.columns[n][i] ?? '–')))];
  const parts = [
    element('h3', `Run ${number}: ${D.status[i]}`),
    element('div', element('table', element('tbody', rows)), { className: 'wide' }),
  ];
  if (!finished && D.reasons[number]) parts.splice(1, 0, element('p', D.reasons[number], { className: 'bad' }));
  if (D.runs_again && D.status[i] !== 'refused') {
    parts.push(element('p', 'The same again, bit for bit, with all that a run has:'),
      element('pre', lines(number)));
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
