--- dpt.profiler.page_script: the script of the page that shows profiles (dpt.profiler.page).
--
-- Invariant: `lanes`, `boxes`, `arrows` and `areas` are built once, by read(); draw() shows them
-- between the times `from` and `to`. A box that is shorter than half a pixel is not drawn over
-- another one of its row, but is counted. Text from profiles reaches the page only by textContent
-- and fillText.
return [==[
'use strict';
const colours = @COLOURS@, ROW = 18, GAP = 5, AXIS = 22, AREA = 36;
const lanes = [], boxes = [], arrows = [], areas = [], processes = new Map(), byId = new Map();
let left; // of the boxes: the rows' names are before it
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
  list.sort((a, b) => a.pid - b.pid || a.tid - b.tid);
  let y = AXIS, pid = null;
  const course = p => {
    const points = processes.get('C' + p);
    if (!points) return;
    areas.push({points: points.sort((a, b) => a[0] - b[0]), y: y, most:
      Math.max(...points.map(q => q[1]))});
    y += AREA + GAP;
  };
  for (const l of list) {
    if (l.pid !== pid) {
      if (pid !== null) course(pid);
      y += ROW + GAP;
      pid = l.pid;
      l.process = processes.get(pid) || 'process ' + pid;
    }
    l.boxes.sort((a, b) => a.ts - b.ts || b.end - a.end);
    const open = [];
    for (const b of l.boxes) { // below the box that it is inside of
      while (open.length && open[open.length - 1].end <= b.ts + 1e-3) open.pop();
      b.row = Math.min(open.length, 11);
      l.rows = Math.max(l.rows, b.row + 1);
      open.push(b);
    }
    l.y = y;
    y += l.rows * ROW + GAP;
    lanes.push(l);
  }
  if (pid !== null) course(pid);
  height = y + GAP;
  for (const a of byId.values()) if (a.s && a.f) arrows.push(a);
  from = first;
  to = last;
}

const canvas = document.getElementById('lanes'), g = canvas.getContext('2d');
const at = time => left + (time - from) / (to - from) * (canvas.clientWidth - left - 8);
const timeAt = x => from + (x - left) / (canvas.clientWidth - left - 8) * (to - from);
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

function arrow(a) {
  const row = p => {
    const b = p.lane.boxes.find(q => q.ts <= p.ts && q.end >= p.ts);
    return p.lane.y + (b ? b.row : 0) * ROW + ROW / 2;
  };
  const x = at(a.s.ts), y = row(a.s), u = at(a.f.ts), v = row(a.f);
  g.strokeStyle = '#222';
  g.beginPath();
  g.moveTo(x, y);
  g.bezierCurveTo(x + 30, y, u - 30, v, u, v);
  g.stroke();
  g.fillStyle = '#222';
  g.beginPath();
  g.moveTo(u, v); g.lineTo(u - 6, v - 3); g.lineTo(u - 6, v + 3);
  g.fill();
}

function draw() {
  const width = document.documentElement.clientWidth, scale = window.devicePixelRatio || 1;
  left = width < 600 ? 128 : 170;
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  canvas.width = width * scale;
  canvas.height = height * scale;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  g.font = '12px system-ui, sans-serif';
  g.textBaseline = 'middle';
  g.fillStyle = '#444';
  g.fillText('time', 8, AXIS / 2);
  const step = nice((to - from) / Math.max(2, (width - left) / 110));
  for (let t = Math.ceil((from - first) / step) * step + first; t <= to; t += step) {
    g.fillStyle = '#eee';
    g.fillRect(at(t), AXIS, 1, height);
    g.fillStyle = '#444';
    if (at(t) + 50 < width) g.fillText(tick(t - first, step), at(t) + 3, AXIS / 2);
  }
  let drawn = 0;
  for (const l of lanes) {
    g.save();
    g.beginPath();
    g.rect(left, l.y, width - left, l.rows * ROW);
    g.clip();
    const pixels = []; // by row: the last one that a box shorter than that is on
    for (const b of l.boxes) {
      if (b.end < from || b.ts > to) continue;
      const x = at(b.ts), w = Math.max(at(b.end) - x, 0.7), y = yOf(b);
      drawn++;
      if (w < 1 && pixels[b.row] === Math.floor(x * 2) && !wanted) continue;
      pixels[b.row] = Math.floor(x * 2);
      const dim = wanted && !b.text.includes(wanted);
      const call = b.e.args.kind === 'span'; // pale, over a line
      g.fillStyle = colours[b.e.cat] || colours.other;
      g.globalAlpha = dim ? 0.15 : call ? 0.3 : 1;
      g.fillRect(x, y, w, ROW - 2);
      if (call && !dim) {
        g.globalAlpha = 1;
        g.fillRect(x, y + ROW - 4, w, 2);
      }
      if (b === kept || b === over) {
        g.strokeStyle = '#000';
        g.strokeRect(x, y + 0.5, w, ROW - 3);
      }
      if (w > 34 && !dim) {
        g.save();
        g.beginPath();
        g.rect(x, y, w - 2, ROW);
        g.clip();
        g.fillStyle = colours.text;
        const module = b.e.args.module;
        g.fillText((module && b.e.cat !== 'wait' ? module + ' ' : '') + b.e.name,
          Math.max(x, left) + 3, y + ROW / 2 - 1);
        g.restore();
      }
    }
    g.restore();
    g.globalAlpha = 1;
    g.fillStyle = '#222';
    if (l.process) {
      g.font = 'bold 13px system-ui, sans-serif';
      g.fillText(l.process, 8, l.y - ROW / 2 - 1);
      g.font = '12px system-ui, sans-serif';
    }
    g.fillText(l.name, 8, l.y + ROW / 2 - 1, left - 12);
  }
  for (const a of areas) {
    g.fillStyle = '#222';
    g.fillText('live bytes', 8, a.y + 9);
    g.fillText('max ' + (a.most / 1048576).toFixed(2) + ' MiB', 8, a.y + 24);
    g.fillStyle = '#cfe0ef';
    a.points.forEach(([t, bytes], i) => {
      const x = Math.max(at(t), left);
      const u = i + 1 < a.points.length ? at(a.points[i + 1][0]) : at(last);
      const h = a.most ? bytes / a.most * AREA : 0;
      if (u >= left) g.fillRect(x, a.y + AREA - h, Math.max(u - x, 0.5), h);
    });
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
  const a = b.e.args, lines = [b.e.name, b.e.cat + ', ' + shown(b.end - b.ts) + ', from '
    + shown(b.ts - first)];
  if (a.class) lines.push((a.module ? a.module + ' ' : '') + a.class);
  if (a.size) lines.push('size ' + a.size.join(' x '));
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
const middle = () => (from + to) / 2;

let grip = null;
canvas.addEventListener('wheel', w => {
  if (w.shiftKey) return;
  w.preventDefault();
  zoom(Math.exp(w.deltaY * 0.0015), timeAt(w.offsetX));
}, {passive: false});
canvas.addEventListener('pointerdown', m => { grip = {x: m.clientX, y: m.clientY}; });
for (const name of ['pointerup', 'pointercancel'])
  window.addEventListener(name, () => { grip = null; });
canvas.addEventListener('pointermove', m => {
  if (grip) {
    const length = to - from, moved = (grip.x - m.clientX) / (canvas.clientWidth - left) * length;
    from = Math.min(Math.max(from + moved, first), last - length);
    to = from + length;
    if (m.pointerType === 'mouse') window.scrollBy(0, grip.y - m.clientY); // a touch does by itself
    grip = {x: m.clientX, y: m.clientY};
    draw();
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
document.getElementById('all').onclick = () => { from = first; to = last; draw(); };
document.getElementById('find').oninput = i => {
  wanted = i.target.value.trim().toLowerCase();
  const list = wanted ? boxes.filter(b => b.e.args.kind !== 'span' && b.text.includes(wanted)) : [];
  const sum = list.reduce((s, b) => s + b.end - b.ts, 0);
  document.getElementById('found').textContent = wanted ? list.length + ' items, ' + shown(sum)
    : '';
  draw();
};
window.addEventListener('resize', draw);
read();
draw();
]==]
