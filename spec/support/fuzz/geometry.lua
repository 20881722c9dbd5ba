--- Fuzzes the geometry of layers: kernels, strides, paddings, dilations and sizes, and their state
-- of a forward pass if it is changed before the backward pass.
--
-- Invariant: v[1] is a module, v[2] an input, v[3] the module's last output.
local signatures = require 'dpt.nn.signatures'
local torch = require('dpt').torch
local elements = require 'spec.support.elements'
local values = require 'spec.support.fuzz.values'
local isTensor = values.isTensor

-- Classes whose constructors have numbers of a window, a plane or an index.
local classes = {}
for _, name in ipairs(signatures.names()) do
   local signature, numbers = signatures.of(name), 0
   for _, parameter in ipairs(signature.parameters) do
      if parameter.kind == 'number' then numbers = numbers + 1 end
   end
   if numbers > 0 and signature.arguments and not signature.criterion then
      classes[#classes + 1] = name
   end
end

local odd = {'0', '-1', '0.5', '7', '2^31', '-2^31', '2^32 + 1', '2^62', '0/0', '1/0', '1e9', '-2'}

local function number(random)
   return random(14) == 1 and random(odd) or tostring(random{1, 1, 2, 2, 3, 4})
end

local kind = 'Double'
local kinds, reduced = {'Double', 'Float', 'Cuda', 'CudaDouble'}, {}
for _, name in ipairs(elements.reduced) do
   kinds[#kinds + 1] = elements.onDevice(name)
   reduced[elements.onDevice(name)] = true
end

local texts = {
   tensor = function() return 'torch.ones(3, 3)' end, string = function() return "'CUDNN_LSTM'" end,
   any = values.letters.b, boolean = values.letters.b, storage = values.letters.S,
      table = values.letters.L,
   module = function() return 'nn.SpatialMaxPooling(2, 2)' end,
}

local function made(random)
   local class = random(classes)
   local words = {}
   for i, parameter in ipairs(signatures.of(class).parameters) do
      if parameter.optional and random(3) == 1 then words[i] = 'nil'
      else
         local first = parameter.kind:match '%w+'
         words[i] = texts[first] and texts[first](random) or number(random)
      end
   end
   return ("v[1] = %s(%s):type('torch.%sTensor')"):format(class, table.concat(words, ', '), kind)
end

local function sizes(random)
   local list = {}
   for i = 1, random{1, 2, 2, 3, 3, 4, 4, 4, 5} do
      list[i] = random(15) == 1 and '0' or tostring(random{1, 2, 2, 3, 4, 4, 6, 7, 9})
   end
   return table.concat(list, ', ')
end

-- Uses the number of planes of a module's weight or field, so that more inputs fit.
local function fitting(random, module)
   local planes = type(module) == 'table' and (module.nInputPlane or module.inputFrameSize
      or module.inputSize or module.nInputDims)
   if type(planes) ~= 'number' or planes < 1 or planes > 8 or random(5) == 1 then
      return sizes(random)
   end
   local dims = module.kT and 3 or module.kH and 2 or random{0, 1}
   local list = {random(3)}
   if module.inputFrameSize then return ('%d, %d, %d'):format(random(3), random(9), planes) end
   list[2] = planes
   for _ = 1, dims do list[#list + 1] = random(9) end
   return table.concat(list, ', ')
end

local function input(random, v)
   local shape = fitting(random, v[1])
   local fill = random{':uniform()', ':uniform()', ':random(1, 3)', ':fill(1)', ':fill(0/0)'}
   if reduced[kind] and fill == ':uniform()' then fill = ':fill(0.5)' end
   local text = ('torch.%sTensor(%s)%s'):format(kind, shape, fill)
   if random(6) == 1 then
      text = ('view(%s, function(x) return x:transpose(1, 2) end)'):format(text)
   end
   return 'v[2] = ' .. text
end

local function fieldsOf(value, is)
   local names = {}
   for name, field in pairs(value) do
      if type(name) == 'string' and name:match '^%a[%w_]*$' and is(field) then
         names[#names + 1] = name
      end
   end
   table.sort(names)
   return names
end

local overwritten = {':fill(%s)', ':resize(%s)', ':zero()', ':random(1, 100)', ':fill(-1)',
   ':add(%s)', ':mul(%s)',
   ':set(v[2])', ':t()', ':resizeAs(v[2])'}

-- Changes a number or a tensor of the module, or the input, without the module's knowledge.
local function disturbed(random, v)
   local module = v[1]
   if type(module) ~= 'table' then return input(random, v) end
   local choice = random(5)
   if choice == 1 and isTensor(v[2]) then
      return 'v[2]' .. random(overwritten):format(number(random))
   end
   if choice <= 3 then
      local names = fieldsOf(module, isTensor)
      if #names > 0 then
         local name = random(names)
         if random(6) == 1 then return ('v[1].%s = v[1].%s'):format(name, random(names)) end
         if random(6) == 1 then return ('v[1].%s = v[2]'):format(name) end
         return ('v[1].%s%s'):format(name, random(overwritten):format(random(3) == 1 and random(odd)
            or number(random)))
      end
   end
   local names = fieldsOf(module, function(x) return type(x) == 'number' end)
   if #names > 0 then return ('v[1].%s = %s'):format(random(names), number(random)) end
   return input(random, v)
end

local M = {offers = {view = values.offers.view}}

local rest -- remaining lines of the current layer

local function gradient(random)
   if random(5) == 1 then return ('torch.%sTensor(%s):fill(1)'):format(kind, sizes(random)) end
   return 'v[3]:clone():fill(1)'
end

function M.begin(random)
   rest, kind = 0, random(kinds)
end

function M.line(random, v)
   if rest == 0 or torch.typename(v[1]) == nil then
      rest = 2 + random(10)
      return made(random)
   end
   rest = rest - 1
   local choice = isTensor(v[2]) and random(8) or 1
   if choice == 1 then return input(random, v) end
   if choice <= 3 or not isTensor(v[3]) then return 'v[3] = v[1]:forward(v[2])' end
   if choice <= 5 then return disturbed(random, v) end
   return ('v[1]:%s(v[2], %s)'):format(random{'backward', 'backward', 'updateGradInput',
      'accGradParameters'},
      gradient(random))
end

return M
