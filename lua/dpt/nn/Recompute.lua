--- nn.Recompute(module): activation checkpointing. In training, forward frees the activations of
-- the module (outputs and buffers of the modules inside), and backward computes them again. A deep
-- network of such parts holds the outputs of all parts and the activations of one part.
--
-- Outputs, gradients, running statistics and generators have the bits that they have without
-- nn.Recompute: the second forward draws the same random numbers and changes no statistics.
-- forward keeps a reference to its input; backward raises if the input was written to. Modules
-- inside may work in place: if one writes to the input itself, it gets a copy. If parameters have
-- changed, backward uses the new ones. updateGradInput keeps the activations until
-- accGradParameters, so call backward, which frees them part by part. Memory to which views refer,
-- such as those of nn.Concat, is freed at the next garbage collection. In evaluation nothing is
-- freed.
-- Invariant: after a forward in training, and after backward or accGradParameters, the modules
-- inside hold no activations; output and gradInput are valid.
-- @function nn.Recompute
-- @within nn containers
-- @as layer
-- @follows PyTorch's torch.utils.checkpoint
-- @raise if module contains a module whose forward cannot be repeated: nn.AbstractRecurrent (a step
--    of a sequence), a layer that remembers states, nn.IndexLinear, or one that uses other devices
--    or ranks (nn.DataParallelTable: put nn.Recompute inside)
-- @param module the module to compute twice, for example an nn.Sequential of some layers
-- @return a module; forward: the module's input -> its output
-- @usage local net = nn.Recompute(nn.Sequential():add(nn.Square()):add(nn.Square()))
--    local x = torch.Tensor{2}
--    return net:forward(x), net:backward(x, torch.ones(1)) --> [16], [32]

local torch = require 'dpt.tensor'
local comm = require 'dpt.comm'
local random = require 'dpt.parallel.dispatch.random'
local hostRandom = require 'dpt.parallel.ranks.host_random'
local remember = require 'dpt.rnn.remember'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local Recompute, parent = torch.class('nn.Recompute', 'nn.Decorator')
Recompute.leavesGradients = true

--- Fields of a step: what the last forward in training had (false: it was in evaluation), its
-- output, the input whose activations the inner modules hold, and whether they have written to
-- gradOutput.
Recompute.transient = {'forward_', 'output_', 'held_', 'consumed_'}

local NAME = 'nn.Recompute'

function Recompute:__init(module)
   parent.__init(self, module)
end

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

-- True if the inner modules write to their input, by nn.Recompute; the first forward finds out.
local writesInput = setmetatable({}, {__mode = 'k'})

--- Classes whose forward cannot be repeated, with the reason.
local rejected = {
   {'nn.AbstractRecurrent', 'whose forward is one step of a sequence: computed again, it would be'
      .. ' the next step; put nn.Recompute inside, around layers of the cell'},
   {'nn.IndexLinear', 'which keeps the rows that updateParameters decays'},
   {'nn.DataParallelTable', 'whose replicas it cannot repeat; put nn.Recompute inside'},
   {'nn.DistributedDataParallel', 'whose exchanges it cannot repeat; put nn.Recompute inside'},
   {'nn.GPU', 'whose device has another generator; put nn.Recompute inside'},
}
local reasons = setmetatable({}, {__mode = 'k'}) -- by class; false: accepted

local function reasonAgainst(module)
   local class = getmetatable(module)
   if reasons[class] == nil then
      reasons[class] = false
      for _, entry in ipairs(rejected) do
         if torch.isTypeOf(module, entry[1]) then reasons[class] = entry[2] end
      end
   end
   return reasons[class]
      or (remember.isEnabled(module) or module.rememberMode == nil and module.rememberStates)
      and 'which remembers states: its forward starts from those of the last one'
end

local function check(inner)
   for _, module in ipairs(inner:listModules()) do
      local reason = reasonAgainst(module)
      if reason then fail('cannot contain %s, %s', torch.type(module), reason) end
   end
end

