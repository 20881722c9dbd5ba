--- golden.lua: runs the cases under cases/ on the loaded `torch` and `nn`, and compares the results
-- with those of the original Torch7 (expected/, recorded on Torch7 of 2017 built on x86-64 with
-- OpenBLAS).
--
--    scripts/dpt spec/golden/golden.lua check [--device] [--file STEM] [--only PATTERN] [--verbose]
--    th golden.lua record                      (on the original only)
--
-- A case file returns a list of {name, types, function(T, g)}:
--   types  string of letters, a tensor type each:
--          F Float  D Double  B Byte  C Char  S Short  I Int  L Long  H Half
--          '-' runs the case once, with T = torch.DoubleTensor; values that were computed in
--          float have float's tolerance
--   T      the tensor constructor, e.g. torch.FloatTensor
--   g      creates inputs that do not depend on any random generator (below)
-- The function returns any number of values: numbers, strings, booleans, tensors, storages, or
-- tables of them. A case that raises is recorded as 'raises'; its message is not compared. A case
-- may set tol, its tolerance. A case or a file with host = true tests host tensors and is skipped
-- with --device.
--
-- --device runs every F, D, H, L, I, B case on device tensors instead of host tensors
-- (torch.CudaTensor for torch.FloatTensor and so on; g.long and g.byte then make device index and
-- mask tensors). --file runs one case file; --verbose prints every failing row with its reason.

local here = arg[0]:match('^(.*)/[^/]*$') or '.'
local names = {F = 'Float', D = 'Double', B = 'Byte', C = 'Char', S = 'Short', I = 'Int',
   L = 'Long', H = 'Half'}
local tolerance = {F = 2e-5, D = 1e-9, H = 2e-3}

-- inputs --------------------------------------------------------------------
local function inputs(letter, constructor, device)
   local g, state = {}, 12345
   local integer = not (letter == 'F' or letter == 'D' or letter == 'H' or letter == '-')
   local function nextUnit() -- a linear congruential generator, in [0, 1)
      state = (state * 1103515245 % 2147483648 + 12345) % 2147483648
      return math.floor(state / 65536) / 32768
   end
   local function fill(tensor, draw)
      if tensor:nElement() == 0 then return tensor end
      local values = {}
      for i = 1, tensor:nElement() do values[i] = draw() end
      local flat = torch.DoubleTensor(values)
      return tensor:copy(flat:resize(tensor:size()))
   end
   --- values in [-1, 1) for real types; integers in [0, 9] for integer types
   function g.rand(...)
      return fill(constructor(...), function()
         local u = nextUnit()
         return integer and math.floor(u * 10) or u * 2 - 1
      end)
   end
   --- values in [low, high)
   function g.uniform(low, high, ...)
      return fill(constructor(...), function()
         local v = low + (high - low) * nextUnit()
         return integer and math.floor(v) or v
      end)
   end
   --- integers low..high in a tensor of the given type (default: T)
   function g.ints(low, high, ...)
      return fill(constructor(...), function()
         return low + math.floor(nextUnit() * (high - low + 1))
      end)
   end
   --- the index and mask tensors that go with T
   g.long = device and torch.CudaLongTensor or torch.LongTensor
   g.byte = device and torch.CudaByteTensor or torch.ByteTensor
   local function shuffled(n)
      local p = {}
      for i = 1, n do p[i] = i end
      for i = n, 2, -1 do
         local j = 1 + math.floor(nextUnit() * i)
         p[i], p[j] = p[j], p[i]
      end
      return p
   end
   --- 1..n in a random order, an index tensor
   function g.perm(n) return g.long(shuffled(n)) end
   --- values no two of which are equal: 1..n shuffled, scaled and shifted for real types
   function g.distinct(...)
      local tensor, i = constructor(...), 0
      local n = tensor:nElement()
      local p = shuffled(n)
      return fill(tensor, function()
         i = i + 1
         return integer and p[i] or (p[i] - n / 2) * 0.375
      end)
   end
   --- a number in [-1, 1)
   function g.number() return nextUnit() * 2 - 1 end
   --- fills the parameters of an nn module, so that no random generator matters
   function g.init(module)
      local params = module:parameters()
      for _, p in ipairs(params or {}) do
         fill(p, function() return (nextUnit() * 2 - 1) * 0.5 end)
      end
      return module
   end
   g.type = constructor
   return g
end

-- values to text and back ------------------------------------------------------
local function number(v)
   if v ~= v then return 'nan' end
   if v == math.huge then return 'inf' elseif v == -math.huge then return '-inf' end
   return string.format('%.17g', v)
end

local function isTensor(v) return torch.isTensor(v) end
local function isStorage(v) return torch.isStorage(v) end

