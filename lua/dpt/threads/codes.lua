--- dpt.threads.codes: the codes that follow a `false` in the list of dpt.threads.writer.
local codes = {}
for name in ('NIL FALSE SEEN TABLE OBJECT CUSTOM FUNCTION NAMED CLASS METHODS TENSOR STORAGE '
   .. 'SHARED CDATA'):gmatch '%S+' do
   codes[#codes + 1] = name
   codes[name] = #codes
end
return codes
