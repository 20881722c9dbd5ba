--- Returns the bytes of a file by its path; raises if it does not exist.
return function(path)
   local file = assert(io.open(path, 'rb'))
   local bytes = file:read '*a'
   file:close()
   return bytes
end
