--- dpt.tensor.broadcast: views of a common size, and torch.where.
--
-- Invariant: sizes are aligned at the last dimension; a dimension of size 1, or a missing one, is
-- repeated with stride 0. Methods of tensors do not broadcast: they compare numbers of elements.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail
local type = dptffi.type
local fresh = core.fresh
local torch, ON_DEVICE, BYTE = class.torch, core.ON_DEVICE, core.BYTE

-- Returns the sizes as a list; an empty vector has size 0.
local function sizesOf(t) return t.ndim_ == 0 and {0} or t:size():totable() end

-- Returns the common size of tensors; names: of the arguments, for messages.
local function commonSize(fn, names, ...)
   local tensors, common, from, sizes = {...}, {}, {}, {} -- common, from: the last dimension first
   for i, name in ipairs(names) do
      local t = core.checkTensor(fn, name, tensors[i])
      local own = sizesOf(t)
      for d = 1, #own do
         local size, known = own[#own + 1 - d], common[d] or 1
         if size ~= known and size ~= 1 and known ~= 1 then
            fail("%s: argument '%s' is a %s, wanted size %d or 1 in dimension %d as in '%s', a %s",
               fn, name, core.describeSize(t), known, #own + 1 - d, names[from[d]],
               core.describeSize(tensors[from[d]]))
         end
         if not common[d] or size ~= 1 then common[d], from[d] = size, i end
      end
   end
   for d = 1, #common do sizes[d] = common[#common + 1 - d] end
   return sizes
end

-- Returns a view of t with the given sizes.
local function expanded(t, sizes)
   for _, size in ipairs(sizes) do
      if size == 0 then return t.new(torch.LongStorage(sizes)) end
   end
   local view = core.tensor(t.kind_)
   lib.tensor_set(view, t)
   for _ = t.ndim_ + 1, #sizes do lib.unsqueeze(view, view, 0) end
   return view:expand(torch.LongStorage(sizes))
end

--- Returns views of tensors with a common size: sizes are aligned at the last dimension, and
-- dimensions of size 1, or missing ones, are repeated with stride 0. For methods, which do not
-- broadcast.
-- @function torch.broadcast
-- @within tensors
-- @param ... tensor: tensors of any types
-- @return a view of each tensor
-- @raise if an argument is not a tensor, or two sizes of a dimension differ and neither is 1
-- @follows PyTorch's broadcast_tensors
-- @usage local a, b = torch.broadcast(torch.Tensor{1, 2}, torch.Tensor{{10}, {20}})
--    return torch.add(a, b) --> [11 12 21 22]
function torch.broadcast(...)
   local views, names = {...}, {}
   for i = 1, math.max(1, select('#', ...)) do names[i] = i end
   local sizes = commonSize('broadcast', names, ...)
   for i, t in ipairs(views) do views[i] = expanded(t, sizes) end
   return unpack(views)
end

local isTensor, where = core.isTensor, C.dpt_op 'where'

-- Returns a tensor of one element beside `like`, with the value and the kind.
local function scalar(value, kind, like)
   local t, one = fresh(kind), ffi.new('int64_t[1]', 1)
   lib.resize_beside(t, 1, one, like)
   lib.fill(t, value)
   return t
end

--- Returns the elements of one tensor where the condition is not 0, and of another elsewhere.
-- @function torch.where
-- @within pointwise
-- @param result? tensor: output tensor; allocated if omitted
-- @param condition tensor: a ByteTensor, as comparisons return
-- @param a tensor: or a number
-- @param b tensor: of the type of a, or a number
-- @return a tensor of the common size of the arguments (torch.broadcast) and of the type of a or b;
--    the default type if both are numbers
-- @raise if types or sizes do not fit
-- @follows PyTorch's where
-- @usage local x = torch.Tensor{{-1, 2}, {3, -4}}
--    return torch.where(x:gt(0), x, 0), torch.where(x:gt(0), x, torch.Tensor{8, 9})
--    --> [0 2 3 0], [8 2 3 9]
function torch.where(...)
   local r, condition, a, b = nil, ...
   if select('#', ...) == 4 then r, condition, a, b = ... end
   local like = isTensor(a) and a or isTensor(b) and b or condition
   if not isTensor(condition) or condition.kind_ % ON_DEVICE ~= BYTE or r and not isTensor(r)
      or not isTensor(a) and type(a) ~= 'number' or not isTensor(b) and type(b) ~= 'number' then
      core.usage('where', '[result] ByteTensor (tensor | number) (tensor | number)', ...)
   end
   local kind, side = like.kind_, condition.kind_ - BYTE
   if not isTensor(a) and not isTensor(b) then kind = core.default % ON_DEVICE + side end
   if isTensor(b) and b.kind_ ~= kind or side > kind then
      fail("where: argument '%s' is a %s, wanted a tensor like argument '%s', a %s",
         side > kind and 'condition' or 'b', core.describeSize(side > kind and condition or b),
         isTensor(a) and 'a' or 'b', core.describeSize(like))
   end
   if not isTensor(a) then a = scalar(a, kind, like) end
   if not isTensor(b) then b = scalar(b, kind, like) end
   local sizes = commonSize('where', {'condition', 'a', 'b'}, condition, a, b)
   local chosen = fresh(kind)
   lib.resize_beside(chosen, condition.ndim_, condition.size_, side > 0 and condition or like)
   lib.copy(chosen, condition)
   r = r or fresh(kind)
   lib.map3(where, r, expanded(chosen, sizes), expanded(a, sizes), expanded(b, sizes), 0, 0)
   return r
end
