--- dpt.nn.text: formats a module or criterion as a string: its class and its constructor's
-- arguments.
--
-- Invariant: arguments are read from the object's fields, so files store nothing for them, and a
-- field that a script changed shows its new value. A missing argument, or one of another kind, is
-- omitted. A class that Torch7 formats differently has its own __tostring__.
local torch = require('dpt.class').torch
local signatures = require 'dpt.nn.signatures'
local type = require('dpt.ffi').type

--- Classes that are formatted as their name only, as recorded on Torch7 (spec/golden).
local recorded = {['nn.JoinTable'] = true, ['nn.LookupTable'] = true,
   ['nn.TemporalConvolution'] = true}

--- Fields that may hold a parameter, tried in order after the field of the parameter's name.
local fields = {
   constant = {'constant_scalar'}, max = {'max_val'}, min = {'min_val'}, nDim = {'ndim'},
   nFeatures = {'nfeatures'}, offset = {'index'}, p = {'norm', 'pow'}, scale = {'scale_factor'},
   sizes = {'size'}, th = {'threshold'}, v = {'val'},
}

--- Parameters that are sizes of a tensor: its field, the dimension and a number to add to the size.
local sizes = {
   ['nn.Add'] = {inputSize = {'bias', 1}},
   ['nn.Cosine'] = {inputSize = {'weight', 2}, outputSize = {'weight', 1}},
   ['nn.Euclidean'] = {inputSize = {'weight', 1}, outputSize = {'weight', 2}},
   ['nn.LookupTable'] = {nIndex = {'weight', 1}, nOutput = {'weight', 2}},
}
sizes['nn.LookupTableMaskZero'] = {nIndex = {'weight', 1, -1}, nOutput = {'weight', 2}}
sizes['nn.Embedding'] = {numEmbeddings = {'weight', 1}, embeddingDim = {'weight', 2}}
sizes['nn.EmbeddingBag'] = sizes['nn.Embedding']
sizes['nn.PositionEmbedding'] = {numPositions = {'weight', 1}, dim = {'weight', 2}}
sizes['nn.WeightedEuclidean'] = sizes['nn.Euclidean']

--- Second parameters, shown as `first -> second`.
local results = {outputSize = true, outputFrameSize = true, nOutputPlane = true, nOutput = true,
   embeddingDim = true}

--- Returns true for a parameter that is shown: a number, a string, or a flag of a transposition.
-- `rho` is not shown: its value may be a default that no script passed.
local function isShown(parameter)
   local kind, name = parameter.kind, parameter.name
   return (kind:find 'number' or kind:find 'string') and name ~= 'rho' or name:find '^trans'
      or name == 'permutations'
end

local function numbers(list)
   local words = {}
   for i, value in ipairs(list) do words[i] = tostring(value) end
   return table.concat(words, ', ')
end

--- Formats a parameter's value; returns nil if it is not shown.
local function show(value, name)
   if type(value) == 'number' or type(value) == 'string' or type(value) == 'boolean' then
      return tostring(value)
   elseif torch.isStorage(value) then
      return numbers(value:totable())
   elseif torch.isTensor(value) and value:nElement() == 1 then
      return tostring(value:view(-1)[1])
   elseif type(value) == 'table' and name == 'permutations' and value[1] then
      local words = {}
      for i, pair in ipairs(value) do
         words[i] = type(pair) == 'table' and '{' .. numbers(pair) .. '}' or tostring(pair)
      end
      return table.concat(words, ', ')
   end
end

local function read(self, class, name)
   local size = sizes[class] and sizes[class][name]
   if size then
      local tensor, dim, more = self[size[1]], size[2], size[3] or 0
      return torch.isTensor(tensor) and tensor:dim() >= dim and tostring(tensor:size(dim) + more)
         or nil
   end
   local text = show(self[name], name)
   for _, field in ipairs(fields[name] or {}) do text = text or show(self[field], name) end
   return text
end

--- Returns the name of the class or of its nearest ancestor that has a signature.
local function described(self)
   local methods = getmetatable(self)
   while methods and not signatures.of(methods.__typename) do methods = getmetatable(methods) end
   return methods and methods.__typename
end

--- Returns the class's name, followed in parentheses by the arguments that are numbers or strings.
-- After the first argument that is not shown, each argument follows its parameter's name.
return function(self)
   local class, words, skipped = described(self), {}, false
   local name = torch.type(self)
   if recorded[name] then return name end
   for _, parameter in ipairs(class and signatures.of(class).parameters or {}) do
      local text = isShown(parameter) and read(self, class, parameter.name)
      if not text then
         skipped = true
      elseif skipped then
         words[#words + 1] = parameter.name .. '=' .. text
      elseif #words == 1 and results[parameter.name] then
         words[1] = words[1] .. ' -> ' .. text
      else
         words[#words + 1] = text
      end
   end
   return #words > 0 and name .. '(' .. table.concat(words, ', ') .. ')' or name
end
