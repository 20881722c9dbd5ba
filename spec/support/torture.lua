--- Returns the number of iterations of a stress test: all with DPT_TORTURE=full, else a tenth.
return function(count)
   if os.getenv 'DPT_TORTURE' == 'full' then return count end
   return math.ceil(count / 10)
end
