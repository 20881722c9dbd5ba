--- dpt.util.gnuplot.quote: quotes a string for gnuplot, on one line.
return function(text) return "'" .. tostring(text):gsub("'", "''"):gsub('\n', ' ') .. "'" end
