--- dpt.util.gnuplot.quote: a text in gnuplot's quotes, on one line.
return function(text) return "'" .. tostring(text):gsub("'", "''"):gsub('\n', ' ') .. "'" end
