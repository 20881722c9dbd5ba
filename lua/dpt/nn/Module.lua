--- nn.Module: base class of all layers.
-- Invariant: a layer keeps its last `output` and `gradInput` and returns these very objects. Its
-- parameters are the fields weight and bias, their gradients gradWeight and gradBias. forward and
-- backward never wait for a device. A layer implements updateOutput, updateGradInput and, if it has
-- parameters, accGradParameters; all other methods are built on these three. This file is the model
-- for classes of nn: one class per file, named like the class.
-- @function nn.Module
-- @within nn containers
-- @as layer
-- @return a module; forward: see its subclasses
-- @usage nn.Tanh():forward(torch.zeros(1)) --> [0]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local flatten = require 'dpt.flatten'
local updates = require 'dpt.updates'
local deepcopy = require 'dpt.clone'
local norms = require 'dpt.nn.gradients'
local transient = require 'dpt.transient'
local addObjectMethods = require 'dpt.nn.object'
local sharing = require 'dpt.nn.sharing'
local describe = require('dpt.nn.child').describe
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local Module = torch.class('nn.Module')
addObjectMethods(Module)
--- True if the backward methods that a class itself defines do not write to the gradients of inner
-- modules (dpt.parallel.params.overlap).
-- @field nn.Module.leavesGradients
-- @as author
-- @return true; false for a class whose methods write to those gradients
-- @usage nn.Module.leavesGradients --> true
Module.leavesGradients = true

function Module:__init()
   self.gradInput = torch.Tensor()
   self.output = torch.Tensor()
   self._type = self.output:type()
end

--- Returns the learned tensors and their gradients, two lists in the same order; nothing if there
-- are none.
-- @return list of tensors, list of gradients
function Module:parameters()
   if self.weight and self.bias then
      return {self.weight, self.bias}, {self.gradWeight, self.gradBias}
   elseif self.weight then
      return {self.weight}, {self.gradWeight}
   elseif self.bias then
      return {self.bias}, {self.gradBias}
   end
end

--- Returns the tensors that the module uses in place of its parameters, and their gradients: those
-- of nn.MixedPrecision have 16 bits. In other classes they are the parameters.
-- @function nn.Module:workingParameters
-- @as author
-- @follows dpt's own
-- @return list of tensors, list of gradients, as parameters returns them
-- @usage #nn.Linear(2, 3):workingParameters() --> 2
function Module:workingParameters() return self:parameters() end

--- Computes and returns self.output.
function Module:updateOutput(_)
   return self.output
end

function Module:forward(input)
   return self:updateOutput(input)
end

--- Computes the gradients of the input and the parameters; gradOutput is d(loss)/d(output).
-- @param scale factor of the terms added to the parameters' gradients (1)
-- @return self.gradInput
function Module:backward(input, gradOutput, scale)
   scale = scale or 1
   self:updateGradInput(input, gradOutput)
   self:accGradParameters(input, gradOutput, scale)
   return self.gradInput
end

--- Runs backward and a step of plain gradient descent, for a single layer.
-- @function nn.Module:backwardUpdate
-- @as method
-- @within nn containers
-- @param input tensor: or table; that of the last forward
-- @param gradOutput tensor: or table; the gradient of the output
-- @param lr number: the learning rate
-- @return the gradient of the input
-- @usage local m = nn.Add(1)
--    m.bias:fill(5)
--    m:forward(torch.ones(1))
--    return m:backwardUpdate(torch.ones(1), torch.Tensor{2}, 0.5), m.bias --> [2], [4]
function Module:backwardUpdate(input, gradOutput, lr)
   self:updateGradInput(input, gradOutput)
   self:accUpdateGradParameters(input, gradOutput, lr)
   return self.gradInput
end

--- Computes and returns self.gradInput.
function Module:updateGradInput(_, _)
   return self.gradInput
end

--- Adds the parameters' gradients, times scale, to gradWeight and gradBias.
function Module:accGradParameters(_, _, _)
end

