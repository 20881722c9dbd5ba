--- dpt.util.gnuplot.quote: quotes a text for gnuplot, on one line.
return function(text) return "'" .. tostring(text):gsub("'", "''"):gsub('\n', ' ') .. "'" end
