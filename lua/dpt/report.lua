--- dpt.report(text, kind): reports something that is no error on stderr.
-- Invariant: one text of each kind (by default the text itself) in a process; workers report
-- nothing.
local reported = {}

return function(text, kind)
   kind = kind or text
   if reported[kind] or rawget(_G, '__threadid') then return end
   reported[kind] = true
   io.stderr:write('dpt: ', text, '\n')
end
