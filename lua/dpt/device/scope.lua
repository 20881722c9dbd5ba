--- dpt.device.scope: labels queued work with this thread's activity: the phase of a step, and the
-- module with its path in the network.
--
-- Invariant: while no profile is recorded, a scope costs one read of a number, and modules cost
-- nothing: their classes have their original methods. During a profile the methods that compute are
-- wrapped, in this Lua state after wrapMethods(). Work that a module queues is labelled with the
-- innermost running module. Modules that an error left are discarded when the next module is
-- called, which is not inside them.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local C, type = dptffi.C, dptffi.type

local scope = {}

local on = C.dpt_trace_on()
local label = C.dpt_trace_label() -- this thread's

-- The phase of each method of a module; the phase of a criterion is 'criterion'.
local PHASES = {updateOutput = 'forward', updateGradInput = 'backward', updateLoss = 'criterion',
   accGradParameters = 'backward', backward = 'backward', accUpdateGradParameters = 'backward'}

-- A node is a module on a path through a network: {module, path, name, children, labels}.
local WEAK = {__mode = 'k'}
local function newNode(module, path, name)
   return {module = module, path = path, name = name, labels = {},
      children = setmetatable({}, WEAK)}
end

local outside = newNode(nil, '', '')
local roots, networks = setmetatable({}, WEAK), 0
local node, phase = outside, ''

local function setLabel()
   local number = node.labels[phase]
   if not number then
      number = C.dpt_trace_label_new(phase .. '\t' .. node.path .. '\t' .. node.name)
      node.labels[phase] = number
   end
   label[0] = number
end

local function isCriterion(module) return class.torch.isTypeOf(module, 'nn.Criterion') end

-- Returns the root node of a network. The first network's modules are '1', '2.1' ...; those of
-- another begin with its name.
local function rootOf(module)
   local root = roots[module]
   if root then return root end
   local name = tostring(class.torch.type(module))
   local path
   if isCriterion(module) then
      path = name
   else
      networks = networks + 1
      path = type(module.name) == 'string' and module.name
         or networks > 1 and 'net' .. networks or ''
   end
   root = newNode(module, path, name)
   roots[module] = root
   return root
end

-- Returns a module's name in the module that holds it, or nil if it does not hold it.
local function nameIn(holder, module)
   if holder.standsForInner then return '' end
   for _, key in ipairs{'modules', 'sharedClones', 'criterions'} do
      for i, child in pairs(type(holder[key]) == 'table' and holder[key] or {}) do
         if rawequal(child, module) then
            return type(module.name) == 'string' and module.name or tostring(i)
         end
      end
   end
   for key, value in pairs(holder) do
      if rawequal(value, module) then return tostring(key) end
   end
end

local function childOf(parent, module)
   local child = parent.children[module]
   if child ~= nil then return child end
   local name = parent.module and nameIn(parent.module, module)
   if name then
      local path = name == '' and parent.path or parent.path == '' and name
         or parent.path .. '.' .. name
      child = newNode(module, path, tostring(class.torch.type(module)))
      child.above = parent
   end
   parent.children[module] = child or false
   return child
end

-- Returns the node of the module that is being called.
local function nodeOf(module)
   local at = node
   while at and at ~= outside do
      if at.module == module then return at end
      local child = childOf(at, module)
      if child then return child end
      at = at.above
   end
   return rootOf(module)
end

local function leave(before, phaseBefore, began, ...)
   if began then C.dpt_trace_span(began, label[0]) end
   node, phase = before, phaseBefore
   setLabel()
   return ...
end

-- methods -----------------------------------------------------------------------------------------

local plainOf = setmetatable({}, WEAK) -- wrapper -> method

local function wrapper(plain, method)
   local ownPhase = PHASES[method]
   local function wrapped(module, ...)
      if on[0] == 0 or type(module) ~= 'table' then return plain(module, ...) end
      local before, phaseBefore = node, phase
      local entered = nodeOf(module)
      local wanted = entered.criterion
      if wanted == nil then
         wanted = isCriterion(module) and 'criterion'
         entered.criterion = wanted
      end
      wanted = wanted or (phase == 'criterion' and 'criterion') or ownPhase
      local began = (entered ~= node or wanted ~= phase) and C.dpt_trace_now() or nil
      node, phase = entered, wanted
      setLabel()
      return leave(before, phaseBefore, began, plain(module, ...))
   end
   plainOf[wrapped] = plain
   return wrapped
end

local function wrap(_, key, value)
   if not PHASES[key] or type(value) ~= 'function' or plainOf[value] then return value end
   return wrapper(value, key)
end

local function unwrap(_, _, value) return plainOf[value] or value end

local following = false

--- Wraps or restores the classes of this Lua state, depending on the profiler. Called where a step
-- or a job begins; a thread's state does this by itself.
function scope.wrapMethods()
   if (on[0] ~= 0) == following then return end
   following = not following
   if following then class.replaceMethods(wrap, wrap) else class.replaceMethods(unwrap) end
   node, phase, networks = outside, '', 0
   roots = setmetatable({}, WEAK)
   setLabel()
end

-- phases ------------------------------------------------------------------------------------------

local function ended(before, phaseBefore, began, ok, ...)
   leave(before, phaseBefore, began)
   if not ok then error((...), 0) end
   return ...
end

--- Calls f(...) in a phase, which labels the work that it queues, except in a module's forward or
-- backward.
-- @return the results of f
function scope.call(name, f, ...)
   if on[0] == 0 then return f(...) end
   scope.wrapMethods()
   local before, phaseBefore, began = node, phase, C.dpt_trace_now()
   phase = name
   setLabel()
   return ended(before, phaseBefore, began, pcall(f, ...))
end

return scope
