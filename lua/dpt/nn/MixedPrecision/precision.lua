--- dpt.nn.MixedPrecision.precision: the precision in which modules of each class work, and the
-- insertion of conversions around modules that stay in float.
--
-- Invariant: a class has the precision of its nearest ancestor in the table. Modules that are not
-- containers and have no entry stay in float; so do classes of scripts, unless they derive from a
-- class in the table or the script lists them.
local torch = require 'dpt.tensor'
local Float = require 'dpt.nn.MixedPrecision.Float'
local child = require 'dpt.nn.child'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local M = {}

local NAME = 'nn.MixedPrecision'

--- Precisions: reduced: 16-bit parameters and activations, float gradients of parameters;
-- parameters: 16-bit activations, float parameters and statistics; float.
local lists = {
   reduced = [[
      Container
      JoinTable SplitTable SelectTable NarrowTable FlattenTable ZipTable ZipTableOneToMany
      CAddTable CAddTensorTable CSubTable CMulTable CDivTable CMaxTable CMinTable
      Identity Contiguous View Reshape Narrow Select Transpose Replicate Squeeze Unsqueeze Padding
      Index MaskedSelect Collapse PixelShuffle Constant Max Min
      Linear Bilinear LookupTable OneHot Add Mul CMul CAdd AddConstant MulConstant MM MV
      Abs HardTanh HardShrink SoftShrink SoftSign Sigmoid Tanh TanhShrink Threshold PReLU RReLU ELU
      GELU SiLU LeakyReLU GatedLinearUnit GradientReversal Dropout WhiteNoise
      SpatialConvolution SpatialDepthWiseConvolution SpatialSubSampling
      TemporalConvolution TemporalRowConvolution TemporalSubSampling VolumetricConvolution
      SpatialMaxPooling SpatialMaxUnpooling SpatialAveragePooling SpatialAdaptiveMaxPooling
      SpatialAdaptiveAveragePooling SpatialFractionalMaxPooling TemporalMaxPooling
      VolumetricMaxUnpooling VolumetricAveragePooling
      SpatialUpSamplingNearest SpatialUpSamplingBilinear UpSampling SpatialZeroPadding
      SpatialReflectionPadding SpatialReplicationPadding VolumetricReplicationPadding
      RNN ScaledDotProductAttention PositionEmbedding RotaryEmbedding
   ]],
   parameters = 'BatchNormalization LayerNorm RMSNorm GroupNorm',
   -- subclasses of the classes above, containers that compute, and classes with tables of indices
   float = [[
      MixedPrecision.Float
      DontCast WeightNorm LinearWeightNorm SpatialLPPooling LayerNormalization
      SpatialContrastiveNormalization PartialLinear SpatialConvolutionMap
   ]],
}

local defaults = {}
for precision, names in pairs(lists) do
   for name in names:gmatch '%S+' do defaults['nn.' .. name] = precision end
end

--- Returns the precision of a module.
-- @param given the option precision
function M.of(module, given)
   if given[module] then return given[module] end
   local class = getmetatable(module)
   while class do
      local name = rawget(class, '__typename')
      if name and (given[name] or defaults[name]) then return given[name] or defaults[name] end
      class = getmetatable(class)
   end
   return 'float'
end

--- Checks the options of nn.MixedPrecision.
-- @return the option precision, a table
function M.check(options)
   if options ~= nil and torch.type(options) ~= 'table' then
      fail("%s: argument 'options' is %s, wanted a table", NAME, child.describe(options))
   end
   for name in next, options or {} do
      if name ~= 'precision' then
         fail('%s: there is no option %s, wanted precision', NAME, tostring(name))
      end
   end
   local given = options and options.precision or {}
   if torch.type(given) ~= 'table' then
      fail("%s: option 'precision' is %s, wanted a table from classes or modules to 'reduced',"
         .. " 'parameters' or 'float'", NAME, child.describe(given))
   end
   for key, value in next, given do
      local isModule = torch.isTypeOf(key, 'nn.Module') and not child.isClass(key)
      if not isModule and type(key) ~= 'string' then
         fail("%s: option 'precision' has the key %s, wanted the name of a class, such as"
            .. " 'nn.SoftMax', or a module", NAME, child.describe(key))
      elseif not lists[value] then
         fail("%s: option 'precision' has %s for %s, wanted 'reduced', 'parameters' or 'float'",
            NAME, tostring(value), isModule and torch.type(key) or key)
      end
      local own = isModule and M.of(key, {}) or defaults[key]
      if own == 'reduced' and value == 'parameters' or own == 'parameters' and value == 'reduced'
      then
         fail("%s: option 'precision' has '%s' for %s, wanted '%s' or 'float'", NAME, value,
            isModule and torch.type(key) or key, own)
      end
   end
   return given
end

