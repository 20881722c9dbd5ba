--- dpt.report(text): reports something that is no error on stderr.
-- Invariant: a Lua state reports each text once.
local reported = {}

return function(text)
   if reported[text] then return end
   reported[text] = true
   io.stderr:write('dpt: ', text, '\n')
end
