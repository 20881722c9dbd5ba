--- dpt.tensor.linalg: products of matrices and vectors, triangles, convolutions, factorizations.
--
-- Invariant: a result given to mm, mv, ger or bmm is not resized, as in Torch7; all other results
-- are. Letters such as 'U' and 'T' are LAPACK's and go to C as they are.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local sizes = require 'dpt.tensor.sizes'
local lib, fail = dptffi.lib, dptffi.fail
local istype, tensorType, fresh = dptffi.ffi.istype, core.tensorType, core.fresh
local type = dptffi.type
local both, dimension, checkInteger = core.both, core.dimension, core.checkInteger
local torch, usage, INT, ON_DEVICE = class.torch, core.usage, dptffi.C.DPT_I32, core.ON_DEVICE

local function isTensor(v) return istype(tensorType, v) end

-- plain products ----------------------------------------------------------------------------------

--- By name: the C function, the dimensions of the operands, and which of their dimensions make the
-- result: {1, 0} is dimension 0 of the first operand.
local products = {
   mm = {'addmm', 2, 2, {{1, 0}, {2, 1}}},
   mv = {'addmv', 2, 1, {{1, 0}}},
   ger = {'addr', 1, 1, {{1, 0}, {2, 0}}},
   bmm = {'baddbmm', 3, 3, {{1, 0}, {1, 1}, {2, 2}}},
}

