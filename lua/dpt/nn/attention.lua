--- dpt.nn.attention: the kernel of attention for the layers that use it.
--
-- Invariant: forward stores in the module what backward reads: the field save, and in attended_ the
-- kernel's options with the key of the draw of dropout. So backward drops the same weights.

local core = require 'dpt.tensor.core'
local torch = require 'dpt.tensor'
local options = require 'dpt.distributed.options'
local dptffi = require 'dpt.ffi'
local ffi, raise, type, lib = dptffi.ffi, dptffi.raise, dptffi.type, dptffi.lib

local M = {}

--- Fields that the functions below set.
M.transient = {'save', 'attended_'}

--- Options of layers, for dpt.distributed.options.
M.options = {
   causal = {options.isBoolean, 'true or false'},
   dropout = {function(value) return type(value) == 'number' and value >= 0 and value < 1 end,
      'a probability from 0 on and below 1'},
   scale = {function(value) return type(value) == 'number' and math.abs(value) < math.huge end,
      'a finite number'},
}

local newCall = ffi.typeof 'dpt_attention'

--- Computes out = softmax(q k^T * scale + mask) v; see dpt_attention_forward in csrc/dpt.h.
-- @param self module: its fields causal, scale and dropout are used
-- @param offset causal: row i of q takes part with the keys up to i + offset
-- @param rows number of rows of the batch, of which q may have a multiple; 0: there is no batch
function M.forward(self, out, q, k, v, mask, offset, rows)
   local call = newCall()
   call.causal = self.causal and 1 or 0
   call.offset = offset
   call.scale = self.scale or 1 / math.sqrt(q:size(4))
   if self.train ~= false and self.dropout > 0 then
      call.dropout = self.dropout
      lib.draw_next(call.draw, q, core.generator(), rows)
   end
   local kind = core.computeKind(q.kind_)
   if not self.save or self.save.kind_ ~= kind then self.save = core.newTensor(kind) end
   self.attended_ = nil
   lib.attention_forward(out, self.save, q, k, v, mask, call)
   self.attended_ = call
end

--- Computes the gradients of q, k and v for the tensors of the last forward.
function M.backward(self, gq, gk, gv, q, k, v, mask, out, gout)
   lib.attention_backward(gq, gk, gv, q, k, v, mask, out, gout, self.save, self.attended_)
end

--- Raises if a tensor is one sample, in which nn.DataParallelTable would split the positions.
-- @param name of the argument
-- @param wanted sizes with a batch
function M.checkBatch(self, name, t, wanted)
   if torch.isTensor(t) and t:dim() == 2 then
      dptffi.fail("%s: argument '%s' is of size %s: a batch is split, wanted %s", torch.type(self),
         name, table.concat(t:size():totable(), 'x'), wanted)
   end
end

--- Raises unless an input has real numbers.
function M.checkReal(self, input)
   if not core.elementOf(input.kind_).isReal then
      dptffi.fail("%s: argument 'input' is a %s, wanted a tensor of real numbers", torch.type(self),
         torch.type(input))
   end
end

--- Raises if there was no forward.
function M.checkForward(self)
   if not self.attended_ then raise(torch.type(self) .. ': backward wants a forward before it') end
end

return M
