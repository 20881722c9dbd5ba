--- nn.MultiheadAttention(embedDim, numHeads, options): attention in several heads, each of
-- embedDim / numHeads features, between linear projections of queries, keys and values and one of
-- the result.
--
-- The input is a tensor for self-attention, or a table {query, key, value, keyPaddingMask,
-- attnMask}, in which either mask may be nil. The query is L x N x embedDim, the key S x N x kdim,
-- the value S x N x vdim; with batchFirst, N is the first dimension. Without a batch there is no N.
--
-- keyPaddingMask is N x S; attnMask is L x S, N x numHeads x L x S or (N numHeads) x L x S. A
-- ByteTensor has 1 for a key that takes no part; numbers are added to the scores. Masks have no
-- gradient. A query without keys has attention 0.
--
-- In evaluation, nn.utils.beginCache makes the module remember the keys and values of the positions
-- that it has seen.
-- Invariant: `modules` are the projections, objects of nn.Linear. The first one is that of queries,
-- keys and values, in this order, or these are three if kdim or vdim differs from embedDim; the
-- last one is that of the output. Heads are views: nothing is transposed by copying. One product
-- computes projections of the same tensor.
-- @function nn.MultiheadAttention
-- @within nn attention
-- @as layer
-- @follows PyTorch's MultiheadAttention; numKvHeads and rotary are those of Llama
-- @param embedDim features of queries and of the output
-- @param numHeads number of heads, a divisor of embedDim
-- @param options? bias = false: projections without biases; dropout = probability that a
--    weight of attention becomes 0 in training (0); causal = true: query i uses the keys 1..i;
--    batchFirst = true: dimension 1 is the batch; kdim, vdim = features of keys and values
--    (embedDim); numKvHeads = number of heads of keys and values, a divisor of numHeads (numHeads);
--    rotary = true, or the base (10000): rotates queries and keys by their positions
-- @return a module; forward: L x N x embedDim -> L x N x embedDim, or a table as above
-- @raise if sizes do not fit, or there is no option of that name
-- @usage nn.MultiheadAttention(8, 2, {causal = true}):forward(torch.rand(5, 3, 8)):size() --> 5x3x8

local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local nn = require 'dpt.nn'
local attention = require 'dpt.nn.attention'
local rotary = require 'dpt.nn.rotary'
local comm = require 'dpt.comm'
local options = require 'dpt.distributed.options'
local captured = require 'dpt.device.captured'
local dptffi = require 'dpt.ffi'
local ffi, lib, type = dptffi.ffi, dptffi.lib, dptffi.type

local Attention, parent = torch.class('nn.MultiheadAttention', 'nn.Container')
Attention.transient = {'call_', 'cache_', 'rotations_', 'context_', 'projected_', 'gradProjected_',
   unpack(attention.transient)}

local NAME = 'nn.MultiheadAttention'
local fourSizes = ffi.typeof 'int64_t[4]'
local INPUTS = {'query', 'key', 'value'}
local FLAG = {options.isBoolean, 'true or false'}
local COUNT = {options.isCount, 'a number from 1 on'}
local known = {bias = FLAG, batchFirst = FLAG, kdim = COUNT, vdim = COUNT, numKvHeads = COUNT,
   causal = attention.options.causal, dropout = attention.options.dropout,
   rotary = {function(value)
      return type(value) == 'boolean' or type(value) == 'number' and value > 0 and value < math.huge
   end, 'true, false or a base above 0'}}

local function fail(format, ...) return dptffi.fail(NAME .. ': ' .. format, ...) end

local function sizeOf(t) return table.concat(t:size():totable(), 'x') end

-- Raises unless a number is a divisor of another one, a count.
local function checkDivisor(name, value, of, what)
   if not options.isCount(value) or of % value ~= 0 then
      fail("argument '%s' is %s, wanted a divisor of %s, %s", name, tostring(value), what, of)
   end
end