--- Adds the parameters' gradients, times -lr, to the parameters themselves.
-- @function nn.Module:accUpdateGradParameters
-- @as method
-- @within nn containers
-- @param input tensor: or table; that of the last forward
-- @param gradOutput tensor: or table; the gradient of the output
-- @param lr number: the learning rate
-- @return nothing
-- @usage local m = nn.Add(1)
--    m.bias:fill(5)
--    m:forward(torch.ones(1))
--    m:accUpdateGradParameters(torch.ones(1), torch.Tensor{2}, 0.5)
--    return m.bias --> [4]
function Module:accUpdateGradParameters(input, gradOutput, lr)
   if self.shared then
      self:sharedAccUpdateGradParameters(input, gradOutput, lr)
   else
      self:defaultAccUpdateGradParameters(input, gradOutput, lr)
   end
end

--- Implements accUpdateGradParameters for a layer that shares no parameters.
-- @function nn.Module:defaultAccUpdateGradParameters
-- @as author
-- @param input tensor: or table; that of the last forward
-- @param gradOutput tensor: or table; the gradient of the output
-- @param lr number: the learning rate
-- @return nothing
-- @usage local m = nn.Add(1)
--    m.bias:fill(1)
--    m:forward(torch.ones(1))
--    m:defaultAccUpdateGradParameters(torch.ones(1), torch.ones(1), 1)
--    return m.bias --> [0]
function Module:defaultAccUpdateGradParameters(input, gradOutput, lr)
   local gradWeight, gradBias = self.gradWeight, self.gradBias
   self.gradWeight, self.gradBias = self.weight, self.bias
   self:accGradParameters(input, gradOutput, -lr)
   self.gradWeight, self.gradBias = gradWeight, gradBias
end

--- Implements accUpdateGradParameters for a layer that shares parameters. It computes the whole
-- gradient first, because the layer may read a weight again after another one has changed it.
-- @function nn.Module:sharedAccUpdateGradParameters
-- @as author
-- @param input tensor: or table; that of the last forward
-- @param gradOutput tensor: or table; the gradient of the output
-- @param lr number: the learning rate
-- @return nothing
-- @usage local m = nn.Add(1)
--    m.bias:fill(2)
--    m:forward(torch.ones(1))
--    m:sharedAccUpdateGradParameters(torch.ones(1), torch.ones(1), 1)
--    return m.bias --> [1]
function Module:sharedAccUpdateGradParameters(input, gradOutput, lr)
   if self:parameters() then
      self:zeroGradParameters()
      self:accGradParameters(input, gradOutput, 1)
      self:updateParameters(lr)
   end
end

function Module:zeroGradParameters()
   local _, gradients = self:parameters()
   for i = 1, gradients and #gradients or 0 do gradients[i]:zero() end
end

--- parameters = parameters - learningRate * gradients
function Module:updateParameters(learningRate)
   local params, gradients = self:parameters()
   if not params then return end
   local rate = tonumber(learningRate) or fail("%s: updateParameters: argument 'learningRate',"
      .. ' wanted a number, got %s', torch.type(self), describe(learningRate))
   for i = 1, #params do params[i]:add(-rate, gradients[i]) end
end

function Module:_gradientViews() return norms.of(self) end

--- Clips the gradients, see nn.utils.clipGradNorm.
function Module:clipGradNorm(maxNorm, normType, result)
   return norms.clip(self:_gradientViews(), maxNorm, normType, result)
end

function Module:training()
   self.train = true
end

function Module:evaluate()
   self.train = false
end

for _, method in ipairs{'forget', 'remember'} do
   Module[method] = function(self, mode)
      for _, module in ipairs(self.modules or {}) do module[method](module, mode) end
      return self
   end
end

--- Makes the named fields views of the other module's tensors.
function Module:share(other, ...)
   for _, field in ipairs{...} do
      if self[field] ~= nil then
         self[field]:set(other[field])
         self.shared = true
         other.shared = true
      end
   end
   return self
end

