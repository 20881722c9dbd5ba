--- dpt.profiler.colours: the colour of each phase, in pages and pictures.
return {
   order = {'broadcast', 'scatter', 'forward', 'gather', 'criterion', 'backward', 'reduce',
      'update', 'other', 'wait'},
   broadcast = '#b07aa1', scatter = '#76b7b2', forward = '#4e79a7', gather = '#86bcb6',
   criterion = '#edc948', backward = '#f28e2b', reduce = '#e15759', update = '#59a14f',
   other = '#9c9c9c', wait = '#dddddd',
}
