--- Shared by all benchmarks: alternating rounds, medians, the table and the last line.
--
-- Invariant: two sides of a ratio are measured alternately in one process, and the median over the
-- rounds is used, so that a slow moment of the machine affects both sides.
local dptffi = require 'dpt.ffi'
local clock, ffi = dptffi.C.dpt_clock, dptffi.ffi

local frame = {}

local function median(list)
   table.sort(list)
   local n = #list
   return n % 2 == 1 and list[(n + 1) / 2] or (list[n / 2] + list[n / 2 + 1]) / 2
end
frame.median = median

--- Returns the seconds of one call of f.
function frame.time(f)
   local from = clock()
   f()
   return clock() - from
end

--- Runs each side once to warm up, then all sides in turn.
-- @param rounds how often @param ... functions
-- @return the median seconds of each
function frame.alternate(rounds, ...)
   local sides = {...}
   local times = {}
   for i, side in ipairs(sides) do
      side()
      times[i] = {}
   end
   for _ = 1, rounds do
      for i, side in ipairs(sides) do table.insert(times[i], frame.time(side)) end
   end
   for i = 1, #sides do times[i] = median(times[i]) end
   return unpack(times)
end

local function machine()
   local cpu = 'unknown'
   for line in io.lines '/proc/cpuinfo' do
      local model = line:match '^model name%s*:%s*(.-)%s*$'
      if model then cpu = model break end
   end
   return ('CPU: %s, %d cores; %s; dpt %s'):format(cpu, dptffi.C.dpt_cores(), jit.version,
      ffi.string(dptffi.C.dpt_version()))
end

--- Prints the versions compared, and the machine.
function frame.head(title, ...)
   print(title)
   print(machine())
   for i = 1, select('#', ...) do print((select(i, ...))) end
   print()
end

--- Prints rows of cells in columns as wide as needed, the first one left-aligned.
function frame.rows(rows)
   local widths = {}
   for _, row in ipairs(rows) do
      for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, #tostring(cell)) end
   end
   for _, row in ipairs(rows) do
      local cells = {}
      for i, cell in ipairs(row) do
         cells[i] = ('%' .. (i == 1 and '-' or '') .. widths[i] .. 's'):format(tostring(cell))
      end
      print(table.concat(cells, '  '))
   end
   print()
end

--- Writes the rows into a page of documentation, between the marks of a command, with text above
-- the table. The rest of the page is unchanged.
function frame.section(path, command, text, rows)
   local first, last = ('<!-- %s -->\n'):format(command), '<!-- end -->'
   local file = assert(io.open(path))
   local page = file:read '*a'
   file:close()
   local _, from = page:find(first, 1, true)
   local to = from and page:find(last, from, true)
   assert(to, path .. ' has no section of ' .. command)
   file = assert(io.open(path, 'w'))
   file:write(page:sub(1, from), text, '\n\n', machine(), '\n\n')
   for i, row in ipairs(rows) do
      local cells = {}
      for k, cell in ipairs(row) do cells[k] = tostring(cell) end
      file:write('| ', table.concat(cells, ' | '), ' |\n')
      if i == 1 then file:write('|', ('---|'):rep(#row), '\n') end
   end
   file:write(page:sub(to))
   file:close()
end

--- Returns true if a shell command exits with status 0, which Lua 5.1 and 5.2 report differently.
function frame.succeeds(command)
   local status = os.execute(command)
   return status == 0 or status == true
end

--- Returns the lines that a shell command prints, as a list.
function frame.lines(command)
   local list, pipe = {}, io.popen(command)
   for line in pipe:lines() do list[#list + 1] = line end
   pipe:close()
   return list
end

--- Compiles C with gcc -O3 and loads it: the speed of a plain loop on this machine.
-- @param source C text @param declarations of the functions called
function frame.c(source, declarations)
   local name = os.tmpname()
   local file = assert(io.open(name .. '.c', 'w'))
   file:write(source)
   file:close()
   local flags = '-O3 -march=native -fopenmp -shared -fPIC'
   assert(frame.succeeds(("gcc %s -o '%s.so' '%s.c'"):format(flags, name, name)), 'gcc failed')
   ffi.cdef(declarations)
   local library = ffi.load(name .. '.so')
   for _, suffix in ipairs{'', '.c', '.so'} do os.remove(name .. suffix) end
   return library
end

--- Returns the version that gcc prints.
function frame.gcc()
   local pipe = io.popen 'gcc --version'
   local line = pipe:read()
   pipe:close()
   return line
end

--- Prints the last lines and ends the process.
-- @param results list of {name, value as text, target as text, ok}
function frame.finish(results)
   local good = true
   for _, result in ipairs(results) do
      local name, value, target, ok = unpack(result)
      print(('%s: %s (target %s) %s'):format(name, value, target, ok and 'ok' or 'short'))
      good = good and ok
   end
   io.stdout:flush()
   os.exit(good and 0 or 1, true)
end

return frame
