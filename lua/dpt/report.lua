--- dpt.report(text, kind): writes a message that is not an error to stderr.
-- Invariant: a process writes at most one message of each kind (default: the text itself); workers
-- write none.
local reported = {}

return function(text, kind)
   kind = kind or text
   if reported[kind] or rawget(_G, '__threadid') then return end
   reported[kind] = true
   io.stderr:write('dpt: ', text, '\n')
end
