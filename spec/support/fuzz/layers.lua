--- Fuzzes modules and criterions: constructors, forward and backward, and their other methods, with
-- fields modified between the calls.
--
-- Invariant: every class of nn and cudnn is covered: those of spec.support.catalogue and
-- spec.support.criterions with batches that fit, all of them by their constructors.
local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn
local catalogue = require 'spec.support.catalogue'
local criterions = require 'spec.support.criterions'
local signatures = require 'dpt.nn.signatures'
local values = require 'spec.support.fuzz.values'
local type = require('dpt.ffi').type -- Lua's own

local byName, classes = {}, {}
for i, case in ipairs(catalogue) do byName['nn.' .. case.name] = i end
for prefix, package_ in pairs{nn = nn, cudnn = cudnn or {}} do
   for name, value in pairs(package_) do
      if type(value) == 'table' and type(name) == 'string'
         and torch.getmetatable(prefix .. '.' .. name)
         and name ~= 'PrintSize' then -- prints
         classes[#classes + 1] = prefix .. '.' .. name
      end
   end
end
table.sort(classes)

local function convert(value, typename)
   if type(value) == 'table' then
      local list = {}
      for k, entry in pairs(value) do list[k] = convert(entry, typename) end
      return list
   end
   if not values.isTensor(value) then return value end
   local whole = value:type():match '^torch%.(%w+)Tensor$' -- indices and masks keep their type
   if whole == 'Double' then return value:type(typename) end
   return typename:find 'Cuda' and value:type('torch.Cuda' .. whole .. 'Tensor') or value
end

local function filled(value, number)
   if values.isTensor(value) then return value:clone():fill(number) end
   local list = {}
   for k, entry in pairs(type(value) == 'table' and value or {}) do
      list[k] = filled(entry, number)
   end
   return list
end

local M = {tampers = true, offers = {
   view = values.offers.view,
   --- Return module number i of the catalogue, and a batch for it.
   module = function(i, typename) return catalogue[i].make():type(typename) end,
   input = function(i, rows, typename) return convert(catalogue[i].input(rows), typename) end,
   criterion = function(i, typename) return criterions[i].make():type(typename) end,
   values = function(i, rows, typename) return convert(criterions[i].input(rows), typename) end,
   target = function(i, rows, typename)
      return criterions[i].target and convert(criterions[i].target(rows), typename)
   end,
   --- Returns a value of the same structure, filled with a number.
   like = filled,
   print = function() end,
}}

local kind = 'Double'
local types = {'torch.DoubleTensor', 'torch.FloatTensor', 'torch.CudaTensor',
   'torch.CudaDoubleTensor'}

local function isModule(value)
   return type(value) == 'table' and (torch.isTypeOf(value, 'nn.Module')
      or torch.isTypeOf(value, 'nn.Criterion'))
end

local function typeOf(random, value)
   local ok, name = pcall(value.type, value)
   return ok and type(name) == 'string' and values.isTensor(value.output) and name or random(types)
end

local texts = { -- by kind of parameter
   number = function(random)
      return random(12) == 1 and values.letters.n(random) or tostring(random(4))
   end,
   tensor = values.tensor, module = values.letters.M,
   criterion = function() return 'nn.MSECriterion()' end,
   storage = values.letters.S, string = values.letters.w, boolean = values.letters.b,
   table = values.letters.T,
   any = function(random, v)
      return random() and values.letters.b(random) or values.wild(random, v, kind)
   end,
}

local function made(random, v)
   if random(3) > 1 then
      return ("module(%d, '%s')"):format(random(#catalogue), random(types))
   end
   local class = random(classes)
   local signature, words = signatures.of(class), {}
   for i, parameter in ipairs(signature and signature.parameters or {}) do
      if not parameter.optional or random() then
         words[i] = texts[random({parameter.kind:match '(%w+)|?(%w*)'})
            or 'number']
         words[i] = (words[i] or texts.number)(random, v, kind)
      else
         words[i] = 'nil'
      end
   end
   if not signature or random(8) == 1 then
      for i = 1, random(4) - 1 do words[i] = values.wild(random, v, kind) end
   end
   return ('%s(%s)'):format(class, table.concat(words, ', '))
end

local function pick(random, v)
   local slots = values.slots(v, isModule)
   return #slots > 0 and random(slots)
end

local function inputOf(random, v, k)
   local i = byName[torch.typename(v[k])]
   if i and random(8) > 1 then
      return ("input(%d, %d, '%s')"):format(i, random(4), typeOf(random, v[k]))
   end
   return random(4) == 1 and values.wild(random, v, kind) or values.tensor(random, v, kind)
end

local function gradOf(random, v, k)
   if random(6) == 1 then return values.wild(random, v, kind) end
   return ('like(v[%d].output, %s)'):format(k, random{'1', '0.5', '-2', '1e30', '0/0'})
end

local passes = {'forward', 'forward', 'updateOutput', 'backward', 'updateGradInput',
   'accGradParameters'}

local function pass(random, v, k)
   if torch.isTypeOf(v[k], 'nn.Criterion') then
      local i = random(#criterions)
      return ("local c = criterion(%d, '%s') %s"):format(i, kind == 'Cuda' and 'torch.CudaTensor'
         or 'torch.DoubleTensor', random()
            and ("c:forward(values(%d, 3, c:type()), target(%d, 3, c:type()))")
         :format(i, i) or ('c:backward(%s, %s)'):format(values.tensor(random, v, kind),
         random() and values.wild(random, v, kind) or values.tensor(random, v, kind)))
   end
   local name = random(passes)
   if name == 'forward' or name == 'updateOutput' then
      return ('v[%d]:%s(%s)'):format(k, name, inputOf(random, v, k))
   end
   -- only the input of the last forward fits
   return ('local m, x = v[%d], %s%s m:%s(x, %s%s)'):format(k, inputOf(random, v, k),
      random(6) > 1 and ' m:forward(x)' or '', name, gradOf(random, v, k),
      random(3) == 1 and ', ' .. values.letters.n(random) or '')
end

-- Sets a field to another value, changes an element of a field's tensor, or its size.
local function tampered(random, v, k)
   local fields = {}
   for name in pairs(v[k]) do
      if type(name) == 'string' and name:match '^[%a_][%w_]*$' then fields[#fields + 1] = name end
   end
   table.sort(fields)
   if #fields == 0 then return ('v[%d] = nil'):format(k) end
   local field = ('v[%d].%s'):format(k, random(fields))
   local choice = random(6)
   if choice == 1 then return field .. ':resize(' .. values.letters.s(random) .. ')' end
   if choice == 2 then return field .. ':fill(' .. values.letters.n(random) .. ')' end
   if choice == 3 then return field .. ' = ' .. values.tensor(random, v, kind) end
   if choice == 4 then return field .. ' = ' .. values.letters.n(random) end
   if choice == 5 then return ('%s = v[%d].%s'):format(field, k, random(fields)) end
   return field .. ' = ' .. values.wild(random, v, kind)
end

local function methodsOf(value)
   local seen, list = {}, {}
   local class = getmetatable(value)
   while type(class) == 'table' and class.__typename do
      for name, f in pairs(class) do
         if type(f) == 'function' and not name:find '^_' and not seen[name] then
            seen[name] = true
            list[#list + 1] = name
         end
      end
      class = getmetatable(class)
   end
   table.sort(list)
   return list
end

local forms = {'', '', 'x', 'x x', 'x x n', 't', 'M', 'M w', 'k', 'n', 'f', 'w', 'M L', 'b', 'T',
   'T T', 'W', 'W W'}

local function method(random, v, k)
   local list = methodsOf(v[k])
   if #list == 0 then return ('v[%d] = nil'):format(k) end
   local text = ('v[%d]:%s(%s)'):format(k, random(list), values.arguments(random, v, kind,
      random(forms)))
   if random(3) == 1 then return ('v[%d] = %s'):format(random(12), text) end
   return 'local x = ' .. text
end

local function parallel(random, _, k)
   local devices = random{'1', '1, 2', '2, 1', '3, 1, 2', 'v', '0'}
   return ('v[%d] = nn.DataParallelTable(1, %s, %s):add(v[%d]:clone():cuda(), {%s})')
      :format(random(12), values.letters.b(random), values.letters.b(random), k, devices)
end

local families = {pass, pass, pass, pass, pass, pass, tampered, tampered, method, method, method}

function M.begin(random) kind = random{'Double', 'Float', 'Cuda', 'CudaDouble'} end

function M.line(random, v)
   local k = pick(random, v)
   local choice = random(6)
   if not k or choice == 1 then return ('v[%d] = %s'):format(random(12), made(random, v)) end
   if choice == 2 and random(3) == 1 then
      return ('v[%d] = %s'):format(random(12), values.newTensor(random, kind))
   end
   if choice == 3 and random(10) == 1 then return parallel(random, v, k) end
   return random(families)(random, v, k)
end

return M