-- Containers with one module, and containers whose output is a table with an entry for each module.
local single = {['nn.Recompute'] = true, ['nn.Decorator'] = true, [NAME] = true}
local parallel = {['nn.ConcatTable'] = true, ['nn.ParallelTable'] = true}

-- Classes whose inputs may be indices, in any type.
local indexed = {'nn.LookupTable', 'nn.OneHot'}

local function takesIndices(module)
   for _, name in ipairs(indexed) do
      if torch.isTypeOf(module, name) then return true end
   end
   return false
end

-- Combines the results of keepsInput for two modules with the same input; nil stands for an input
-- that the module does not use.
local function both(a, b)
   if a == nil or a == true then return b == nil and a or b end
   if b == nil or b == true then return a end
   if a == false or b == false then return false end
   local list = {}
   for key, value in pairs(a) do list[key] = both(value, b[key]) end
   for key, value in pairs(b) do list[key] = both(a[key], value) end
   return list
end

-- Implements keepsInput for modules with the same input.
local function ofBranches(modules, given)
   local keeps
   for _, module in ipairs(modules) do
      if takesIndices(module) then return true end
      keeps = both(keeps, M.keepsInput(module, given))
   end
   return keeps or false
end

-- Returns the key of an nn.SelectTable; nil for other modules and for keys counted from the end.
local function keyOf(module)
   local key = torch.typename(module) == 'nn.SelectTable' and module.index
   return (type(key) == 'string' or type(key) == 'number' and key > 0) and key or nil
end

-- Implements keepsInput for a sequence of modules, from module i on.
local function ofSequence(modules, i, given)
   local module = modules[i]
   if not module then return false end
   local key = keyOf(module)
   if key then return {[key] = ofSequence(modules, i + 1, given)} end
   return M.keepsInput(module, given)
end

--- Returns true if a module accepts its input in float, because the first modules take indices or
-- stay in float. For a table of which the module accepts some entries, returns a table of such
-- results.
-- @param given the option precision
function M.keepsInput(module, given)
   if takesIndices(module) or M.of(module, given) == 'float' then return true end
   if torch.isTypeOf(module, 'nn.Index') then return {false, true} end
   local name, modules, key = torch.typename(module), module.modules, keyOf(module)
   if key then return {[key] = false} end
   if name == 'nn.Sequential' or single[name] then return ofSequence(modules, 1, given) end
   if name == 'nn.ConcatTable' then return ofBranches(modules, given) end
   if name ~= 'nn.ParallelTable' then return false end
   local list = {}
   for i, inner in ipairs(modules) do list[i] = M.keepsInput(inner, given) end
   return list
end

-- Replaces a module in a table and in the tables inside it that are not modules.
local function replaceIn(holder, before, module, seen)
   for key, value in next, holder do
      if rawequal(value, before) then
         holder[key] = module
      elseif type(value) == 'table' and not seen[value] and not torch.isTypeOf(value, 'nn.Module')
      then
         seen[value] = true
         replaceIn(value, before, module, seen)
      end
   end
end

-- Replaces child i of a container, also in fields that hold it, as in nn.MapTable and in graphs.
local function replace(container, i, module)
   replaceIn(container, container.modules[i], module, {})
end

-- Returns the parts of the output of child i of a container that are not converted, in the form of
-- keepsInput.
-- @param keeps the parts of the container's output that are not converted
local function keepsOutput(container, i, given, keeps)
   local name, modules = torch.typename(container), container.modules
   if name == 'nn.Sequential' and i < #modules then return M.keepsInput(modules[i + 1], given) end
   if parallel[name] then return type(keeps) == 'table' and keeps[i] or keeps == true end
   return (name == 'nn.Sequential' or single[name]) and keeps
end

--- Wraps the modules that stay in float, in place.
-- @param container a module whose children are visited
-- @param kinds {float, reduced}: kinds of tensors
-- @param given the option precision
-- @param keeps the parts of the container's output that are not converted: a result of keepsInput
-- @param visit function(module, precision), called for every module outside of wrapped ones
function M.wrap(container, kinds, given, keeps, visit)
   for i, module in ipairs(container.modules) do
      if module.ownDevices or torch.isTypeOf(module, 'nn.DistributedDataParallel')
         or torch.isTypeOf(module, NAME) then
         fail('%s: got a network with %s in it: put nn.MixedPrecision inside, around the network'
            .. ' itself', NAME, torch.type(module))
      end
      local precision, own = M.of(module, given), keepsOutput(container, i, given, keeps)
      visit(module, precision)
      if precision == 'float' then
         replace(container, i, Float(module, kinds.float, kinds.reduced, own))
      elseif module.modules then
         M.wrap(module, kinds, given, own, visit)
      end
   end
end

--- Replaces wrappers by the modules in them.
function M.unwrap(container)
   for i, module in ipairs(container.modules) do
      if torch.typename(module) == Float.__typename then
         replace(container, i, module.modules[1])
      elseif module.modules then
         M.unwrap(module)
      end
   end
end

return M
