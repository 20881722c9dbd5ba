--- How often a torture repeats itself: a tenth of the whole count, all of it with DPT_TORTURE=full.
return function(count)
   if os.getenv 'DPT_TORTURE' == 'full' then return count end
   return math.ceil(count / 10)
end