--- [r] a b
for name, product in pairs(products) do
   local multiply, na, nb, shape = lib[product[1]], product[2], product[3], product[4]
   both(name, function(a, b, c)
      local r, x, y = a, b, c
      if c == nil then r, x, y = nil, a, b end
      if not isTensor(x) or not isTensor(y) or (r and not isTensor(r)) then
         usage(name, '[result] tensor tensor', a, b, c)
      end
      if x.ndim_ ~= na or y.ndim_ ~= nb then
         fail('%s: got %s and %s, wanted %d and %d dimensions', name, core.describeSize(x),
            core.describeSize(y), na, nb)
      end
      for d = 1, #shape do
         local from = shape[d][1] == 1 and x or y
         sizes.size[d - 1] = from.size_[shape[d][2]]
      end
      if not r then
         r = fresh(x.kind_)
         lib.resize(r, #shape, sizes.size)
      else
         local fits = r.ndim_ == #shape
         for d = 0, #shape - 1 do fits = fits and r.size_[d] == sizes.size[d] end
         if not fits then
            fail('%s: the result is a %s, which does not fit %s and %s', name, core.describeSize(r),
               core.describeSize(x), core.describeSize(y))
         end
      end
      multiply(r, 0, r, 1, x, y)
      return r
   end)
end

--- torch.addmm([r,] [beta,] m, [alpha,] a, b); m:addmm([beta, alpha,] a, b); r:addmm(m, a, b)
local function sum(name, inPlace)
   local wanted = '[result] [beta] tensor [alpha] tensor tensor'
   local add = lib[name]
   return function(...)
      local tensors, before, after = {}, nil, nil
      for i = 1, select('#', ...) do
         local v = (select(i, ...))
         if isTensor(v) then
            tensors[#tensors + 1] = v
         elseif type(v) ~= 'number' then
            usage(name, wanted, ...)
         elseif after then
            before, after = after, v
         elseif #tensors == 0 then
            before = v
         else
            after = v
         end
      end
      local n = #tensors
      if n < 3 or n > 4 then usage(name, wanted, ...) end
      local m, a, b = tensors[n - 2], tensors[n - 1], tensors[n]
      local r = n == 4 and tensors[1] or inPlace and m or fresh(m.kind_)
      add(r, before or 1, m, after or 1, a, b)
      return r
   end
end
for _, name in ipairs{'addmm', 'addmv', 'addr', 'addbmm', 'baddbmm'} do
   torch[name] = sum(name, false)
   core.method(name, sum(name, true))
end

--- [r] a b [dim]
both('cross', function(a, b, c, d)
   local r, x, y, dim = a, b, c, d
   if not isTensor(c) then r, x, y, dim = nil, a, b, c end
   if not isTensor(x) or not isTensor(y) or (r and not isTensor(r)) then
      usage('cross', '[result] tensor tensor [dimension]', a, b, c, d)
   end
   r = r or fresh(x.kind_)
   lib.cross(r, x, y, dim and dimension('cross', x, dim) or -1)
   return r
end)

--- [r] x [k]
for _, name in ipairs{'diag', 'tril', 'triu'} do
   both(name, function(a, b, c)
      local r, x, k = a, b, c
      if not isTensor(b) then r, x, k = nil, a, b end
      if not isTensor(x) or (r and not isTensor(r)) then
         usage(name, '[result] tensor [diagonal]', a, b, c)
      end
      r = r or fresh(x.kind_)
      lib[name](r, x, k == nil and 0 or checkInteger(name, 'diagonal', k))
      return r
   end)
end

--- [r] x kernel ['F' | 'V']
for name, form in pairs{conv2 = {2, 1}, xcorr2 = {2, 0}, conv3 = {3, 1}, xcorr3 = {3, 0}} do
   both(name, function(a, b, c, d)
      local r, x, kernel, mode = a, b, c, d
      if not isTensor(c) then r, x, kernel, mode = nil, a, b, c end
      mode = mode or 'V'
      if not isTensor(x) or not isTensor(kernel) or (r and not isTensor(r))
         or (mode ~= 'V' and mode ~= 'F') then
         usage(name, "[result] tensor tensor ['F' or 'V']", a, b, c, d)
      end
      r = r or fresh(x.kind_)
      lib.conv(r, x, kernel, form[1], mode == 'F' and 1 or 0, form[2])
      return r
   end)
end

-- LAPACK ------------------------------------------------------------------------------------------

--- By name: results (a letter each: t the operand's type, i Int), operands, and the further
-- arguments with their defaults.
local factorizations = {
   gesv = {'tt', 2}, gels = {'tt', 2}, trtrs = {'tt', 2, 'U', 'N', 'N'}, inverse = {'t', 1},
   symeig = {'tt', 1, 'N', 'U'}, eig = {'tt', 1, 'N'}, svd = {'ttt', 1, 'S'},
   potrf = {'t', 1, 'U'}, potri = {'t', 1, 'U'}, potrs = {'t', 2, 'U'},
   pstrf = {'ti', 1, 'U', -1}, qr = {'tt', 1}, geqrf = {'tt', 1}, orgqr = {'t', 2},
   ormqr = {'t', 3, 'L', 'N'},
}

--- The results whose columns are contiguous, as LAPACK left them in Torch7: scripts see it.
local byColumns = {inverse = {true}, symeig = {false, true}, eig = {false, true},
   svd = {true, false, true}}

local function layByColumns(r)
   if r.ndim_ ~= 2 or not r:isContiguous() then return end
   local copy = r:clone()
   r:resize(copy:size(2), copy:size(1))
   lib.transpose(r, r, 0, 1)
   lib.copy(r, copy)
end

for name, form in pairs(factorizations) do
   local kinds, operands = form[1], form[2]
   local wanted = ('[%s] %s%s'):format(('result '):rep(#kinds):sub(1, -2),
      ('tensor '):rep(operands):sub(1, -2), #form > 2 and ' [options]' or '')
   both(name, function(...)
      local tensors, options = {}, {}
      for i = 1, select('#', ...) do
         local v = (select(i, ...))
         if isTensor(v) and #options == 0 then
            tensors[#tensors + 1] = v
         else
            options[#options + 1] = v
            if #options > #form - 2 or type(v) ~= type(form[#options + 2]) then
               usage(name, wanted, ...)
            end
         end
      end
      if #tensors == operands then
         for i = 1, #kinds do
            local kind = tensors[i].kind_
            if kinds:sub(i, i) == 'i' then kind = kind >= ON_DEVICE and INT + ON_DEVICE or INT end
            table.insert(tensors, i, fresh(kind))
         end
      elseif #tensors ~= #kinds + operands then
         usage(name, wanted, ...)
      end
      local n = #tensors
      for i = 1, #form - 2 do
         local option = options[i]
         if option == nil then option = form[i + 2] end
         tensors[n + i] = option
      end
      lib[name](unpack(tensors))
      for i, columns in pairs(byColumns[name] or {}) do
         if columns then layByColumns(tensors[i]) end
      end
      return unpack(tensors, 1, #kinds)
   end)
end
