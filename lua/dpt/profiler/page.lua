--- dpt.profiler.page: the page that shows profiles: its text, with marks for what differs.
--
-- Invariant: it loads nothing from elsewhere. Every event with a length is one box, drawn on a
-- canvas, also where it is shorter than a pixel; body's data-boxes is how many boxes the whole time
-- has. What profiles say is put into the page as text only, never as HTML.
return [==[<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title>
<style>
body {margin: 0; font: 13px/1.4 system-ui, sans-serif; color: #222; background: #fff}
header {position: sticky; top: 0; z-index: 2; background: #f6f6f6; border-bottom: 1px solid #ccc;
  padding: 6px 10px; display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center}
header b {font-size: 14px} header button, header input {font: inherit}
.key {display: inline-block; width: 10px; height: 10px; margin-right: 4px; border-radius: 2px}
canvas {display: block; cursor: grab}
#tip {position: fixed; display: none; z-index: 3; max-width: 460px; padding: 6px 8px;
  background: #222; color: #fff; border-radius: 4px; white-space: pre-wrap; pointer-events: none;
  font: 12px/1.4 ui-monospace, monospace}
pre {margin: 0; padding: 8px 10px; overflow-x: auto; font: 12px/1.4 ui-monospace, monospace}
details {border-top: 1px solid #ccc} summary {padding: 6px 10px; cursor: pointer}
</style></head><body>
<header><b>@TITLE@</b><span id="legend"></span>
<input id="find" type="search" placeholder="module, class or name" size="24">
<span id="found"></span>
<button id="in">+</button><button id="out">&minus;</button><button id="all">all</button>
<span>wheel: zoom, drag: move, click: keep</span></header>
<canvas id="lanes"></canvas><div id="tip"></div>
<details open><summary>Summary</summary><pre>@SUMMARY@</pre></details>
<details><summary>Memory</summary><pre>@MEMORY@</pre></details>
@DATA@
<script>
@SCRIPT@</script></body></html>
]==]