local function encode(v, out, depth)
   depth = depth or 0
   if depth > 6 then out[#out + 1] = 's:"too deep"' return end
   local t = type(v)
   if v == nil then out[#out + 1] = 'z'
   elseif isTensor(v) then
      local c = v:type():find('Cuda') and v:double() or v
      c = c:contiguous():double()
      out[#out + 1] = 't['
      for i = 1, v:dim() do out[#out + 1] = (i > 1 and 'x' or '') .. v:size(i) end
      out[#out + 1] = ':'
      local n = v:nElement()
      if n > 0 then
         local flat = c:view(n)
         for i = 1, n do out[#out + 1] = (i > 1 and ',' or '') .. number(flat[i]) end
      end
      out[#out + 1] = ']'
   elseif isStorage(v) then
      out[#out + 1] = 'S['
      for i = 1, v:size() do out[#out + 1] = (i > 1 and ',' or '') .. number(tonumber(v[i])) end
      out[#out + 1] = ']'
   elseif t == 'number' then out[#out + 1] = 'n[' .. number(v) .. ']'
   elseif t == 'boolean' then out[#out + 1] = v and 'b[true]' or 'b[false]'
   elseif t == 'string' then -- a device type goes by the name of its host type
      v = v:gsub('torch%.Cuda(%u%l+)(%u%l+)', 'torch.%1%2')
      v = v:gsub('torch%.Cuda(%u%l+)', 'torch.Float%1')
      v = v:gsub('[%c%[%]|%%\128-\255]', function(c) return ('%%%02x'):format(c:byte()) end)
      out[#out + 1] = 's[' .. v .. ']'
   elseif t == 'table' then
      out[#out + 1] = '{'
      for i = 1, #v do encode(v[i], out, depth + 1) out[#out + 1] = '|' end
      out[#out + 1] = '}'
   elseif t == 'cdata' and tonumber(v) then out[#out + 1] = 'n[' .. number(tonumber(v)) .. ']'
   else out[#out + 1] = 'o[' .. t .. ']' end
end

local function tokens(text) -- 'x[...]' atoms and the marks between them
   local list = {}
   local i = 1
   while i <= #text do
      local c = text:sub(i, i)
      if c == '{' or c == '}' or c == '|' or c == 'z' or c == ';' then
         list[#list + 1] = {kind = c}
         i = i + 1
      else
         local kind, body, stop = text:match('^(%a)%[([^%]]*)%]()', i)
         if not kind then return nil end
         list[#list + 1] = {kind = kind, body = body}
         i = stop
      end
   end
   return list
end

local function near(a, b, tol)
   if a == b then return true end
   if a == 'nan' or b == 'nan' then return a == b end
   local x, y = tonumber(a), tonumber(b)
   if not x or not y then return false end
   if x == math.huge or y == math.huge or x == -math.huge or y == -math.huge then return x == y end
   return math.abs(x - y) <= tol * math.max(1, math.abs(x), math.abs(y))
end

local cell = require('ffi').new 'float[1]'

--- Whether recorded numbers were computed in float: a float holds each of them, and one is a
-- fraction with more digits (over 16 bits) than what is exact in double has here.
local function computedInFloat(values)
   local long = false
   for text in values:gmatch('[^,]+') do
      local v = tonumber(text)
      cell[0] = v or 0
      if cell[0] ~= v then return false end
      long = long or v % 1 ~= 0 and math.frexp(v) * 65536 % 1 ~= 0
   end
   return long
end

--- @param mixed whether the row names no element type, so that its numbers tell
local function differ(want, got, tol, mixed)
   if want == got then return nil end
   local w, h = tokens(want), tokens(got)
   if not w or not h then return 'unreadable: ' .. got:sub(1, 60) end
   if #w ~= #h then
      return 'structure differs: want ' .. want:sub(1, 80) .. ' got ' .. got:sub(1, 80)
   end
   for i = 1, #w do
      if w[i].kind ~= h[i].kind then
         return 'kind differs: want ' .. w[i].kind .. ' got ' .. h[i].kind
      end
      local a, b = w[i].body, h[i].body
      if a ~= b then
         if w[i].kind == 's' or w[i].kind == 'b' or w[i].kind == 'o' then
            return ('want %s got %s'):format(a, b)
         end
         local ashape, avalues = a:match('^([^:]*):(.*)$')
         local bshape, bvalues = b:match('^([^:]*):(.*)$')
         if w[i].kind == 't' then
            if ashape ~= bshape then
               return ('size differs: want %s got %s'):format(ashape, bshape)
            end
            a, b = avalues, bvalues
         end
         local nextB = b:gmatch('[^,]+')
         local allowed = mixed and computedInFloat(a) and math.max(tol, tolerance.F) or tol
         for x in a:gmatch('[^,]+') do
            local y = nextB()
            if not y or not near(x, y, allowed) then
               return ('value differs: want %s got %s'):format(x, tostring(y))
            end
         end
         if nextB() then return 'more values than wanted' end
      end
   end
end

-- running ------------------------------------------------------------------------
-- Files that the cases make are removed after each.
local temporary, tmpname = {}, os.tmpname
rawset(os, 'tmpname', function()
   local name = tmpname()
   table.insert(temporary, name)
   return name
end)

local function removeFiles()
   for i = #temporary, 1, -1 do os.remove(table.remove(temporary, i)) end
end

local function run(case, letter, device)
   local typeName = letter == '-' and 'Double' or names[letter]
   local constructor
   if device then
      local deviceName = typeName == 'Float' and 'CudaTensor' or 'Cuda' .. typeName .. 'Tensor'
      constructor = torch[deviceName]
   else
      constructor = torch[typeName .. 'Tensor']
   end
   if not constructor then return 'raises' end
   torch.manualSeed(1)
   local results = {pcall(case[3], constructor, inputs(letter, constructor, device))}
   removeFiles()
   if not results[1] then return 'raises', tostring(results[2]) end
   local n = 1
   for k in pairs(results) do if k > n then n = k end end
   local out = {}
   for i = 2, n do
      local ok, why = pcall(encode, results[i], out)
      if not ok then return 'raises', tostring(why) end -- work that was queued has failed
      out[#out + 1] = ';'
   end
   return table.concat(out)
end

local function caseFiles()
   local list = {}
   local pipe = io.popen('ls "' .. here .. '/cases"')
   for line in pipe:lines() do
      local stem = line:match('^(.*)%.lua$')
      if stem then list[#list + 1] = stem end
   end
   pipe:close()
   return list
end

local mode, device, only, file, verbose = arg[1], false, nil, nil, false
for i = 2, #arg do
   if arg[i] == '--device' then device = true
   elseif arg[i] == '--verbose' then verbose = true
   elseif arg[i] == '--only' then only = arg[i + 1]
   elseif arg[i] == '--file' then file = arg[i + 1] end
end
if mode ~= 'record' and mode ~= 'check' then
   io.stderr:write('usage: golden.lua check|record [--device] [--file STEM] [--only PATTERN]'
      .. ' [--verbose]\n')
   os.exit(2)
end
require 'torch'
pcall(require, 'nn')
pcall(require, 'optim')
torch.setdefaulttensortype('torch.DoubleTensor')

--- What is wrong with `text`, nil where it is what the original gave.
local function judge(want, text, why, tol, mixed)
   if text ~= 'raises' and want ~= 'raises' then return differ(want, text, tol, mixed) end
   if text == want then return nil end
   return want == 'raises' and 'should raise' or 'raises: ' .. tostring(why)
end

local function readExpected(stem)
   local expected = {}
   local input, why = io.open(here .. '/expected/' .. stem .. '.tsv')
   if not input then
      if mode == 'check' then error(why, 0) end
      return expected
   end
   for line in input:lines() do
      local key, value = line:match('^([^\t]*)\t(.*)$')
      expected[key] = value
   end
   input:close()
   return expected
end

local skipped = 0

--- Runs the rows of one file; calls report(key, text, why, tol, mixed) for each that is run.
local function runFile(stem, keep, report)
   local cases = dofile(here .. '/cases/' .. stem .. '.lua')
   for _, case in ipairs(cases) do
      for letter in case[2]:gmatch('.') do
         local key = case[1] .. ' ' .. letter
         if only and not (stem .. ': ' .. key):find(only) then
            keep(key)
         elseif device and (case.host or cases.host or not letter:find('[FDHLIB]')) then
            skipped = skipped + 1
         else
            local text, why = run(case, letter, device)
            report(key, text, why, case.tol or tolerance[letter] or 1e-9, letter == '-')
         end
      end
   end
end

local function record(stem)
   local expected, lines = only and readExpected(stem) or {}, {}
   local function keep(key)
      if expected[key] then lines[#lines + 1] = key .. '\t' .. expected[key] end
   end
   runFile(stem, keep, function(key, text, why)
      if why and verbose then print(stem .. ': ' .. key .. ': raises: ' .. why) end
      lines[#lines + 1] = key .. '\t' .. text
   end)
   local output = assert(io.open(here .. '/expected/' .. stem .. '.tsv', 'w'))
   output:write(table.concat(lines, '\n'), '\n')
   output:close()
   print(stem, #lines .. ' recorded')
end

local function check(stem)
   local expected, passed, failed = readExpected(stem), 0, 0
   runFile(stem, function() end, function(key, text, why, tol, mixed)
      if not expected[key] then
         skipped = skipped + 1
         return
      end
      local wrong = judge(expected[key], text, why, tol, mixed)
      if not wrong then
         passed = passed + 1
      else
         failed = failed + 1
         if verbose or only then
            print(('FAIL %s: %s: %s'):format(stem, key, (wrong:gsub('\n', ' '))))
            io.stdout:flush()
         end
      end
   end)
   print(('%-28s %4d of %4d'):format(stem, passed, passed + failed))
   return passed, failed
end

local passed, failed = 0, 0
for _, stem in ipairs(file and {file} or caseFiles()) do
   if mode == 'record' then
      record(stem)
   else
      local p, f = check(stem)
      passed, failed = passed + p, failed + f
   end
end
if mode == 'check' then
   print(('golden: %d passed, %d failed, %d skipped'):format(passed, failed, skipped))
   os.exit(failed == 0 and 0 or 1)
end