function Attention:__init(embedDim, numHeads, given)
   parent.__init(self)
   given = options.check(NAME, given, 3, known)
   if not options.isCount(embedDim) then
      fail("argument 'embedDim' is %s, wanted a number from 1 on", embedDim)
   end
   checkDivisor('numHeads', numHeads, embedDim, 'embedDim')
   self.embedDim, self.numHeads, self.headDim = embedDim, numHeads, embedDim / numHeads
   self.numKvHeads = given.numKvHeads or numHeads
   checkDivisor('numKvHeads', self.numKvHeads, numHeads, 'numHeads')
   self.kdim, self.vdim = given.kdim or embedDim, given.vdim or embedDim
   self.dropout, self.causal = given.dropout or 0, given.causal or false
   self.batchFirst = given.batchFirst or false
   self.rotary = given.rotary == true and 10000 or given.rotary or nil
   if self.rotary and self.headDim % 2 ~= 0 then
      fail('option rotary wants heads with an even number of features, got %d', self.headDim)
   end
   local narrow, bias = self.numKvHeads * self.headDim, given.bias ~= false
   if self.kdim == embedDim and self.vdim == embedDim then
      self.modules[1] = nn.Linear(embedDim, embedDim + 2 * narrow, bias)
   else
      self.modules = {nn.Linear(embedDim, embedDim, bias), nn.Linear(self.kdim, narrow, bias),
         nn.Linear(self.vdim, narrow, bias)}
   end
   table.insert(self.modules, nn.Linear(embedDim, embedDim, bias))
   self:reset()
end

--- Draws weights as PyTorch does: those of queries, keys and values uniformly from +-sqrt(6 / (rows
-- + columns)), those of the output from +-1 / sqrt(embedDim); biases are 0. With stdv, draws all
-- uniformly from +-stdv sqrt(3).
function Attention:reset(stdv)
   parent.reset(self, stdv)
   if stdv then return self end
   for i, module in ipairs(self.modules) do
      local weight = module.weight
      if i < #self.modules then
         local bound = math.sqrt(6 / (weight:size(1) + weight:size(2)))
         weight:uniform(-bound, bound)
      end
      if module.bias then module.bias:zero() end
   end
   return self
end

-- inputs ------------------------------------------------------------------------------------------

-- Returns queries, keys and values, which are one tensor in self-attention.
local function operands(self, input)
   if torch.isTensor(input) then input = {input, input, input} end
   local widths = {self.embedDim, self.kdim, self.vdim}
   for i, name in ipairs(INPUTS) do
      local t, query = input[i], input[1]
      if not torch.isTensor(t) then
         fail("argument 'input': wanted a tensor or a table {query, key, value, keyPaddingMask,"
            .. ' attnMask}, got a %s as entry %d', torch.type(t), i)
      end
      local d = t:dim()
      if d < 2 or d > 3 or d ~= query:dim() or t:size(d) ~= widths[i] then
         fail("argument '%s' is of size %s, wanted %s%d", name, sizeOf(t),
            i > 1 and (query:dim() == 2 and 'S x ' or self.batchFirst and 'N x S x ' or 'S x N x ')
            or self.batchFirst and 'N x L x ' or 'L x N x ', widths[i])
      end
   end
   return input[1], input[2], input[3]
end

-- Returns the sizes of the batch and of the sequences of a tensor.
local function rowsOf(self, t)
   if t:dim() == 2 then return 1, t:size(1) end
   if self.batchFirst then return t:size(1), t:size(2) end
   return t:size(2), t:size(1)
end

-- Checks that keys and values fit the queries.
local function checkRows(call, key, value, N, S)
   if N ~= call.N then
      fail("argument 'key' is of size %s, wanted a batch of %d, as the query has", sizeOf(key),
         call.N)
   end
   for d = 1, key:dim() - 1 do
      if value:size(d) ~= key:size(d) then
         fail("argument 'value' is of size %s, wanted %d in dimension %d, as the key has",
            sizeOf(value), key:size(d), d)
      end
   end
   call.S = S
end

local function isByte(t) return torch.type(t):find 'Byte' ~= nil end

-- Raises unless a mask that may be nil has bytes or the numbers of the query.
local function checkType(name, mask, query)
   if torch.isTensor(mask) and not isByte(mask) and torch.type(mask) ~= torch.type(query) then
      fail("argument '%s' is a %s, wanted a ByteTensor or a %s, as the query is", name,
         torch.type(mask), torch.type(query))
   end
end

-- Returns a mask as numbers to add: -inf for the keys that a ByteTensor excludes.
local function numbersOf(mask, like)
   if not isByte(mask) then return mask end
   return like.new(mask:size()):zero():maskedFill(mask:ne(0), -math.huge)
end

