--- dpt.rnn.remember: decides when a sequence module continues from its state.
-- Invariant: unless remember was called, every sequence starts from the initial state.
local fail = require('dpt.ffi').fail
local torch = require 'dpt.tensor'

local M = {}

local modes = {both = true, train = true, eval = true, neither = true}

--- Sets the mode of a module's remember(mode): 'both' (the default), 'train', 'eval' or 'neither'.
-- @return the module
function M.setMode(module, mode)
   mode = mode or 'both'
   if not modes[mode] then
      fail("%s: remember wants 'both', 'train', 'eval' or 'neither', got %s", torch.type(module),
         tostring(mode))
   end
   module.rememberMode = mode
   return module
end

--- Returns true if the module continues from its state, in its present training mode.
function M.isEnabled(module)
   local mode = module.rememberMode
   return mode == 'both' or mode == (module.train ~= false and 'train' or 'eval')
end

--- Returns the error message for a remembered state of `rows` rows and an input of `wanted` rows.
function M.mismatch(module, rows, wanted)
   return ('%s: the remembered state is of a batch of %d rows, the input has %d: call forget()'
      .. ' before a batch of another size'):format(torch.type(module), rows, wanted)
end

return M
