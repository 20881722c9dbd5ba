--- The bytes of a file, by its path; raises if there is none.
return function(path)
   local file = assert(io.open(path, 'rb'))
   local bytes = file:read '*a'
   file:close()
   return bytes
end
