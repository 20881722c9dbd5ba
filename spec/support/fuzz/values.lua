--- Generates arguments as Lua text: valid ones, and ones that a script may pass by mistake.
--
-- Invariant: a text is an expression that creates a value or reads one from `v`. It does not raise
-- by itself, whatever the kind of value in a slot.
local dpt = require 'dpt'
local torch, cutorch = dpt.torch, dpt.cutorch
local elements = require 'spec.support.elements'
local type = require('dpt.ffi').type -- Lua's own

local M = {}

M.devices = cutorch and cutorch.getDeviceCount() or 0
M.elements = elements.all

--- Names of tensor classes without 'torch.' and 'Tensor', on the host and on devices.
M.kinds = {}
for _, name in ipairs(M.elements) do
   M.kinds[#M.kinds + 1] = name
   if M.devices > 0 then M.kinds[#M.kinds + 1] = elements.onDevice(name) end
end

local shapes = {'3', '4', '1', '2, 3', '3, 3', '3, 2', '1, 3', '3, 1', '2, 3, 3', '1, 1', '0',
   '0, 3',
   '2, 1, 3', '4, 4', '2, 2, 2, 2', '5', '17', '2, 0', '1, 2, 1, 3, 1', ''}
local small = {'1', '2', '3', '0', '-1', '0.5', '-2', '4', '1e-3', '100'}
local odd = {'0/0', '1/0', '-1/0', '2^31', '-2^31', '2^31 - 1', '2^32', '2^53', '-2^53', '2^62',
   '2^63',
   '1e308', '-1e308', '5e-324', '-0', '1.5', '-0.5', '1e10', '255', '256', '-129', '65536', '17'}
local strings = {"''", "'float'", "'torch.FloatTensor'", "'torch.CudaTensor'", "'nn.Linear'", "'x'",
   "'1'", "'a,b'", "'V'", "'U'", "'R'", "'N'", "'binary'", "'ascii'", "'\\0'", "'%s%n'", "'weight'",
   "('x'):rep(300)", "'double'", "'sum'", "'/dev/null/file'", "'copy'"}
local others = {'true', 'false', 'nil', '{}', '{1, 2}', '{1, 2, 3}', '{{1, 2}, {3, 4}}',
   '{{1}, {2, 3}}',
   'print', 'function() end', 'function(...) return ... end', "function() error 'x' end",
   'coroutine.create(print)', 'io.stdout', '1LL', '-1LL', '2^62 * 1LL', 'torch.FloatTensor',
   'nn.Linear', 'torch.Generator()', 'torch.Timer()', '{a = 1}', '{1, nil, 3}',
   "require('ffi').new('int[4]')", "require('ffi').new('void *')", 'function(x) return x end',
   'setmetatable({}, {__index = function() return 1 end})'}

--- Returns the slots of v with a value for which is(value) is true.
function M.slots(v, is)
   local list = {}
   for k = 1, 12 do
      if v[k] ~= nil and is(v[k]) then list[#list + 1] = k end
   end
   return list
end

function M.isTensor(value) return type(value) == 'cdata' and torch.isTensor(value) end
function M.isStorage(value) return type(value) == 'cdata' and torch.isStorage(value) end
function M.isModule(value) return type(value) == 'table' and torch.isTypeOf(value, 'nn.Module') end

--- Creates a tensor of a kind ('Float', 'CudaByte').
function M.newTensor(random, kind)
   local shape = random(shapes)
   local text = ('torch.%sTensor(%s)'):format(kind, shape)
   if shape == '' then return text end
   local fill = random(6)
   if fill <= 2 then return text .. ':fill(' .. random(small) .. ')' end
   if fill <= 4 then return text .. (kind:find 'Byte' and ':random(0, 3)' or ':random(1, 3)') end
   if fill == 5 then return text .. ':fill(' .. random(odd) .. ')' end
   return text .. ':zero()'
end

local views = {':t()', ':narrow(1, 1, 1)', ':narrow(1, 2, 1)', ':select(1, 1)', ':transpose(1, 2)',
   ':view(-1)', ':unfold(1, 2, 1)', ':clone()', ':contiguous()', '.new()', ':unsqueeze(1)',
      ':squeeze()',
   ':resize(3)', ':resize(2, 3)', ':clone():zero()', ':clone():t()', ':select(2, 1)',
      ':narrow(2, 1, 1)',
   ':expand(3, 3)', ':double()', ':float()', ':long()', ':byte()'}

--- Returns a tensor: an existing one, a view of it, or a new one of the kind.
function M.tensor(random, v, kind)
   local slots = M.slots(v, M.isTensor)
   local choice = random(10)
   if #slots > 0 and choice <= 6 then return ('v[%d]'):format(random(slots)) end
   if #slots > 0 and choice == 7 then
      -- some views of some tensors raise: then it is the tensor itself
      return ('view(v[%d], function(x) return x%s end)'):format(random(slots), random(views))
   end
   local text = M.newTensor(random, choice == 8 and random(M.kinds) or kind)
   if M.devices > 1 and choice == 9 and random(3) == 1 then
      return ('cutorch.withDevice(%d, function() return %s end)'):format(random(M.devices), text)
   end
   return text
end

--- Functions that the texts above use.
M.offers = {
   view = function(x, f)
      local ok, result = pcall(f, x)
      return ok and result or x
   end,
}

local function onSide(kind, element) return (kind:find '^Cuda' and 'Cuda' or '') .. element end

local function numbers(random, most, n)
   local words = {}
   for i = 1, n or random(4) do words[i] = tostring(random(most)) end
   return table.concat(words, ', ')
end

--- By letter: the parts of argument templates, as f(random, v, kind).
M.letters = {
   x = M.tensor,
   n = function(random) return random(5) == 1 and random(odd) or random(small) end,
   d = function(random) return random{'1', '1', '2', '2', '3', '-1', '0'} end,
   k = function(random) return tostring(random(4)) end,
   i = function(random, _, kind)
      return ('torch.%sTensor{%s}'):format(onSide(kind, 'Long'), numbers(random, 3))
   end,
   I = function(random, _, kind) -- as a matrix
      return ('torch.%sTensor{{%s}, {%s}}'):format(onSide(kind, 'Long'), numbers(random, 3, 2),
         numbers(random, 3, 2))
   end,
   m = function(random, v, kind)
      local slots = M.slots(v, M.isTensor)
      if #slots == 0 then return ('torch.%sTensor{1, 0, 1}'):format(onSide(kind, 'Byte')) end
      return ('v[%d]:gt(%s)'):format(random(slots), random(small))
   end,
   s = function(random) return random(shapes):gsub('^$', '1') end,
   S = function(random) return ('torch.LongStorage{%s}'):format((random(shapes):gsub('^$',
      '1'))) end,
   b = function(random) return random{'true', 'false'} end,
   f = function(random) return random{'function(a, b, c) return a end', 'function() end',
      'function(a) return -a end', "function() error 'x' end", 'print'} end,
   t = function(random) return ("'torch.%sTensor'"):format(random(M.kinds)) end,
   T = function(random, v, kind) -- a list of tensors
      local words = {}
      for i = 1, random(3) do words[i] = M.tensor(random, v, kind) end
      return '{' .. table.concat(words, ', ') .. '}'
   end,
   G = function() return 'torch.Generator()' end,
   w = function(random) return random(strings) end,
   o = function(random, v, kind) -- a storage
      local slots = M.slots(v, M.isStorage)
      if #slots > 0 and random() then return ('v[%d]'):format(random(slots)) end
      return ('torch.%sStorage(%d)'):format(kind, random(8) - 1)
   end,
   D = function(random) return tostring(random(math.max(M.devices, 1))) end,
   M = function(random, v) -- a module
      local slots = M.slots(v, M.isModule)
      if #slots > 0 and random(4) > 1 then return ('v[%d]'):format(random(slots)) end
      return random{'nn.Linear(3, 3)', 'nn.Tanh()', 'nn.Sequential():add(nn.Linear(3, 2))',
         'nn.SpatialConvolution(1, 1, 2, 2)', 'nn.Identity()'}
   end,
   L = function(random) return '{' .. numbers(random, 4) .. '}' end,
   W = function(random, v, kind) return M.wild(random, v, kind) end,
}

--- Returns a value of any kind.
function M.wild(random, v, kind)
   local choice = random(12)
   if choice <= 3 then return M.tensor(random, v, random(M.kinds)) end
   if choice <= 5 then return random(odd) end
   if choice == 6 then return random(small) end
   if choice == 7 then return random(strings) end
   if choice == 8 then return ('v[%d]'):format(random(12)) end
   if choice == 9 then return M.letters[random{'o', 'S', 'T', 'M', 'i', 'm', 'L'}](random, v,
      kind) end
   return random(others)
end

--- Returns arguments for a template such as 'x n d'; sometimes wild ones, too few or too many.
function M.arguments(random, v, kind, template)
   local list = {}
   if template then
      for letter in template:gmatch '%a' do
         list[#list + 1] = M.letters[letter](random, v, kind)
      end
      local change = random(8)
      if change == 1 and #list > 0 then list[random(#list)] = M.wild(random, v, kind) end
      if change == 2 then list[#list] = random() and 'nil' or nil end
      if change == 3 then list[#list + 1] = M.wild(random, v, kind) end
   end
   if not template or random(12) == 1 then
      for i = 1, random(6) - 1 do list[i] = M.wild(random, v, kind) end
   end
   return table.concat(list, ', ')
end

return M
