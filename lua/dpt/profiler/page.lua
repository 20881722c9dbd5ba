--- dpt.profiler.page: the HTML page that shows profiles, with placeholders for the variable parts.
--
-- Invariant: it loads nothing from elsewhere. Every event with a duration is one box, drawn on a
-- canvas, even if it is shorter than a pixel; body's data-boxes is the number of boxes in the whole
-- time. Text from profiles is inserted as text only, never as HTML. All colours are variables of
-- dpt.profiler.colours, in a light and a dark theme. The page is never wider than the window: only
-- tables scroll sideways, inside their frames.
return [==[<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
:root {color-scheme: light; @LIGHT@}
@media (prefers-color-scheme: dark) {:root {color-scheme: dark; @DARK@}}
* {box-sizing: border-box}
body {margin: 0 auto; max-width: 1600px; padding: 32px clamp(16px, 3vw, 40px) 64px;
  color: var(--text);
  background: var(--background); font: 16px/1.55 system-ui, -apple-system,
  "Segoe UI", Roboto, "Noto Sans", Helvetica, Arial, sans-serif; font-variant-numeric: tabular-nums}
h1, h2, h3 {line-height: 1.25; letter-spacing: -0.01em; text-wrap: balance; overflow-wrap: anywhere}
h1 {font-size: clamp(26px, 4vw, 34px); font-weight: 700; margin: 0 0 12px}
h2 {font-size: 22px; font-weight: 650; margin: 48px 0 8px}
h3 {font-size: 16px; font-weight: 650; margin: 0 0 8px}
.next {margin-top: 32px}
p {max-width: 44em; margin: 0 0 12px; text-wrap: pretty}
.lede {font-size: 18px; color: var(--muted)} .lede b {color: var(--text); font-weight: 650}
figure {margin: 0} .note {color: var(--muted)}
figcaption, .note {font-size: 14px; line-height: 1.5; max-width: 60em; margin: 10px 0 0}
:focus-visible {outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px}
.key {display: inline-block; flex: none; width: 12px; height: 12px; border-radius: 3px}
.key.wait {border: 1px solid var(--wait);
  background: repeating-linear-gradient(135deg, var(--wait) 0 2px, var(--background) 2px 4px)}
.bar {display: flex; flex-wrap: wrap; gap: 8px 16px; align-items: center;
  justify-content: space-between; padding: 10px 12px; font-size: 14px; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px 8px 0 0; position: sticky; top: 0; z-index: 1}
.bar ul {display: flex; flex-wrap: wrap; gap: 4px 14px; margin: 0; padding: 0; list-style: none}
.bar li {display: flex; gap: 6px; align-items: center}
.tools {display: flex; flex-wrap: wrap; gap: 6px; align-items: center}
button, input {font: inherit; color: inherit; background: var(--background);
  border: 1px solid var(--muted); border-radius: 6px; min-height: 32px; padding: 2px 10px}
button {min-width: 34px; cursor: pointer} button:hover {background: var(--line)}
input {width: 15em; max-width: 100%} input::placeholder {color: var(--muted); opacity: 1}
.frame {border: 1px solid var(--line); border-top: 0; border-radius: 0 0 8px 8px; overflow: hidden}
canvas {display: block; cursor: grab; touch-action: pan-y}
canvas:active {cursor: grabbing} canvas:focus-visible {outline-offset: -2px}
#tip {position: fixed; display: none; z-index: 2; max-width: min(420px, 90vw); padding: 8px 12px;
  font-size: 13px; line-height: 1.5; white-space: pre-wrap; pointer-events: none;
  overflow-wrap: anywhere; background: var(--background); border: 1px solid var(--muted);
  border-left-width: 5px; border-radius: 6px; box-shadow: 0 4px 16px #0004}
#tip::first-line {font-weight: 650}
dl {margin: 0; font-size: 15px; line-height: 1.5} dt {font-weight: 650}
dd {margin: 0; color: var(--muted)} dt .key {margin-right: 8px}
.columns {display: grid; gap: 0 48px; align-items: start; grid-template-columns: minmax(0, 1fr)}
.columns.many {grid-template-columns: repeat(auto-fit, minmax(min(320px, 100%), 1fr))}
.columns > * {min-width: 0; margin-top: 24px}
.rows {columns: 300px; column-gap: 48px} .rows div {break-inside: avoid; padding-bottom: 8px}
.phases {display: grid; grid-template-columns: max-content 1fr; gap: 6px 16px}
.scroll {overflow-x: auto; --edge: var(--background) 24px, transparent 48px;
  background: linear-gradient(90deg, var(--edge)) local, linear-gradient(270deg, var(--edge)) local,
    linear-gradient(90deg, var(--line), transparent 12px),
    linear-gradient(270deg, var(--line), transparent 12px)} /* a shade where more is */
table {border-collapse: collapse; width: 100%; font-size: 14px; line-height: 1.4}
th, td {padding: 6px 0 6px 16px; text-align: right; white-space: nowrap;
  border-bottom: 1px solid var(--line)}
th {font-weight: 600; color: var(--muted); vertical-align: bottom}
th {white-space: normal} th:first-child, td:first-child {padding-left: 0}
.word {text-align: left} td .key {margin-right: 8px}
td[style] {background: linear-gradient(var(--accent), var(--accent)) right 0 bottom 0 /
  var(--share) 3px no-repeat}
details {margin-top: 48px; border-top: 1px solid var(--line)}
details summary {padding: 12px 0; cursor: pointer; font-size: 22px; font-weight: 650}
.warning {padding: 8px 14px; border-left: 4px solid var(--backward); background: var(--panel)}
.hidden {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)}
@media (min-width: 1300px) {.columns {grid-template-columns: minmax(0, 5fr) minmax(0, 8fr)}}
@media (max-width: 600px) {
  body {padding-top: 20px} .lede {font-size: 17px} h2 {margin-top: 36px}
  .bar, .frame {border-radius: 0; border-width: 1px 0; margin: 0 -16px}
  .bar {position: static; font-size: 13px; padding: 10px 16px}
  .tools, .tools label {width: 100%} input {width: 100%; font-size: 16px}
  th, td {padding-left: 10px} table {font-size: 13px} button {min-height: 40px; min-width: 44px}
}
</style></head><body>
@ABOVE@
<section>
<p class="lede">@LEDE@</p>
<figure>
<div class="bar"><ul aria-label="Phases">@LEGEND@</ul>
<div class="tools"><output id="found"></output>
<label><span class="hidden">Find operations by module, class or name</span>
<input id="find" type="search" placeholder="module, class or name"></label>
<button id="in" aria-label="Zoom in">+</button>
<button id="out" aria-label="Zoom out">&minus;</button>
<button id="all">Show all</button></div></div>
<div class="frame"><canvas id="lanes" tabindex="0" role="img" aria-label="Timeline of the
operations. The tables below sum up their times."></canvas></div>
<figcaption>Each row is a stream of a device, and each box an operation: as long as it took, in the
colour of its phase. Look for gaps, in which the device had nothing to do, and for <b>reduce</b>:
sums beside the backward pass are hidden, sums after it lengthen the step.</figcaption>
</figure>
<p class="note">Point at a box or tap it for its name, time and size, and for arrows from what it
waited for. Zoom with Ctrl and the wheel, the buttons or the keys + and &minus;; move by dragging or
with the arrow keys. The field finds operations and adds up their time.</p></section>
<section><h2>How to read the timeline</h2>
<div class="columns">
<div><h3>Colours: the phases of a step</h3><dl class="phases">@PHASES@</dl></div>
<div><h3>Rows</h3><dl class="rows">
<div><dt>stream 0</dt>
<dd>The operations that a device ran, one after the other.</dd></div>
<div><dt>copies</dt>
<dd>Data that the device took from other devices.</dd></div>
<div><dt>communication</dt>
<dd>Sums of gradients over the devices, beside the backward pass.</dd></div>
<div><dt>collectives</dt>
<dd>Sums and copies between the ranks of a job.</dd></div>
<div><dt>live bytes</dt>
<dd>Memory in use.</dd></div>
<div><dt>Lua thread</dt>
<dd>The script's calls, pale and underlined: they queue operations, which devices
run later. A call is above those that it made. The optimizer calls the network and the criterion, so
its call is as long as the whole step.</dd></div>
<div><dt>waits</dt>
<dd>The script waited for a device.</dd></div>
</dl></div></div></section>
<section><h2>Sums of the time</h2>
<p>Times are sums over the devices, in milliseconds. Look for the phase and the module with the
largest share, and for idle devices.</p>
<div class="columns">
<div><h3>By phase</h3>@BYPHASE@
<p class="note"><b>share</b>: of the time of all operations. <b>hidden</b>: the part of copies and
sums that ran while some device computed.</p>
<h3 class="next">By device</h3>@BYDEVICE@
<p class="note"><b>idle</b>: the time in which no stream of the device ran an operation.</p></div>
<div><h3>By module</h3>@BYMODULE@
<p class="note"><b>own</b>: the module without those inside it. <b>total</b>: with them.
<b>forward</b> and <b>backward</b> are parts of its own time.</p></div></div></section>
@MEMORY@
<div id="tip"></div>
@DATA@
<script>
@SCRIPT@</script></body></html>
]==]
