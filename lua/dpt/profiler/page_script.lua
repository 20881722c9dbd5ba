--- dpt.profiler.page_script: the script of the page that shows profiles (dpt.profiler.page).
--
-- Invariant: `lanes`, `boxes`, `arrows` and `areas` are built once, by read(); layout() places them
-- for a width; draw() shows them between the times `from` and `to`. A box that is shorter than half
-- a pixel is not drawn over another one of its row, but is counted. Text from profiles reaches the
-- page only by textContent and fillText. Colours are CSS variables of the page's style.
return [==[
'use strict';
const PHASES = @NAMES@, ROW = 20, GAP = 6, AXIS = 26, HEAD = 28, LABEL = 17, AREA = 36;
const lanes = [], boxes = [], arrows = [], areas = [], processes = new Map(), byId = new Map();
const ordered = []; // lanes and areas, from top to bottom
let left; // of the boxes: the rows' names are before it, or above them in a narrow window
let first = Infinity, last = -Infinity, from, to, height, kept = null, over = null, wanted = '';

function lane(map, e) {
  const key = e.pid + ' ' + e.tid;
  if (!map.has(key))
    map.set(key, {pid: e.pid, tid: e.tid, name: String(e.tid), boxes: [], rows: 1});
  return map.get(key);
}

function read() {
  const map = new Map();
  const files = [...document.querySelectorAll('script.profile')].map(s => JSON.parse(s.text));
  const start = Math.min(...files.map(f => f.otherData.started || 0));
  files.forEach((file, n) => {
    const shift = ((file.otherData.started || 0) - start) * 1e6;
    for (const e of file.traceEvents) {
      const time = e.ts + shift;
      if (e.ph === 'X') {
        const box = {lane: lane(map, e), ts: time, end: time + e.dur, e: e};
        box.text = [e.name, e.cat, e.args.module, e.args.class].join(' ').toLowerCase();
        box.lane.boxes.push(box);
        boxes.push(box);
      } else if (e.ph === 'C') {
        if (!processes.has('C' + e.pid)) processes.set('C' + e.pid, []);
        processes.get('C' + e.pid).push([time, e.args.bytes]);
      } else if (e.ph === 's' || e.ph === 'f') {
        const key = n + ' ' + e.id;
        if (!byId.has(key)) byId.set(key, {});
        byId.get(key)[e.ph] = {lane: lane(map, e), ts: time};
      } else if (e.ph === 'M' && e.name === 'process_name') processes.set(e.pid, e.args.name);
      else if (e.ph === 'M' && e.name === 'thread_name') lane(map, e).name = e.args.name;
    }
  });
  for (const b of boxes) { first = Math.min(first, b.ts); last = Math.max(last, b.end); }
  if (!boxes.length) { first = 0; last = 1; }
  const list = [...map.values()].filter(l => l.boxes.length);
  // devices first, then the threads that queued their work: process 0 of a rank of 1000 processes
  const place = p => Math.floor(p / 1000) * 1000 + (p % 1000 || 999.5);
  list.sort((a, b) => place(a.pid) - place(b.pid) || a.tid - b.tid);
  list.forEach((l, i) => {
    if (!i || list[i - 1].pid !== l.pid) l.process = processes.get(l.pid) || 'process ' + l.pid;
    l.boxes.sort((a, b) => a.ts - b.ts || b.end - a.end);
    const open = [];
    for (const b of l.boxes) { // below the box that it is inside of
      while (open.length && open[open.length - 1].end <= b.ts + 1e-3) open.pop();
      b.row = Math.min(open.length, 11);
      l.rows = Math.max(l.rows, b.row + 1);
      open.push(b);
    }
    lanes.push(l);
    ordered.push(l);
    const points = processes.get('C' + l.pid);
    if (points && (i + 1 === list.length || list[i + 1].pid !== l.pid)) {
      points.sort((a, b) => a[0] - b[0]);
      areas.push({name: 'live bytes', points: points, most: Math.max(...points.map(q => q[1]))});
      ordered.push(areas[areas.length - 1]);
    }
  });
  for (const a of byId.values()) if (a.s && a.f) arrows.push(a);
  from = first;
  to = last;
}

function layout(narrow) {
  left = narrow ? 16 : 164;
  let y = AXIS;
  for (const o of ordered) {
    if (o.process) {
      o.head = y;
      y += HEAD + GAP;
    }
    o.label = narrow ? y + LABEL / 2 - 2 : y + ROW / 2;
    if (narrow) y += LABEL;
    o.y = y;
    y += (o.points ? AREA : o.rows * ROW) + GAP;
  }
  height = y + 2 * AXIS;
}

const canvas = document.getElementById('lanes'), g = canvas.getContext('2d');
const colour = {}; // by name of the variable
function paint() {
  const style = getComputedStyle(document.documentElement), pen = document.createElement('canvas');
  for (const name of ['background', 'panel', 'line', 'text', 'muted', 'accent', ...PHASES,
    ...PHASES.map(p => p + '-ink')])
    colour[name] = style.getPropertyValue('--' + name).trim();
  pen.width = pen.height = 6; // stripes
  const p = pen.getContext('2d');
  p.fillStyle = colour.background;
  p.fillRect(0, 0, 6, 6);
  p.strokeStyle = colour.wait;
  p.lineWidth = 2;
  for (const x of [-6, 0, 6]) { p.moveTo(x - 1, 7); p.lineTo(x + 7, -1); }
  p.stroke();
  colour.stripes = g.createPattern(pen, 'repeat');
}
const at = time => left + (time - from) / (to - from) * (canvas.clientWidth - left - 16);
const timeAt = x => from + (x - left) / (canvas.clientWidth - left - 16) * (to - from);
const yOf = b => b.lane.y + b.row * ROW;

function nice(step) {
  const power = Math.pow(10, Math.floor(Math.log10(step)));
  return [1, 2, 5, 10].map(k => k * power).find(s => s >= step);
}
function shown(us) {
  return us >= 1e6 ? (us / 1e6).toFixed(3) + ' s' : us >= 1e3 ? (us / 1e3).toFixed(3) + ' ms'
    : us.toFixed(2) + ' \u00b5s';
}
// A time at the axis, in the unit of its step and without digits that all have.
function tick(us, step) {
  const [unit, name] = step >= 1e5 ? [1e6, 's'] : step >= 100 ? [1e3, 'ms'] : [1, '\u00b5s'];
  const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
  return (us / unit).toFixed(digits) + ' ' + name;
}

// Returns the beginning of a text that fits into a width, '' if that is not worth it.
function fit(text, width) {
  let part = text, size;
  while ((size = g.measureText(part).width) > width) {
    const count = Math.min(part.length - 2, Math.floor(part.length * width / size) - 1);
    if (count < 3) return '';
    part = text.slice(0, count).trim() + '\u2026';
  }
  return part;
}

function arrow(a) {
  const row = p => {
    const b = p.lane.boxes.find(q => q.ts <= p.ts && q.end >= p.ts);
    return p.lane.y + (b ? b.row : 0) * ROW + ROW / 2;
  };
  const x = at(a.s.ts), y = row(a.s), u = at(a.f.ts), v = row(a.f);
  for (const [style, width] of [[colour.background, 4], [colour.text, 1.5]]) {
    g.strokeStyle = style;
    g.lineWidth = width;
    g.beginPath();
    g.moveTo(x, y);
    g.bezierCurveTo(x + 30, y, u - 30, v, u, v);
    g.stroke();
  }
  g.fillStyle = colour.text;
  g.beginPath();
  g.moveTo(u, v); g.lineTo(u - 7, v - 4); g.lineTo(u - 7, v + 4);
  g.fill();
}

function write(text, x, y, name, bold, most) {
  g.font = (bold ? '600 13px ' : '12px ') + font;
  g.fillStyle = colour[name];
  g.fillText(most ? fit(text, most) : text, x, y);
}

function drawAxis(width) {
  const right = width - 16, step = nice((to - from) / Math.max(2, (right - left) / 110));
  if (left > 100) write('time', 16, AXIS / 2, 'muted');
  g.textAlign = 'center';
  write('time since the first operation', (left + right) / 2, height - AXIS / 2, 'muted');
  g.textAlign = 'start';
  for (let t = Math.ceil((from - first) / step - 1e-9) * step + first; t <= to; t += step) {
    g.fillStyle = colour.line;
    g.fillRect(Math.round(at(t)), AXIS - 6, 1, height - 2.5 * AXIS + 10);
    if (at(t) + 48 > width) continue;
    for (const y of [AXIS / 2, height - 1.5 * AXIS]) write(tick(t - first, step), at(t) + 4, y,
      'muted');
  }
}

// Draws a box. A call of the script is pale over a line, since operations are inside it.
function drawBox(b, x, w) {
  const y = yOf(b), phase = colour[b.e.cat + '-ink'] ? b.e.cat : 'other', a = b.e.args;
  const dim = wanted && !b.text.includes(wanted), call = a.kind === 'span';
  const striped = phase === 'wait' && w > 2;
  g.fillStyle = striped ? colour.stripes : colour[phase];
  g.globalAlpha = dim ? 0.15 : call ? 0.22 : 1;
  g.fillRect(x, y, w, ROW - 2);
  if (call && !dim) {
    g.globalAlpha = 1;
    g.fillRect(x, y + ROW - 4, w, 2);
  }
  if (w > 3 && !dim) { // a seam between boxes of one colour
    g.fillStyle = colour.background;
    g.fillRect(x + w - 0.75, y, 0.75, ROW - 2);
  }
  if (b === kept || b === over) {
    g.strokeStyle = colour.text;
    g.lineWidth = 2;
    g.strokeRect(x + 1, y + 1, Math.max(w - 2, 1), ROW - 4);
  }
  const start = Math.max(x, left) + 4, room = Math.min(x + w, canvas.clientWidth - 16) - start - 4;
  if (room < 28 || dim) return;
  g.font = '12px ' + font;
  const module = phase !== 'wait' && a.module !== b.e.name && a.module || '';
  const text = fit(module + (module && ' ') + b.e.name, room);
  if (striped && text) {
    g.fillStyle = colour.background;
    g.fillRect(start - 2, y + 2, g.measureText(text).width + 4, ROW - 6);
  }
  write(text, start, y + ROW / 2 - 1, call || striped ? 'text' : phase + '-ink');
}

function drawArea(a) {
  const right = at(Math.min(last, to));
  g.beginPath();
  g.moveTo(left, a.y + AREA);
  let level = a.y + AREA;
  for (const [t, bytes] of a.points) {
    if (t > to) break;
    const x = Math.max(at(t), left);
    g.lineTo(x, level);
    level = a.y + AREA - (a.most ? bytes / a.most * (AREA - 2) : 0);
    g.lineTo(x, level);
  }
  g.lineTo(right, level);
  g.lineTo(right, a.y + AREA);
  g.globalAlpha = 0.25;
  g.fillStyle = g.strokeStyle = colour.accent;
  g.fill();
  g.globalAlpha = 1;
  g.lineWidth = 1;
  g.stroke();
}

let font = 'sans-serif';
function draw() {
  const width = canvas.parentElement.clientWidth, scale = window.devicePixelRatio || 1;
  layout(width < 600);
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  canvas.width = width * scale;
  canvas.height = height * scale;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  font = getComputedStyle(document.body).fontFamily;
  g.textBaseline = 'middle';
  for (const l of lanes) {
    if (!l.process) continue;
    g.fillStyle = colour.panel;
    g.fillRect(0, l.head, width, HEAD);
    write(l.process, 16, l.head + HEAD / 2, 'text', true);
  }
  drawAxis(width);
  let drawn = 0;
  for (const l of lanes) {
    g.save();
    g.beginPath();
    g.rect(left, l.y, width - left - 16, l.rows * ROW);
    g.clip();
    const pixels = []; // by row: the last one that a box shorter than that is on
    for (const b of l.boxes) {
      if (b.end < from || b.ts > to) continue;
      const x = at(b.ts), w = Math.max(at(b.end) - x, 0.7);
      drawn++;
      if (w < 1 && pixels[b.row] === Math.floor(x * 2) && !wanted) continue;
      pixels[b.row] = Math.floor(x * 2);
      drawBox(b, x, w);
    }
    g.restore();
  }
  for (const a of areas) drawArea(a);
  for (const o of ordered) {
    const most = o.points ? ', at most ' + (o.most / 1048576).toFixed(2) + ' MiB' : '';
    if (left > 100) {
      write(o.name, 16, o.label, 'text', false, left - 24);
      if (most) write(most.slice(2), 16, o.label + 16, 'muted', false, left - 24);
    } else write(o.name + most, 16, o.label, 'muted', false, width - 32);
  }
  const about = over || kept;
  if (about) {
    for (const a of arrows)
      if ([a.s, a.f].some(p => p.lane === about.lane && p.ts >= about.ts && p.ts <= about.end))
        arrow(a);
  }
  if (from === first && to === last) document.body.dataset.boxes = drawn;
}

function boxAt(x, y) {
  const l = lanes.find(q => y >= q.y && y < q.y + q.rows * ROW);
  if (!l || x < left) return null;
  const row = Math.floor((y - l.y) / ROW), slack = (to - from) / canvas.clientWidth * 2;
  const t = timeAt(x);
  let best = null;
  for (const b of l.boxes)
    if (b.row === row && b.ts - slack <= t && b.end + slack >= t)
      if (!best || Math.abs((b.ts + b.end) / 2 - t) < Math.abs((best.ts + best.end) / 2 - t))
        best = b;
  return best;
}

function tell(b, x, y) {
  const tip = document.getElementById('tip');
  tip.style.display = b ? 'block' : 'none';
  if (!b) return;
  tip.style.borderLeftColor = colour[b.e.cat] || colour.other;
  const a = b.e.args, lines = [b.e.name, b.e.cat + ', ' + shown(b.end - b.ts) + ', from '
    + shown(b.ts - first)];
  if (a.class) lines.push((a.module ? a.module + ' ' : '') + a.class);
  if (a.size) lines.push('size ' + a.size.join(' \u00d7 '));
  if (a.bytes) lines.push(a.bytes.toLocaleString('en') + ' bytes');
  if (a.number) lines.push(a.kind + ' ' + a.number + ', queued ' + shown(b.e.ts - a.queued)
    + ' before');
  tip.textContent = lines.join('\n');
  tip.style.left = Math.min(x + 14, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = Math.min(y + 14, innerHeight - tip.offsetHeight - 8) + 'px';
}

function zoom(factor, centre) {
  const length = Math.min(Math.max((to - from) * factor, 0.05), last - first);
  const share = (centre - from) / (to - from);
  from = Math.min(Math.max(centre - share * length, first), last - length);
  to = from + length;
  draw();
}
const middle = () => (from + to) / 2, all = () => { from = first; to = last; draw(); };

function move(time) {
  const length = to - from;
  from = Math.min(Math.max(from + time, first), last - length);
  to = from + length;
  draw();
}

let grip = null;
canvas.addEventListener('wheel', w => {
  const side = w.shiftKey ? w.deltaX || w.deltaY : w.deltaX;
  if (w.ctrlKey || w.metaKey) zoom(Math.exp(w.deltaY * 0.0025), timeAt(w.offsetX));
  else if (w.shiftKey || Math.abs(side) > Math.abs(w.deltaY))
    move(side / (canvas.clientWidth - left) * (to - from));
  else return; // the page scrolls
  w.preventDefault();
}, {passive: false});
canvas.addEventListener('keydown', k => {
  const part = (to - from) / 8;
  const act = {ArrowLeft: () => move(-part), ArrowRight: () => move(part),
    '+': () => zoom(0.5, middle()), '=': () => zoom(0.5, middle()), '-': () => zoom(2, middle()),
    '0': all, Home: all}[k.key];
  if (!act || k.ctrlKey || k.metaKey || k.altKey) return;
  k.preventDefault();
  act();
});
canvas.addEventListener('pointerdown', m => { grip = {x: m.clientX, y: m.clientY}; });
for (const name of ['pointerup', 'pointercancel'])
  window.addEventListener(name, () => { grip = null; });
canvas.addEventListener('pointermove', m => {
  if (grip) {
    const moved = (grip.x - m.clientX) / (canvas.clientWidth - left) * (to - from);
    if (m.pointerType === 'mouse') window.scrollBy(0, grip.y - m.clientY); // a touch does by itself
    grip = {x: m.clientX, y: m.clientY};
    move(moved);
    return;
  }
  const b = boxAt(m.offsetX, m.offsetY);
  if (b !== over) { over = b; draw(); }
  tell(b, m.clientX, m.clientY);
});
canvas.addEventListener('pointerleave', () => { over = null; tell(null); draw(); });
canvas.addEventListener('click', m => {
  kept = boxAt(m.offsetX, m.offsetY);
  tell(kept, m.clientX, m.clientY);
  draw();
});
document.getElementById('in').onclick = () => zoom(0.5, middle());
document.getElementById('out').onclick = () => zoom(2, middle());
document.getElementById('all').onclick = all;
document.getElementById('find').oninput = i => {
  wanted = i.target.value.trim().toLowerCase();
  const list = wanted ? boxes.filter(b => b.e.args.kind !== 'span' && b.text.includes(wanted)) : [];
  const sum = list.reduce((s, b) => s + b.end - b.ts, 0);
  document.getElementById('found').textContent = wanted ? list.length
    + (list.length === 1 ? ' item, ' : ' items, ') + shown(sum) : '';
  draw();
};
window.addEventListener('resize', draw);
const repaint = () => { paint(); draw(); };
window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', repaint);
read();
repaint();
]==]
