--- dpt.rnn.remembering: when a module for sequences goes on from the state that it has.
-- Invariant: unless remember was called, it begins anew with each sequence.
local fail = require('dpt.ffi').fail
local torch = require 'dpt.tensor'

local M = {}

local modes = {both = true, train = true, eval = true, neither = true}

--- remember(mode) of a module: 'both' (the default), 'train' or 'eval', or 'neither'.
-- @return the module
function M.set(module, mode)
   mode = mode or 'both'
   if not modes[mode] then
      fail("%s: remember wants 'both', 'train', 'eval' or 'neither', got %s", torch.type(module),
         tostring(mode))
   end
   module.rememberMode = mode
   return module
end

--- Returns true if the module continues from its state, in its present training mode.
function M.now(module)
   local mode = module.rememberMode
   return mode == 'both' or mode == (module.train ~= false and 'train' or 'eval')
end

--- Returns what is wrong with a remembered state of some rows for an input of others.
function M.mismatch(module, rows, wanted)
   return ('%s: the remembered state is of a batch of %d rows, the input has %d: call forget()'
      .. ' before a batch of another size'):format(torch.type(module), rows, wanted)
end

return M
