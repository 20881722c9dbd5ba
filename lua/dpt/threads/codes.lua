--- dpt.threads.codes: what stands behind a `false` on the list that dpt.threads.writer describes.
local codes = {}
for name in ('NIL FALSE SEEN TABLE OBJECT CUSTOM FUNCTION NAMED CLASS METHODS TENSOR STORAGE '
   .. 'SHARED CDATA'):gmatch '%S+' do
   codes[#codes + 1] = name
   codes[name] = #codes
end
return codes
