--- nn.Container: a module made of other modules, in the list `modules`.
-- Invariant: what is asked of a container is asked of every module in it; an error inside names the
-- way to the module that failed, "In 2 module of nn.Sequential:", with one traceback.
-- @function nn.Container
-- @within nn containers
-- @as layer
-- @return a module; forward: see its descendants
-- @usage nn.Sequential():add(nn.Tanh()):get(1):forward(torch.zeros(1)) --> [0]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local wantPart = require('dpt.nn.part').want
local report = require 'dpt.report'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local Container, parent = torch.class('nn.Container', 'nn.Module')
Container.leavesGradients = true

-- Whether # asks objects that are tables.
local asksTables = #setmetatable({}, {__len = function() return 1 end}) == 1

function Container:__init(...)
   if not asksTables then
      report("this LuaJIT lacks Lua 5.2's features, so #net is 0 for every container: write"
         .. ' net:size(), or run scripts by the command dpt (scripts/setup builds a LuaJIT with'
         .. ' them)')
   end
   parent.__init(self, ...)
   self.modules = {}
end

--- Adds a module at the end.
-- @function nn.Container:add
-- @as method
-- @within nn containers
-- @param module module: any; nil adds nothing, as in Torch7 (nn.Sequential rejects it)
-- @return the container
-- @usage #nn.Sequential():add(nn.Tanh()):add(nn.ReLU()).modules --> 2
function Container:add(module)
   if module ~= nil then
      self.modules[#self.modules + 1] = wantPart(self, 'add', 'module', module)
   end
   return self
end

function Container:get(index)
   return self.modules[index]
end

function Container:size()
   return #self.modules
end

-- The innermost container adds the traceback; the ones around it find it there.
local function handler(message)
   if type(message) ~= 'string' or message:find('\nstack traceback:', 1, true) then
      return message
   end
   return debug.traceback(message, 2)
end

-- Containers inside each other; without a limit one that holds itself would use up Lua's stack in
-- the middle of nested error handlers, which LuaJIT does not always survive. How many calls are
-- under way is a guess, as coroutines may be left behind: past the limit the stack itself decides.
local NESTED = 1000
local TOO_DEEP = ': more than ' .. NESTED .. ' containers inside each other: does one of'
local calls = 0

local function wantShallow(self, method)
   if debug.getinfo(2 * NESTED, 'l') then
      dptffi.fail('%s: %s%s them contain itself?', torch.type(self), method, TOO_DEEP)
   end
   calls = 1
end

--- Calls module[method](module, ...); if it raises, says which module of this container it was.
-- @function nn.Container:rethrowErrors
-- @as author
-- @param module module: the one that is called
-- @param index number: its place in the container
-- @param method string: the method's name
-- @param ...? any: what it is called with
-- @return what the method returns
-- @usage local net = nn.Sequential():add(nn.Square())
--    return net:rethrowErrors(net:get(1), 1, 'updateOutput', torch.Tensor{3}) --> [9]
function Container:rethrowErrors(module, index, method, ...)
   local before = calls
   calls = before + 1
   if calls > NESTED then wantShallow(self, method) end
   local ok, result = xpcall(module[method], handler, module, ...)
   calls = before
   if ok then return result end
   if type(result) == 'string' and not result:find(TOO_DEEP, 1, true) then
      result = ('In %d module of %s:\n%s'):format(index, torch.type(self), result)
   end
   error(result, 0)
end

--- Adds the gradient that a module computed for the input of all modules to gradInput; the first
-- one is copied into it. Tensors of a table keep the types that the first tables had.
-- @function nn.Container:addGradInput
-- @as author
-- @param index number: of the module
-- @param gradient tensor: or table; of the input, by that module
-- @return nothing
-- @usage local m = nn.Concat(1)
--    m:addGradInput(1, torch.Tensor{1})
--    m:addGradInput(2, torch.Tensor{2})
--    return m.gradInput --> [3]
function Container:addGradInput(index, gradient)
   if index > 1 then
      nn.utils.recursiveAdd(self.gradInput, gradient)
      return
   end
   local isTable = type(gradient) == 'table'
   local kept = isTable == (type(self.gradInput) == 'table') and self.gradInput or nil
   self.gradInput = nn.utils.recursiveCopy(kept, gradient)
end

--- Calls f with every module directly inside.
-- @function nn.Container:applyToModules
-- @as method
-- @within nn containers
-- @param f function: gets a module
-- @return nothing
-- @usage local n = 0
--    nn.Sequential():add(nn.Tanh()):add(nn.ReLU()):applyToModules(function()
--       n = n + 1
--    end)
--    return n --> 2
function Container:applyToModules(f)
   for _, module in ipairs(self.modules) do f(module) end
end

function Container:zeroGradParameters()
   self:applyToModules(function(module) module:zeroGradParameters() end)
end

function Container:updateParameters(learningRate)
   self:applyToModules(function(module) module:updateParameters(learningRate) end)
end

function Container:training()
   self:applyToModules(function(module) module:training() end)
   parent.training(self)
end

function Container:evaluate()
   self:applyToModules(function(module) module:evaluate() end)
   parent.evaluate(self)
end

function Container:share(other, ...)
   for i, module in ipairs(self.modules) do module:share(other.modules[i], ...) end
   return self
end

function Container:reset(stdv)
   self:applyToModules(function(module) module:reset(stdv) end)
end

function Container:parameters()
   local parameters, gradients = {}, {}
   for _, module in ipairs(self.modules) do
      local p, g = module:parameters()
      for i = 1, p and #p or 0 do
         parameters[#parameters + 1], gradients[#gradients + 1] = p[i], g[i]
      end
   end
   return parameters, gradients
end

function Container:clearState()
   self:applyToModules(function(module) module:clearState() end)
   return parent.clearState(self)
end

--- The text of a container whose modules stand side by side.
-- @function nn.Container:branchesToString
-- @as author
-- @return a string
-- @usage nn.ConcatTable():add(nn.Tanh()):branchesToString():match '%(1%): %S+' --> (1): nn.Tanh
function Container:branchesToString()
   local lines = {torch.type(self) .. ' {', '  input'}
   for i, module in ipairs(self.modules) do
      local last = i == #self.modules
      local start = last and '     `-> ' or '    |`-> '
      local rest = last and '\n         ' or '\n    |    '
      lines[#lines + 1] = start .. '(' .. i .. '): ' .. tostring(module):gsub('\n', rest)
   end
   lines[#lines + 1] = '     ... -> output'
   lines[#lines + 1] = '}'
   return table.concat(lines, '\n')
end

--- The module at an index.
-- @function nn.Container:get
-- @within nn containers
-- @as method
-- @param index number: from 1 on; negative: from the end
-- @return a module
-- @usage torch.type(nn.Sequential():add(nn.Tanh()):get(1)) --> nn.Tanh

--- How many modules there are.
-- @function nn.Container:size
-- @within nn containers
-- @as method
-- @return a number
-- @usage nn.Sequential():add(nn.Tanh()):size() --> 1

return Container
