--- dpt.nn.parameterGroups: rates and weight decays for parts of the flat parameters, by name.
--
-- Invariant: a result has one value for each element of the flat parameters, in their order, the
-- type that optimizers compute in, and their device. A rule that matches no parameter is an error.
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local cutorch = require 'dpt.device'
local options = require 'dpt.distributed.options'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local NAME = 'nn.utils.parameterGroups'

local function isFromZero(value)
   return type(value) == 'number' and value >= 0 and value < math.huge
end
local PATTERN = {function(value) return type(value) == 'string' end, 'a pattern'}
local NUMBER = {isFromZero, 'a number from 0 on'}
local known = {name = PATTERN, class = PATTERN, rateFactor = NUMBER, weightDecay = NUMBER}

-- Raises if an argument is wrong.
-- @return true if a rule has a rate; true if a rule has a decay
local function check(module, rules, decay)
   if not torch.isTypeOf(module, 'nn.Module') then
      fail("%s: argument 'module' is a %s, wanted a module", NAME, torch.type(module))
   end
   if type(rules) ~= 'table' or #rules == 0 then
      fail("%s: argument 'rules' is a %s, wanted a list of rules", NAME,
         type(rules) == 'table' and 'table without a list' or torch.type(rules))
   end
   for key in pairs(rules) do
      if type(key) ~= 'number' then
         fail("%s: argument 'rules' has the field '%s', wanted a list of rules", NAME,
            tostring(key))
      end
   end
   local hasRate, hasDecay = false, false
   for i, rule in ipairs(rules) do
      local name = ('%s: rule %d'):format(NAME, i)
      if type(rule) ~= 'table' then fail('%s is a %s, wanted a table', name, torch.type(rule)) end
      options.check(name, rule, 2, known)
      if not (rule.name or rule.class) or not (rule.rateFactor or rule.weightDecay) then
         fail('%s: wanted name or class, and rateFactor or weightDecay', name)
      end
      hasRate, hasDecay = hasRate or rule.rateFactor ~= nil, hasDecay or rule.weightDecay ~= nil
   end
   if hasDecay and not isFromZero(decay) then
      fail("%s: argument 'weightDecay' is %s, wanted the decay of parameters without a rule, a"
         .. ' number from 0 on', NAME, decay == nil and 'missing'
            or type(decay) == 'number' and tostring(decay) or 'a ' .. torch.type(decay))
   end
   return hasRate, hasDecay
end

-- Returns true if text matches a pattern, or if there is none.
local function matches(i, text, pattern)
   if not pattern then return true end
   local isPattern, found = pcall(string.find, text, pattern)
   if not isPattern then
      fail("%s: rule %d: '%s' is not a pattern of Lua (%s)", NAME, i, pattern, found)
   end
   return found ~= nil
end

-- Returns a tensor of x's size, type and device, filled with a value.
local function like(x, value)
   return core.newTensor(core.computeKind(x.kind_)):resize(x:nElement()):fill(value)
end

-- Sets the elements of `to` that have the positions of a part of x in x.
local function set(to, x, part, value)
   to.new(to:storage(), part:storageOffset() - x:storageOffset() + 1, part:size(),
      part:stride()):fill(value)
end

-- Returns {name, class, parts} of the parameters that are in x.
local function parametersIn(module, x)
   local list = {}
   local first, last = core.extent(x)
   for _, entry in ipairs(require('dpt.nn.safetensors')._slots(module)) do
      local low, high
      if entry.parts[1] then low, high = core.extent(entry.parts[1]) end
      if low and entry.parts[1].storage_ == x.storage_ and low >= first and high <= last then
         list[#list + 1] = entry
      end
   end
   return list
end

local function apply(x, list, rules, rates, decays)
   for i, rule in ipairs(rules) do
      local isUsed = false
      for _, entry in ipairs(list) do
         if matches(i, entry.name, rule.name) and matches(i, entry.class, rule.class) then
            isUsed = true
            for _, part in ipairs(entry.parts) do
               if rule.rateFactor then set(rates, x, part, rule.rateFactor) end
               if rule.weightDecay then set(decays, x, part, rule.weightDecay) end
            end
         end
      end
      if not isUsed then
         local names = {}
         for k, entry in ipairs(list) do names[k] = entry.name end
         fail('%s: rule %d matches no parameter (%s); names are %s%s', NAME, i,
            table.concat({rule.name, rule.class}, ', '), table.concat(names, ' ', 1,
               math.min(#names, 12)), #names > 12 and ' ...' or #names == 0 and 'none' or '')
      end
   end
end

local function groups(x, module, rules, hasRate, hasDecay, decay)
   local rates, decays = hasRate and like(x, 1) or nil, hasDecay and like(x, decay) or nil
   apply(x, parametersIn(module, x), rules, rates, decays)
   return rates, decays
end

--- Returns learningRates and weightDecays of an optimizer for parts of a network, for example no
-- decay of biases and of normalization. Later rules replace earlier ones. Flattens the parameters,
-- as getParameters does. Parameters without a name in nn.safetensors have no rule.
-- @function nn.utils.parameterGroups
-- @within nn weights
-- @param module module: the network
-- @param rules table: a list of tables with the fields name (a pattern of Lua that the name in
--    nn.safetensors.tensors(module) matches, as '0.bias' does 'bias$'), class (a pattern that the
--    module's class matches; of name and class one may be omitted), rateFactor (multiplies the
--    learning rate) and weightDecay (one may be omitted)
-- @param weightDecay? number: of parameters without a rule; needed if a rule has a weightDecay
-- @return tensors learningRates (nil if no rule has a rateFactor) and weightDecays (nil if no rule
--    has a weightDecay), with a value for each element of the flat parameters
-- @raise if a rule is wrong or matches no parameter
-- @follows PyTorch's groups of parameters of optimizers
-- @usage local net = nn.Sequential():add(nn.Linear(2, 1)):add(nn.BatchNormalization(1))
--    local config = {learningRate = 0.1}
--    config.learningRates, config.weightDecays = nn.utils.parameterGroups(net,
--       {{name = 'bias$', weightDecay = 0}, {class = 'Normalization', weightDecay = 0}}, 0.5)
--    return config.weightDecays --> [0.5 0.5 0 0 0]
return function(module, rules, weightDecay)
   local hasRate, hasDecay = check(module, rules, weightDecay)
   local x = module:getParameters()
   return cutorch.withDeviceOf(x, groups, x, module, rules, hasRate, hasDecay, weightDecay)
end