-- Returns the kernel's mask, in which a byte of 1 is a key that takes part. Its sizes broadcast to
-- N x heads x L x S. Returns nil if there is none.
local function maskOf(self, input, call)
   local padding, mask = input[4], input[5]
   local N, H, L, S = call.N, self.numHeads, call.L, call.S
   checkType('keyPaddingMask', padding, input[1])
   checkType('attnMask', mask, input[1])
   if padding ~= nil then
      local wanted = input[1]:dim() == 2 and {S} or {N, S}
      if not torch.isTensor(padding) or sizeOf(padding) ~= table.concat(wanted, 'x') then
         fail("argument 'keyPaddingMask' is %s, wanted %s", torch.isTensor(padding)
            and 'of size ' .. sizeOf(padding) or 'a ' .. torch.type(padding),
            #wanted == 1 and tostring(S) or ('N x S, %d x %d'):format(N, S))
      end
      padding = padding:contiguous():view(N, 1, 1, S)
   end
   if mask ~= nil then
      local d = torch.isTensor(mask) and mask:dim() or 0
      local sizes = torch.isTensor(mask) and sizeOf(mask)
      if d == 2 and sizes == L .. 'x' .. S then
         mask = mask:unsqueeze(1):unsqueeze(1)
      elseif d == 3 and sizes == ('%dx%dx%d'):format(N * H, L, S) then
         mask = mask:contiguous():view(N, H, L, S)
      elseif d ~= 4 or sizes ~= ('%dx%dx%dx%d'):format(N, H, L, S) then
         fail("argument 'attnMask' is %s, wanted L x S, N x heads x L x S or (N heads) x L x S:"
            .. ' %dx%d, %dx%dx%dx%d or %dx%dx%d', sizes and 'of size ' .. sizes
            or 'a ' .. torch.type(mask), L, S, N, H, L, S, N * H, L, S)
      end
   end
   if not padding or not mask then
      mask = padding or mask
      return mask and isByte(mask) and mask:eq(0) or mask
   elseif isByte(padding) and isByte(mask) then
      local a, b = torch.broadcast(padding:eq(0), mask:eq(0))
      return torch.cmul(a, b)
   end
   return torch.add(torch.broadcast(numbersOf(padding, input[1]), numbersOf(mask, input[1])))
end

-- projections -------------------------------------------------------------------------------------

-- Returns a layout for the projections of operands 1 to 3: parts = the number of products. Part i
-- has the operands from i on; the last part has all that follow. first: rows of weights before each
-- operand's.
local function layoutOf(self, q, k, v)
   local width = self.numKvHeads * self.headDim
   local first = {0, self.embedDim, self.embedDim + width, self.embedDim + 2 * width}
   local parts = 3
   if #self.modules == 2 and (rawequal(k, v) or k:isSetTo(v)) then
      parts = (rawequal(q, k) or q:isSetTo(k)) and 1 or 2
   end
   return {parts = parts, first = first}
end

-- Returns weight and bias, or their gradients, of the operands from `i` to `last`.
local function weightsOf(self, layout, i, last, weight, bias)
   if #self.modules == 4 then return self.modules[i][weight], self.modules[i][bias] end
   local module = self.modules[1]
   local first = layout.first[i]
   local rows = layout.first[last + 1] - first
   return module[weight]:narrow(1, first + 1, rows),
      module[bias] and module[bias]:narrow(1, first + 1, rows)
end

local function lastOf(layout, part) return part < layout.parts and part or 3 end

-- Returns the heads of an operand, N x heads x rows x headDim, as a view of a buffer of features.
-- There is no storage object, which would keep the buffer until garbage is collected.
local function heads(self, t, features, N, rows, count)
   local D, columns = self.headDim, t:size(t:dim())
   if t:nElement() == 0 then return t.new():resize(N, count, rows, D) end
   local batch, row = columns, N * columns
   if self.batchFirst then batch, row = rows * columns, columns end
   local view = core.tensor(t.kind_)
   lib.set_storage(view, t.storage_, t.offset_ + features, 4, fourSizes(N, count, rows, D),
      fourSizes(batch, D, row, 1))
   return view
end

-- Returns the heads of operand i in buffers of the layout.
local function operandHeads(self, layout, buffers, i, N, rows)
   local part = math.min(i, layout.parts)
   return heads(self, buffers[part], layout.first[i] - layout.first[part], N, rows,
      i == 1 and self.numHeads or self.numKvHeads)
end

local function rotate(self, t, first, sign)
   if self.rotary then rotary.rotate(self, t, self.rotary, first, false, sign) end
end

-- passes ------------------------------------------------------------------------------------------

-- Writes keys and values after those in the cache. Returns those of all positions.
local function append(self, k, v)
   local cache = self.cache_
   if not cache.k then
      local keys = k.new(k:size(1), k:size(2), cache.capacity, k:size(4))
      cache.k, cache.v = keys, k.new():resizeAs(keys)
   end
   local seen, rows = cache.seen, k:size(3)
   cache.k:narrow(3, seen + 1, rows):copy(k)
   cache.v:narrow(3, seen + 1, rows):copy(v)
   return cache.k:narrow(3, 1, seen + rows), cache.v:narrow(3, 1, seen + rows)
end

-- Raises unless an input continues the cache's sequences.
local function checkCache(self, input, call, query, key)
   local cache = self.cache_
   if self.train ~= false then
      fail 'forward in training with a cache; call evaluate(), or nn.utils.endCache'
   end
   if not self.causal or not rawequal(query, key) and not query:isSetTo(key) or input[4] ~= nil
      or input[5] ~= nil then
      fail('a cache wants self-attention with the option causal = true and without masks')
   end
   if captured.notes then fail 'a captured graph cannot use a cache, which grows with each call' end
   if cache.k and cache.k:size(1) ~= call.N then
      fail("argument 'input' is a batch of %d, wanted %d, as in the cache; nn.utils.beginCache"
         .. ' begins another one', call.N, cache.k:size(1))
   end
   if cache.seen + call.L > cache.capacity then
      fail("argument 'input' has %d positions after %d in the cache, wanted at most %d in all, the"
         .. ' capacity of nn.utils.beginCache', call.L, cache.seen, cache.capacity)
   end
end

function Attention:updateOutput(input)
   self.call_, self.attended_ = nil, nil
   local given = {operands(self, input)}
   local query, key, value = given[1], given[2], given[3]
   local N, L = rowsOf(self, query)
   local call = {N = N, L = L, layout = layoutOf(self, query, key, value)}
   checkRows(call, key, value, rowsOf(self, key))
   local masks = torch.isTensor(input) and {} or input
   if self.cache_ then checkCache(self, masks, call, query, key) end
   call.mask = maskOf(self, masks, call)
   local layout = call.layout
   self.projected_ = nn.utils.tensorsLike(self.projected_, {unpack(given, 1, layout.parts)})
   for part, buffer in ipairs(self.projected_) do
      lib.linear_forward(buffer, given[part], weightsOf(self, layout, part, lastOf(layout, part),
         'weight', 'bias'))
   end
   call.q = operandHeads(self, layout, self.projected_, 1, N, L)
   call.k = operandHeads(self, layout, self.projected_, 2, N, call.S)
   call.v = operandHeads(self, layout, self.projected_, 3, N, call.S)
   local offset = self.cache_ and self.cache_.seen or 0
   rotate(self, call.q, offset, 1)
   rotate(self, call.k, offset, 1)
   local k, v = call.k, call.v
   if self.cache_ then k, v = append(self, k, v) end
   if torch.type(self.context_) ~= torch.type(query) then self.context_ = query.new() end
   self.context_:resizeAs(query)
   call.out = heads(self, self.context_, 0, N, L, self.numHeads)
   attention.forward(self, call.out, call.q, k, v, call.mask, offset, query:dim() > 2 and N or 0)
   self.call_ = call
   self.output = self.modules[#self.modules]:updateOutput(self.context_)
   if self.cache_ then self.cache_.seen = offset + L end
   return self.output
end

-- Computes the gradients of the projections.
local function gradientsOf(self, gradOutput)
   attention.checkForward(self)
   if self.cache_ then fail 'backward during a cache; call nn.utils.endCache first' end
   local call = self.call_
   call.gradOutput = nil
   local layout, N, S = call.layout, call.N, call.S
   self.gradProjected_ = nn.utils.tensorsLike(self.gradProjected_, self.projected_)
   for part, buffer in ipairs(self.gradProjected_) do buffer:resizeAs(self.projected_[part]) end
   local gq = operandHeads(self, layout, self.gradProjected_, 1, N, call.L)
   local gk = operandHeads(self, layout, self.gradProjected_, 2, N, S)
   local gv = operandHeads(self, layout, self.gradProjected_, 3, N, S)
   local gradContext = self.modules[#self.modules]:updateGradInput(self.context_, gradOutput)
   local gout = heads(self, gradContext, 0, N, call.L, self.numHeads)
   call.gradients = {gq, gk, gv, gout} -- for nn.Recompute, which frees the tensors in fields
   attention.backward(self, gq, gk, gv, call.q, call.k, call.v, call.mask, call.out, gout)
   rotate(self, gq, 0, -1)
   rotate(self, gk, 0, -1)
   call.gradOutput, call.version = gradOutput.new(gradOutput), comm.version{gradOutput}
   return call
end

-- Returns true if the gradients of the projections are those of gradOutput, which has not changed
-- since then.
local function isCurrent(call, gradOutput)
   return call and call.gradOutput and call.gradOutput:isSetTo(gradOutput)
      and call.version == comm.version{gradOutput}
end

function Attention:updateGradInput(input, gradOutput)
   local layout = gradientsOf(self, gradOutput).layout
   if torch.isTensor(input) then
      if not torch.isTensor(self.gradInput) then self.gradInput = input.new() end
      lib.linear_backward_data(self.gradInput, self.gradProjected_[1],
         (weightsOf(self, layout, 1, 3, 'weight', 'bias')))
      return self.gradInput
   end
   if torch.isTensor(self.gradInput) then self.gradInput = {} end
   for i = 1, 5 do
      local t, own = input[i], self.gradInput[i]
      self.gradInput[i] = t and (torch.type(own) == torch.type(t) and own or t.new()) or nil
      if i > 3 and t then self.gradInput[i]:resize(0) end
   end
   for i = 1, 3 do
      local part = math.min(i, layout.parts)
      local gradient = self.gradProjected_[part]
      lib.linear_backward_data(self.gradInput[i], gradient:narrow(gradient:dim(),
         layout.first[i] - layout.first[part] + 1, layout.first[i + 1] - layout.first[i]),
         (weightsOf(self, layout, i, i, 'weight', 'bias')))
   end
   return self.gradInput
end

function Attention:accGradParameters(input, gradOutput, scale)
   if not isCurrent(self.call_, gradOutput) then gradientsOf(self, gradOutput) end
   local layout, given = self.call_.layout, {operands(self, input)}
   for part, gradient in ipairs(self.gradProjected_) do
      local gw, gb = weightsOf(self, layout, part, lastOf(layout, part), 'gradWeight', 'gradBias')
      lib.linear_backward_weight(gw, gb, given[part], gradient, scale or 1)
   end
   self.modules[#self.modules]:accGradParameters(self.context_, gradOutput, scale)
end

-- Weights are read after they would have changed.
Attention.accUpdateGradParameters = parent.sharedAccUpdateGradParameters

-- cache -------------------------------------------------------------------------------------------

--- Begin and end a cache of the keys and values of past positions; see nn.utils.beginCache.
-- @function nn.MultiheadAttention:beginCache
-- @as author
-- @also nn.MultiheadAttention:endCache()
-- @also nn.PositionEmbedding:beginCache()
-- @also nn.PositionEmbedding:endCache()
-- @param capacity number: the largest number of positions
-- @return nothing
-- @usage local m = nn.MultiheadAttention(4, 2, {causal = true})
--    m:evaluate()
--    m:beginCache(3)
--    m:forward(torch.rand(2, 1, 4))
--    return m:forward(torch.rand(1, 1, 4)):size() --> 1x1x4
function Attention:beginCache(capacity)
   self.call_, self.attended_ = nil, nil
   self.cache_ = {capacity = capacity, seen = 0}
end
function Attention:endCache()
   self.call_, self.attended_, self.cache_ = nil, nil, nil
end

-- devices -----------------------------------------------------------------------------------------

-- Splits an attnMask of three dimensions: all of it for one device.
local function undivided(mask, devices)
   if #devices > 1 then
      fail("argument 'attnMask' is of size %s: for %d devices, wanted L x S or N x heads x L x S",
         sizeOf(mask), #devices)
   end
   return {mask}
end

--- Returns the dimension along which nn.DataParallelTable splits each entry: that of the batch.
-- Every replica gets the whole attnMask if it is L x S.
function Attention:inputSplit(input)
   local query = torch.isTensor(input) and input or input[1]
   attention.checkBatch(self, 'query', query, (self.batchFirst and 'N x L x ' or 'L x N x ')
      .. self.embedDim)
   local batch = self.batchFirst and 1 or 2
   if torch.isTensor(input) then return batch end
   local mask = input[5]
   local dims = torch.isTensor(mask) and mask:dim()
   return {batch, batch, batch, 1, dims == 4 and 1 or dims == 3 and undivided or 'replicate'}
end

function Attention:outputSplit()
   return self.batchFirst and 1 or 2
end

function Attention:__tostring__()
   local words = {self.embedDim, self.numHeads .. ' heads'}
   if self.numKvHeads ~= self.numHeads then words[3] = self.numKvHeads .. ' of keys' end
   if self.causal then words[#words + 1] = 'causal' end
   if self.rotary then words[#words + 1] = 'rotary' end
   if self.dropout > 0 then words[#words + 1] = 'dropout=' .. self.dropout end
   return ('%s(%s)'):format(NAME, table.concat(words, ', '))
end

return Attention
