--- dpt.profiler.colours: the colour and the meaning of each phase, in pages and pictures.
--
-- Invariant: the colours are distinguishable side by side, and dark text is legible on each of
-- them.
return {
   order = {'broadcast', 'scatter', 'forward', 'gather', 'criterion', 'backward', 'reduce',
      'update', 'other', 'wait'},
   text = '#111111', -- on boxes
   broadcast = '#b07aa1', scatter = '#63bcb9', forward = '#5b8ec4', gather = '#c9975c',
   criterion = '#edc948', backward = '#f28e2b', reduce = '#e15759', update = '#59a14f',
   other = '#9c9c9c', wait = '#dddddd',
   meanings = {
      broadcast = 'parameters are copied to the other devices',
      scatter = 'each device gets its part of the batch',
      forward = 'layers compute their outputs',
      gather = 'outputs are copied to one device',
      criterion = 'the loss and its gradient',
      backward = 'layers compute gradients',
      reduce = 'gradients are summed over devices',
      update = 'the optimizer changes the parameters',
      other = 'work of no phase',
      wait = 'waiting for another stream or device',
   },
}