-- Adds the tensors of a tree of plain tables to a set and to its list.
local function collect(value, set)
   if type(value) == 'cdata' then
      if torch.isTensor(value) and not set[value] then
         set[value] = true
         set[#set + 1] = value
      end
   elseif type(value) == 'table' and not getmetatable(value) and not set[value] then
      set[value] = true
      for _, inner in next, value do collect(inner, set) end
   end
   return set
end

local function tensorsOf(tree) return collect(tree, {}) end

-- Copies the tensors of a tree, with their strides.
local function copyOf(tree, copies)
   copies = copies or {}
   if torch.isTensor(tree) then
      copies[tree] = copies[tree]
         or tree.new():resize(tree:size(), tree:stride()):copy(tree)
      return copies[tree]
   elseif type(tree) ~= 'table' then
      return tree
   end
   local list = {}
   for key, value in next, tree do list[key] = copyOf(value, copies) end
   return list
end

local function tensorsIn(modules)
   local set = {}
   for _, module in ipairs(modules) do
      for name, value in next, module do
         if name ~= 'modules' then collect(value, set) end
      end
   end
   return set
end

-- Clears the states of the inner modules, except what the next forward needs: the clones of an
-- nn.MapTable, which have statistics of their own, and window positions that a script has fixed.
local function clearStates(inner, modules)
   local clones, samples = {}, {}
   for _, module in ipairs(modules) do
      if torch.isTypeOf(module, 'nn.MapTable') then clones[module] = {unpack(module.modules)} end
      if module.newRandomPool then samples[module] = module.randomSamples end
   end
   inner:clearState()
   for _, list in pairs(clones) do
      for i = 2, #list do list[i]:clearState() end
   end
   for module, list in pairs(clones) do module.modules = list end
   for module, own in pairs(samples) do module.randomSamples = own end
end

-- Frees the memory of the inner modules' activations and of the given tree now, not when garbage is
-- collected, except that of tensors in the other trees.
local function free(self, given, ...)
   local inner, kept = self.modules[1], collect({self.output, self.gradInput, ...}, {})
   local modules = inner:listModules()
   local before = tensorsIn(modules)
   clearStates(inner, modules)
   local after = tensorsIn(modules)
   for _, t in ipairs(collect(given, before)) do
      if not after[t] and not kept[t] then t:set() end
   end
end

-- Returns a tree of the module's own tensors that are set to those of another: old memory is freed
-- now, not when garbage is collected.
local function view(own, tree)
   if torch.isTensor(tree) then
      return (torch.type(own) == torch.type(tree) and own or tree.new()):set(tree)
   elseif type(tree) ~= 'table' then
      return tree
   end
   local list, old = {}, type(own) == 'table' and own or {}
   for key, value in next, tree do list[key] = view(old[key], value) end
   return list
end

-- Returns what a second forward needs: the input, its version, and the generators' states.
local function save(self, input)
   local tensors = tensorsOf(input)
   local onDevice = self._type:find 'Cuda' or tensors[1] and comm.device(tensors[1]) > 0
   return {tensors = tensors, version = comm.version(tensors), pass = hostRandom.running(),
      random = random.fromHere(onDevice)}
end

function Recompute:updateOutput(input)
   local inner = self.modules[1]
   self.forward_, self.held_, self.consumed_ = nil, nil, nil
   if self.train == false then
      self.forward_ = false
      return parent.updateOutput(self, input)
   end
   check(inner)
   local saved = save(self, input)
   local isOwn = writesInput[self] == false
   local given = isOwn and input or copyOf(input)
   local tensors = tensorsOf(given)
   local before = comm.version(tensors)
   self.output_ = view(self.output_, inner:updateOutput(given))
   self.output = self.output_
   local wrote = comm.version(tensors) ~= before
   writesInput[self] = wrote
   if isOwn and wrote then
      fail('%s has changed its input in place, which it did not in the forward before; repeat the'
         .. ' step: from now on it gets a copy', torch.type(inner))
   end
   self.forward_ = saved
   free(self, given, input)
   return self.output
end

-- Raises if the input of the last forward has been written to. Another tensor must have the same
-- values, as in every module.
local function checkInput(saved, input)
   for k, t in ipairs(tensorsOf(input)) do
      local old = saved.tensors[k]
      if not old or t.storage_ ~= old.storage_ then return end
   end
   if comm.version(saved.tensors) ~= saved.version then
      fail('the input (or memory that it shares) was written to after forward, and backward'
         .. ' computes the output again from it; pass forward a copy, or put the module that works'
         .. ' in place inside as well')
   end
end

-- Replaces running statistics by copies and disables maxNorm, so that a second forward changes
-- neither statistics nor parameters.
-- @return a function that undoes this
local function freeze(modules)
   local undo = {}
   for _, module in ipairs(modules) do
      for _, t in ipairs(module:runningStatistics()) do
         local own = t.new():set(t)
         t:set(t:clone())
         undo[#undo + 1] = function() t:set(own) end
      end
      if torch.isTypeOf(module, 'nn.LookupTable') and module.maxNorm then
         local own = module.maxNorm
         module.maxNorm = nil
         undo[#undo + 1] = function() module.maxNorm = own end
      end
   end
   return function()
      for i = #undo, 1, -1 do undo[i]() end
   end
end

-- Computes the activations again. Returns the input that belongs to them.
local function recompute(self, input)
   local saved, inner = self.forward_, self.modules[1]
   checkInput(saved, input)
   local given = writesInput[self] and copyOf(input) or input
   local thaw = freeze(inner:listModules())
   local ok, message = pcall(random.again, saved.random, hostRandom.withinPass, saved.pass,
      inner.updateOutput, inner, given)
   thaw()
   if ok then return given end
   free(self, given, input)
   if tostring(message):find('draws what goes by the replica', 1, true) then
      message = NAME .. ': a captured graph cannot draw the same random numbers twice\n' .. message
   end
   error(message, 0)
end

-- Returns true if the inner modules hold their activations, because the last forward was in
-- evaluation. Raises if there was none.
local function isPlain(self)
   if self.forward_ == false or self.forward_ == nil and self.train == false then return true end
   if not self.forward_ then fail('backward before forward') end
   if self.train == false then
      fail('backward in evaluation, after a forward in training; call evaluate() after backward')
   end
   return false
end

-- Copies a gradInput to the module's own, which nn.utils.shareGradInputs may have put elsewhere.
local function keepGradInput(self, result)
   if torch.isTensor(result) then
      local own = self.gradInput
      if torch.type(own) ~= torch.type(result) then own = result.new() end
      result = own:resizeAs(result):copy(result)
   end
   self.gradInput = result
end

-- Calls a method of the inner module that computes gradInput, with its activations.
-- @return {the input that belongs to them}; nil after a forward in evaluation, which frees nothing
local function back(self, method, input, gradOutput, ...)
   local inner = self.modules[1]
   if isPlain(self) then
      keepGradInput(self, inner[method](inner, input, gradOutput, ...))
      return nil
   end
   local held = self.held_ or {recompute(self, input)}
   self.held_ = nil
   local tensors = tensorsOf(gradOutput)
   local before = comm.version(tensors)
   keepGradInput(self, inner[method](inner, held[1], gradOutput, ...))
   self.consumed_ = comm.version(tensors) ~= before
   return held
end

function Recompute:updateGradInput(input, gradOutput)
   self.held_ = back(self, 'updateGradInput', input, gradOutput)
   return self.gradInput
end

function Recompute:backward(input, gradOutput, scale)
   local held = back(self, 'backward', input, gradOutput, scale or 1)
   if held then free(self, held, input, gradOutput) end
   return self.gradInput
end

for _, name in ipairs{'accGradParameters', 'accUpdateGradParameters',
   'sharedAccUpdateGradParameters'} do
   Recompute[name] = function(self, input, gradOutput, factor)
      local inner = self.modules[1]
      if isPlain(self) then return inner[name](inner, input, gradOutput, factor) end
      local held = self.held_
      if not held then
         if self.consumed_ then
            fail('%s: gradOutput was changed in place by the backward before; call backward again'
               .. ' with a new one', name)
         end
         held = {recompute(self, input), copyOf(gradOutput)}
         inner:updateGradInput(held[1], held[2])
      end
      self.held_ = nil
      inner[name](inner, held[1], gradOutput, factor)
      free(self, held, input, gradOutput)
   end
end

--- Returns the split of the inner module.
function Recompute:inputSplit(input) return self.modules[1]:inputSplit(input) end
function Recompute:outputSplit(split) return self.modules[1]:outputSplit(split) end

return Recompute