--- Returns a copy that shares the named fields only.
function Module:clone(...)
   local clone = deepcopy(self)
   if select('#', ...) > 0 then clone:share(self, ...) end
   return clone
end

--- Returns a clone that shares all parameters and gradients. stepClone does so for another step of
-- a sequence; it does not clone recurrent modules.
-- @function nn.Module:sharedClone
-- @as method
-- @within nn containers
-- @follows Element-Research's package dpnn
-- @also nn.Module:stepClone()
-- @return a module
-- @usage local m = nn.Linear(2, 3)
--    local c = m:sharedClone()
--    m.weight:fill(9)
--    return c.weight[1][1] --> 9
Module.sharedClone, Module.stepClone = sharing.clone, sharing.step

--- Draws new initial values for the parameters.
function Module:reset()
end

--- Returns the tensors that forward updates in training and reads in evaluation: running_mean and
-- running_var, unless a class overrides it.
-- @function nn.Module:runningStatistics
-- @as author
-- @follows dpt's own
-- @return a list of tensors
-- @usage #nn.BatchNormalization(3):runningStatistics() --> 2
function Module:runningStatistics()
   local list = {}
   if torch.isTensor(self.running_mean) then list[1] = self.running_mean end
   if torch.isTensor(self.running_var) then list[#list + 1] = self.running_var end
   return list
end

--- Returns the dimensions along which an input is split over several devices; returns nothing to
-- select nn.DataParallelTable's dimension.
-- @function nn.Module:inputSplit
-- @as author
-- @follows dpt's own, in the sense of PyTorch's in_dims
-- @param input tensor: or table
-- @return a split spec: a number, or a table of numbers if the input is a table
-- @usage local function split(m, ...) return (m:inputSplit(torch.ones(...))) end
--    return split(nn.Linear(2, 3), 1, 2), split(nn.SeqGRU(2, 3), 4, 1, 2) --> nil, 2
function Module:inputSplit(_)
end

--- Returns the dimensions along which the outputs of several devices are joined.
-- @function nn.Module:outputSplit
-- @as author
-- @follows dpt's own, in the sense of PyTorch's out_dims
-- @param split? number: how the input was split: a split spec, as inputSplit returns
-- @return a split spec; nothing selects nn.DataParallelTable's dimension
-- @usage (nn.Linear(2, 3):outputSplit()), nn.SeqGRU(2, 3):outputSplit() --> nil, 2
function Module:outputSplit(_)
end

--- Returns the input's dimension of rows: an implementation of outputSplit for classes whose output
-- has its rows along the same dimension as the input, or as the first tensor in it.
-- @function nn.Module:sameSplit
-- @as author
-- @follows dpt's own
-- @param split? number: how the input was split: or a table of numbers for a table
-- @return a number; nothing if unknown
-- @usage nn.Tanh():sameSplit(2) --> 2
function Module:sameSplit(split) -- luacheck: no self
   if type(split) == 'table' then split = split[1] end
   return type(split) == 'number' and split or nil
end

--- Frees buffers that the next forward allocates again, before saving or sending.
function Module:clearState()
   transient.clear(self)
   return nn.utils.clear(self, 'output', 'gradInput')
end

--- Calls forward; with gradOutput, backward too.
function Module:__call__(input, gradOutput)
   self:forward(input)
   if gradOutput then
      self:backward(input, gradOutput)
      return self.output, self.gradInput
   end
   return self.output
end

-- Returns the path of a tensor in a module, for example 'modules[2].weight'.
local function pathOf(module, tensor, path)
   for key, value in pairs(module) do
      if rawequal(value, tensor) then return path .. tostring(key) end
   end
   for i, child in ipairs(module.modules or {}) do
      local inner = pathOf(child, tensor, ('%smodules[%d].'):format(path, i))
      if inner then return inner end
   end
end

--- Returns all parameters and all gradients as two flat tensors. The module's tensors become views
-- of them; a parameter that occurs twice counts once. Calls on an unchanged module return the same
-- memory.
function Module:getParameters()
   local parameters, gradParameters = self:parameters()
   local flat, gradient = flatten.flattenPair(parameters or {}, gradParameters or {},
      torch.type(self), function(tensor) return pathOf(self, tensor, '') or 'another one' end)
   return updates.registerFlat(flat), updates.registerFlat(gradient)
end

--- Returns all modules of a type, and the containers that hold them.
function Module:findModules(typename, container)
   container = container or self
   local found, containers = {}, {}
   if torch.typename(self) == typename then
      found[1], containers[1] = self, container
   end
   for _, child in ipairs(self.modules or {}) do
      local more, theirs = child:findModules(typename, self)
      for i = 1, #more do
         found[#found + 1], containers[#containers + 1] = more[i], theirs[i]
      end
   end
   return found, containers
end

--- Returns this module and all inner modules, outer ones first.
function Module:listModules()
   local list = {self}
   for _, child in ipairs(self.modules or {}) do
      for _, module in ipairs(child:listModules()) do list[#list + 1] = module end
   end
   return list
end

--- Calls f for this module and all inner modules, outer ones first.
function Module:apply(f)
   f(self)
   for _, child in ipairs(self.modules or {}) do child:apply(f) end
end

--- Replaces every module, outer ones first, by f(module); returns the replacement of this one.
function Module:replace(f)
   local out = f(self)
   for i, child in ipairs(self.modules or {}) do self.modules[i] = child:replace(f) end
   return out
end

--- Moves tensors into one flat tensor, of which they become views (Torch7's function).
-- @function nn.Module.flatten
-- @as method
-- @within nn containers
-- @also nn.Module:flatten()
-- @param parameters table: a list of tensors
-- @return the vector
-- @usage local a, b = torch.Tensor{1}, torch.Tensor{2}
--    local flat = nn.Module.flatten{a, b}
--    flat:fill(7)
--    return a, b --> [7], [7]
function Module.flatten(parameters)
   return (flatten.flatten(parameters, 'flatten'))
end

--- Computes the output for an input.
-- @function nn.Module:forward
-- @within nn containers
-- @as method
-- @param input tensor or table: the module's input
-- @return the module's output, which the next forward overwrites
-- @usage nn.Tanh():forward(torch.zeros(2)) --> [0 0]

--- Computes the gradient of the input, and adds those of the parameters to gradWeight and gradBias.
-- @function nn.Module:backward
-- @within nn containers
-- @as method
-- @param input tensor or table: that of the last forward
-- @param gradOutput tensor or table: the gradient of the output
-- @param scale? number: factor of the parameters' gradients (1)
-- @return the gradient of the input, which the next backward overwrites
-- @usage local m = nn.Square()
--    m:forward(torch.Tensor{3})
--    return m:backward(torch.Tensor{3}, torch.ones(1)) --> [6]

--- Returns the learned tensors of a module and its inner modules, and their gradients.
-- @function nn.Module:parameters
-- @within nn containers
-- @as method
-- @return a list of parameters and one of their gradients; nothing without parameters
-- @usage #nn.Sequential():add(nn.Linear(2, 3)):add(nn.Linear(3, 1)):parameters() --> 4

--- Moves all parameters into one vector and all gradients into another; the module's tensors become
-- views of them. Call it once, after :cuda().
-- @function nn.Module:getParameters
-- @within nn containers
-- @as method
-- @return the parameters and the gradients, as one vector each
-- @usage nn.Linear(2, 3):getParameters():size() --> 9

--- Sets the parameters' gradients to 0. Call it before the backward passes that accumulate them.
-- @function nn.Module:zeroGradParameters
-- @within nn containers
-- @as method
-- @return nothing
-- @usage local m = nn.Linear(2, 3)
--    m.gradBias:fill(5)
--    m:zeroGradParameters()
--    return m.gradBias --> [0 0 0]

--- Scales the gradients down so that their joint norm is at most maxNorm, like
-- nn.utils.clipGradNorm. For nn.DistributedDataParallel it is the norm over all ranks, and all
-- ranks must call it.
-- @function nn.Module:clipGradNorm
-- @within nn containers
-- @as method
-- @param maxNorm number: above 0
-- @param normType? number: the exponent of the norm (2); math.huge for the largest absolute value
-- @param result? tensor: receives the norm, as in nn.utils.clipGradNorm
-- @return the norm before clipping, or `result`
-- @raise if an argument is not a number above 0; if the ranks' calls do not match
-- @follows PyTorch's torch.nn.utils.clip_grad_norm_
-- @usage local m = nn.Add(2)
--    m.gradBias:copy(torch.Tensor{3, -4})
--    return m:clipGradNorm(1), m.gradBias --> 5, [0.6 -0.8]

--- Subtracts the gradients, times a learning rate, from the parameters.
-- @function nn.Module:updateParameters
-- @within nn containers
-- @as method
-- @param learningRate number: the learning rate
-- @return nothing
-- @usage local m = nn.Add(1)
--    m.bias:fill(5)
--    m.gradBias:fill(1)
--    m:updateParameters(2)
--    return m.bias --> [3]

--- Sets training mode for a module and its inner modules: nn.Dropout drops elements, and running
-- statistics are updated.
-- @function nn.Module:training
-- @within nn containers
-- @as method
-- @return nothing
-- @usage local m = nn.Dropout(0.5)
--    m:training()
--    return m:forward(torch.ones(5)) --> [2 0 0 0 2]

--- Sets evaluation mode for a module and its inner modules: no dropout, fixed statistics.
-- @function nn.Module:evaluate
-- @within nn containers
-- @as method
-- @return nothing
-- @usage local m = nn.Dropout(0.5)
--    m:evaluate()
--    return m:forward(torch.ones(5)) --> [1 1 1 1 1]

--- Resets the states of inner recurrent modules, so that the next sequence starts from zeros.
-- @function nn.Module:forget
-- @within nn containers
-- @as method
-- @return the module
-- @usage local net = nn.Sequential():add(nn.SeqLSTM(2, 3))
--    return torch.type(net:forget()) --> nn.Sequential

--- Sets whether inner nn.SeqLSTM, nn.SeqGRU and nn.Sequencer keep their states between sequences,
-- which are then parts of longer ones.
-- @function nn.Module:remember
-- @within nn containers
-- @as method
-- @param mode? string: 'both', 'train', 'eval' or 'neither' ('both')
-- @return the module
-- @usage local net = nn.Sequential():add(nn.SeqLSTM(2, 3)):remember('eval')
--    return net:get(1).rememberMode --> eval

--- Makes fields views of another module's tensors, so that both learn the same values.
-- @function nn.Module:share
-- @within nn containers
-- @as method
-- @param other module: of the same class
-- @param names string: one or more field names
-- @return the module
-- @usage local a, b = nn.Linear(2, 3), nn.Linear(2, 3)
--    a:share(b, 'weight')
--    b.weight:fill(7)
--    return a.weight:max() --> 7

--- Copies a module with all its contents.
-- @function nn.Module:clone
-- @within nn containers
-- @as method
-- @param names? string: names of fields that both share
-- @return the copy
-- @usage nn.Linear(2, 3):clone().weight:size() --> 3x2

--- Draws new values for the parameters.
-- @function nn.Module:reset
-- @within nn containers
-- @as method
-- @param stdv? number: the standard deviation, where the class supports it
-- @return the module, or nothing
-- @usage local m = nn.Linear(2, 1)
--    m.weight:fill(9)
--    m:reset(0.5)
--    return m.weight --> [0.7492 -0.8658]

--- Frees the buffers of the last passes, for example before saving.
-- @function nn.Module:clearState
-- @within nn containers
-- @as method
-- @return the module
-- @usage nn.Linear(2, 3):clearState().output:nElement() --> 0

--- Finds all inner modules of a class.
-- @function nn.Module:findModules
-- @within nn containers
-- @as method
-- @param typename string: the class, for example 'nn.Linear'
-- @return a list of modules, and a list of the containers that hold them
-- @usage #nn.Sequential():add(nn.Tanh()):add(nn.Tanh()):findModules 'nn.Tanh' --> 2

--- Lists a module and all inner modules, depth first.
-- @function nn.Module:listModules
-- @within nn containers
-- @as method
-- @return a list of modules, this one first
-- @usage #nn.Sequential():add(nn.Tanh()):add(nn.Abs()):listModules() --> 3

--- Calls a function for a module and all inner modules, outer ones first.
-- @function nn.Module:apply
-- @within nn containers
-- @as method
-- @param f function: receives a module
-- @return the module, or nothing
-- @usage local n = 0
--    nn.Sequential():add(nn.Tanh()):apply(function() n = n + 1 end)
--    return n --> 2

--- Replaces the module and all inner modules by the results of a function.
-- @function nn.Module:replace
-- @within nn containers
-- @as method
-- @param f function: receives a module, returns its replacement
-- @return the replacement of this module
-- @usage torch.type(nn.Sequential():add(nn.Tanh()):replace(function(m)
--       return torch.type(m) == 'nn.Tanh' and nn.ReLU() or m
--    end):get(1)) --> nn.ReLU

--- Adds the gradients of the parameters, as part of backward; a class with parameters implements
-- it.
-- @function nn.Module:accGradParameters
-- @within nn containers
-- @as method
-- @param input tensor or table: that of the last forward
-- @param gradOutput tensor or table: the gradient of the output
-- @param scale? number: a factor (1)
-- @return nothing
-- @usage local m = nn.Linear(2, 1)
--    m:zeroGradParameters()
--    m:accGradParameters(torch.ones(2), torch.ones(1), 3)
--    return m.gradBias --> [3]

--- Computes the gradient of the input, as part of backward; every class implements it.
-- @function nn.Module:updateGradInput
-- @within nn containers
-- @as method
-- @param input tensor or table: that of the last forward
-- @param gradOutput tensor or table: the gradient of the output
-- @return the gradient of the input
-- @usage nn.Identity():updateGradInput(torch.ones(1), torch.Tensor{5}) --> [5]

--- Computes the output; forward calls it, and every class implements it.
-- @function nn.Module:updateOutput
-- @within nn containers
-- @as method
-- @param input tensor or table: the module's input
-- @return the output
-- @usage nn.Abs():updateOutput(torch.Tensor{-5}) --> [5]

--- Returns the type of the module's tensors; with a name, converts them to that type. The methods
-- named after types convert to that type.
-- @function nn.Module:type
-- @as method
-- @within nn containers
-- @also nn.Module:float()
-- @also nn.Module:double()
-- @also nn.Module:half()
-- @also nn.Module:bfloat16()
-- @also nn.Module:cuda()
-- @also nn.Module:cudaDouble()
-- @also nn.Module:cudaHalf()
-- @also nn.Module:cudaBFloat16()
-- @param typename? string: for example 'torch.FloatTensor'
-- @param tensorCache? table: keeps tensors shared across modules that are converted by separate
--    calls
-- @return the type's name, or the module
-- @usage nn.Linear(2, 3):float():type() --> torch.FloatTensor

--- Writes the module's fields, except transient ones, to an open file; writeObject calls it.
-- @function nn.Module:write
-- @as method
-- @within nn containers
-- @param file torch.File: a file that is open for writing
-- @return nothing
-- @usage local f, m = torch.MemoryFile(), nn.MulConstant(1)
--    nn.MulConstant(4):write(f)
--    f:seek(1)
--    m:read(f)
--    return m.constant_scalar --> 4

--- Restores the fields that write wrote to a file; readObject calls it.
-- @function nn.Module:read
-- @as method
-- @within nn containers
-- @param file torch.File: a file that is open for reading
-- @return nothing
-- @usage local f, m = torch.MemoryFile(), nn.Power(1)
--    nn.Power(3):write(f)
--    f:seek(1)
--    m:read(f)
--    return m.pow --> 3

return Module
