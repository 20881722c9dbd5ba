--- nn.Container: a module made of other modules, in the list `modules`.
-- Invariant: a method of a container acts on every module in it. An error inside a module names the
-- path to that module, "In 2 module of nn.Sequential:", with one traceback.
-- @function nn.Container
-- @within nn containers
-- @as layer
-- @return a module; forward: see its subclasses
-- @usage nn.Sequential():add(nn.Tanh()):get(1):forward(torch.zeros(1)) --> [0]

local torch = require 'dpt.tensor'
local nn = require 'dpt.nn'
local checkChild = require('dpt.nn.child').check
local report = require 'dpt.report'
local dptffi = require 'dpt.ffi'
local type = dptffi.type

local Container, parent = torch.class('nn.Container', 'nn.Module')
Container.leavesGradients = true

-- True if # calls __len of tables (Lua 5.2).
local asksTables = #setmetatable({}, {__len = function() return 1 end}) == 1

function Container:__init(...)
   if not asksTables then
      report("this LuaJIT lacks Lua 5.2's features, so #net is 0 for every container: write"
         .. ' net:size(), or run scripts with the command dpt (scripts/setup builds a LuaJIT that'
         .. ' has them)')
   end
   parent.__init(self, ...)
   self.modules = {}
end

--- Appends a module.
-- @function nn.Container:add
-- @as method
-- @within nn containers
-- @param module module: any; nil adds nothing, as in Torch7 (nn.Sequential rejects it)
-- @return the container
-- @usage #nn.Sequential():add(nn.Tanh()):add(nn.ReLU()).modules --> 2
function Container:add(module)
   if module ~= nil then
      self.modules[#self.modules + 1] = checkChild(self, 'add', 'module', module)
   end
   return self
end

function Container:get(index)
   return self.modules[index]
end

function Container:size()
   return #self.modules
end

-- Appends a traceback to a message unless it has one: the innermost container has added it.
local function handler(message)
   if type(message) ~= 'string' or message:find('\nstack traceback:', 1, true) then
      return message
   end
   return debug.traceback(message, 2)
end

-- Maximum depth of nested containers. Without a limit, a container that contains itself would
-- exhaust Lua's stack inside nested error handlers, which LuaJIT does not always survive. The count
-- of active calls may be too high, because coroutines may be abandoned. So when it exceeds the
-- limit, checkDepth measures the stack.
local NESTED = 1000
local TOO_DEEP = ': more than ' .. NESTED .. ' containers inside each other: does one of'
local calls = 0

local function checkDepth(self, method)
   if debug.getinfo(2 * NESTED, 'l') then
      dptffi.fail('%s: %s%s them contain itself?', torch.type(self), method, TOO_DEEP)
   end
   calls = 1
end

--- Calls module[method](module, ...). If it raises, prefixes the error with the module's position
-- in this container.
-- @function nn.Container:rethrowErrors
-- @as author
-- @param module module: the module to call
-- @param index number: its index in the container
-- @param method string: the method's name
-- @param ...? any: arguments of the method
-- @return the method's first result
-- @usage local net = nn.Sequential():add(nn.Square())
--    return net:rethrowErrors(net:get(1), 1, 'updateOutput', torch.Tensor{3}) --> [9]
function Container:rethrowErrors(module, index, method, ...)
   local before = calls
   calls = before + 1
   if calls > NESTED then checkDepth(self, method) end
   local ok, result = xpcall(module[method], handler, module, ...)
   calls = before
   if ok then return result end
   if type(result) == 'string' and not result:find(TOO_DEEP, 1, true) then
      result = ('In %d module of %s:\n%s'):format(index, torch.type(self), result)
   end
   error(result, 0)
end

-- Returns true if a has tensors of the types of b's, and tables where b has them.
local function haveSameTypes(a, b)
   if torch.type(a) ~= torch.type(b) then return false end
   for key, value in pairs(type(b) == 'table' and b or {}) do
      if not haveSameTypes(a[key], value) then return false end
   end
   return true
end

--- Adds the input gradient of one module to gradInput, the sum over all modules; copies it for the
-- first module. The tensors of a table keep the types of the first module's.
-- @function nn.Container:addGradInput
-- @as author
-- @param index number: the module's index
-- @param gradient tensor: or table; the module's gradInput
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
   local kept = haveSameTypes(self.gradInput, gradient) and self.gradInput or nil
   self.gradInput = nn.utils.recursiveCopy(kept, gradient)
end

--- Calls f with each direct child.
-- @function nn.Container:applyToModules
-- @as method
-- @within nn containers
-- @param f function: receives a module
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

--- Formats a container whose modules are parallel branches.
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

--- Returns the module at an index.
-- @function nn.Container:get
-- @within nn containers
-- @as method
-- @param index number: from 1; a negative one counts from the end
-- @return a module
-- @usage torch.type(nn.Sequential():add(nn.Tanh()):get(1)) --> nn.Tanh

--- Returns the number of modules.
-- @function nn.Container:size
-- @within nn containers
-- @as method
-- @return a number
-- @usage nn.Sequential():add(nn.Tanh()):size() --> 1

return Container
