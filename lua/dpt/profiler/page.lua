--- dpt.profiler.page: the HTML page that shows profiles, with placeholders for the variable parts.
--
-- Invariant: it loads nothing from elsewhere. Every event with a duration is one box, drawn on a
-- canvas, even if it is shorter than a pixel; body's data-boxes is the number of boxes in the whole
-- time. Text from profiles is inserted as text only, never as HTML. The page is never wider
-- than the window: only tables of text scroll sideways.
return [==[<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #222; background: #fff}
header {position: sticky; top: 0; z-index: 2; background: #f6f6f6; border-bottom: 1px solid #ccc;
  padding: 6px 12px; display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center;
  font-size: 13px}
header button, header input {font: inherit} header button {min-width: 32px; min-height: 28px}
.key {display: inline-block; width: 11px; height: 11px; margin-right: 5px; border-radius: 2px}
canvas {display: block; cursor: grab; touch-action: pan-y}
#tip {position: fixed; display: none; z-index: 3; max-width: min(460px, 90vw); padding: 6px 8px;
  background: #222; color: #fff; border-radius: 4px; white-space: pre-wrap; pointer-events: none;
  font: 12px/1.4 ui-monospace, monospace}
pre {margin: 0; padding: 8px 0; overflow-x: auto; font: 12px/1.4 ui-monospace, monospace}
details {border-top: 1px solid #ccc; padding: 0 12px}
summary {padding: 8px 0; cursor: pointer; font-weight: bold}
details p, details ul {margin: 0 0 8px; max-width: 75em} details ul {padding-left: 20px}
details ul.phases {padding: 0; list-style: none; display: grid; gap: 0 16px;
  grid-template-columns: repeat(auto-fill, minmax(min(370px, 100%), 1fr))}
main {padding: 0 12px 12px; max-width: 50em}
main table {border-collapse: collapse; font-variant-numeric: tabular-nums}
main td, main th {padding: 2px 8px; text-align: right; border-bottom: 1px solid #ddd}
main svg {display: block; width: 100%; max-width: 600px; height: auto}
@media (max-width: 600px) {
  header {position: static} main td, main th {padding: 2px 3px; font-size: 12px}
}
</style></head><body>
@ABOVE@<details open><summary>How to read the timeline</summary>
<p>Time runs from left to right. Each box is one operation, as long as it took, in the colour of its
phase:</p>
<ul class="phases">@PHASES@</ul>
<p>The rows:</p>
<ul>
<li><b>stream 0</b> of a device: the operations that the device ran, one after the other. In a gap
it had nothing to do.</li>
<li><b>copies</b>: data that the device took from other devices.</li>
<li><b>communication</b>: sums of gradients over the devices, beside the backward pass.
<b>collectives</b>: sums and copies between the ranks of a job.</li>
<li><b>Lua thread</b>: the script's calls (pale), which queue the operations; devices run them
later. A call's box is above those of the calls that it made. The optimizer calls the network and
the criterion, so its box is as long as the whole step. <b>waits</b>: the script waited for a
device.</li>
<li><b>live bytes</b>: memory in use.</li>
</ul>
<p>Point at a box, or tap it, for its name, time and size, and for arrows from what it waited for.
Zoom with the wheel or + and &minus;, move by dragging. The field finds operations and adds up their
time.</p></details>
<header><b>@NAME@</b><span>@LEGEND@</span>
<input id="find" type="search" placeholder="module, class or name" size="22">
<span id="found"></span>
<span><button id="in">+</button> <button id="out">&minus;</button>
<button id="all">all</button></span></header>
<canvas id="lanes"></canvas><div id="tip"></div>
<details open><summary>Summary: where the time went</summary>
<p>Times are sums over the devices, in milliseconds (ms). <b>share</b>: of all operations'
time. <b>hidden</b>: the part of copies and sums that ran while some device computed.
<b>own</b>: the module without those inside it; <b>total</b>: with them.</p>
<pre>@SUMMARY@</pre></details>
<details><summary>Memory</summary><pre>@MEMORY@</pre></details>
@DATA@
<script>
@SCRIPT@</script></body></html>
]==]
