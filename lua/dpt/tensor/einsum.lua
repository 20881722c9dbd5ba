--- dpt.tensor.einsum: torch.einsum: sums of products of tensors that an equation describes.
--
-- Invariant: an operand is {t, labels, size, stride}: t has the memory; each label stands for one
-- dimension of the operand and occurs once. A label is a letter or, for a dimension that an
-- ellipsis stands for, its number counted from the last one. Operands are contracted from left to
-- right, each time by one product of matrices, after the labels that no other list has are summed.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local fail, type = dptffi.fail, dptffi.type
local torch = class.torch

local function fault(equation, format, ...)
   fail("einsum: argument 'equation' is '%s': " .. format, equation, ...)
end

-- Returns the labels of a list such as 'b...ij', with '...' for an ellipsis.
local function parse(equation, text)
   local labels, rest = {}, text
   while rest ~= '' do
      local label = rest:match '^%a' or rest:match '^%.%.%.'
      if not label then
         fault(equation, "got '%s', wanted letters, '...', ',' and '->'", rest:sub(1, 1))
      elseif label == '...' and text:find('...', #text - #rest + 4, true) then
         fault(equation, "'%s' has more than one '...'", text)
      end
      labels[#labels + 1] = label
      rest = rest:sub(#label + 1)
   end
   return labels
end

-- Returns the labels with the numbers dots, dots - 1 ... 1 in place of an ellipsis.
local function spelled(labels, dots)
   local list = {}
   for _, label in ipairs(labels) do
      if label == '...' then
         for d = dots, 1, -1 do list[#list + 1] = d end
      else
         list[#list + 1] = label
      end
   end
   return list
end

-- Adds a label with its size and stride to an operand.
local function put(operand, label, size, stride)
   table.insert(operand.labels, label)
   operand.size[label], operand.stride[label] = size, stride
end

-- Returns an operand without labels in the memory of t.
local function operandIn(t) return {t = t, labels = {}, size = {}, stride = {}} end

-- Returns an operand for tensor number i; repeated labels select a diagonal. Updates sizes, the
-- size of each label in all tensors: #sizes is the number of dimensions that ellipses stand for.
local function read(equation, i, t, labels, sizes)
   local size, stride = t:size():totable(), t:stride():totable()
   if #size == 0 then size, stride = {0}, {1} end -- an empty vector
   local list = spelled(labels, #size - #labels + 1)
   if #list ~= #size then
      fault(equation, 'list %d has %d dimensions, tensor %d is a %s', i, #labels, i,
         core.describeSize(t))
   end
   local operand = operandIn(t)
   for d, label in ipairs(list) do
      if not operand.size[label] then
         put(operand, label, size[d], stride[d])
      elseif operand.size[label] == size[d] then
         operand.stride[label] = operand.stride[label] + stride[d]
      else
         fault(equation, "'%s' has sizes %d and %d in tensor %d", label, operand.size[label],
            size[d], i)
      end
      local known = sizes[label] or 1
      if known ~= 1 and size[d] ~= 1 and known ~= size[d] then
         fault(equation, "%s has size %d in tensor %d, and %d in an earlier one",
            type(label) == 'number' and "a dimension of '...'" or "'" .. label .. "'", size[d], i,
            known)
      end
      if known == 1 then sizes[label] = size[d] end
   end
   return operand
end

-- Returns a view with a dimension for each label; missing labels have stride 0 and the size in
-- `sizes`. Without labels: a vector of one element.
local function view(operand, labels, sizes)
   local size, stride = {}, {}
   for d, label in ipairs(labels) do
      size[d], stride[d] = operand.size[label] or sizes[label], operand.stride[label] or 0
   end
   if #labels == 0 then size, stride = {1}, {1} end
   return operand.t.new():set(operand.t:storage(), operand.t:storageOffset(),
      torch.LongStorage(size), torch.LongStorage(stride))
end

-- Returns an operand of the given labels in t, which has a dimension for each of them.
local function operandOf(t, labels)
   local operand = operandIn(t)
   for d, label in ipairs(labels) do put(operand, label, t:size(d), t:stride(d)) end
   return operand
end

-- Returns the operand summed over the labels that isKept rejects.
local function sum(operand, isKept)
   local t, kept = nil, {}
   for d, label in ipairs(operand.labels) do
      if isKept(label) then
         kept[#kept + 1] = label
      else
         t = (t or view(operand, operand.labels)):sum(d)
      end
   end
   if not t then return operand end
   local whole, rest = operandOf(t, operand.labels), operandIn(t)
   for _, label in ipairs(kept) do put(rest, label, whole.size[label], whole.stride[label]) end
   return rest
end

-- Returns the operand without the labels of size 1 that have another size in `other`.
local function narrowed(operand, other)
   local rest = operandIn(operand.t)
   for _, label in ipairs(operand.labels) do
      local size = operand.size[label]
      if size ~= 1 or (other.size[label] or 1) == 1 then
         put(rest, label, size, operand.stride[label])
      end
   end
   return rest
end

-- Returns the product of the sizes, and the stride of the dimensions as one, or nil.
local function merged(operand, labels)
   local size, stride = 1, 1
   for i = #labels, 1, -1 do
      local n, step = operand.size[labels[i]], operand.stride[labels[i]]
      if size == 1 then
         stride = step
      elseif n ~= 1 and stride and step ~= stride * size then
         stride = nil
      end
      size = size * n
   end
   return size, stride
end

-- Returns a tensor with one dimension for each of the lists of labels: a view if strides allow it.
local function folded(operand, groups)
   local all, size, stride, isView = {}, {}, {}, true
   for i, labels in ipairs(groups) do
      size[i], stride[i] = merged(operand, labels)
      isView = isView and stride[i] ~= nil
      for _, label in ipairs(labels) do all[#all + 1] = label end
   end
   if not isView then return view(operand, all):contiguous():view(torch.LongStorage(size)) end
   return operand.t.new():set(operand.t:storage(), operand.t:storageOffset(),
      torch.LongStorage(size), torch.LongStorage(stride))
end

local function joined(...)
   local all = {}
   for _, labels in ipairs{...} do
      for _, label in ipairs(labels) do all[#all + 1] = label end
   end
   return all
end

-- Returns the product of two operands, summed over the labels that isKept rejects.
local function product(x, y, isKept)
   x, y = narrowed(x, y), narrowed(y, x)
   x = sum(x, function(label) return isKept(label) or y.size[label] end)
   y = sum(y, function(label) return isKept(label) or x.size[label] end)
   local batch, left, right, inner, sizes = {}, {}, {}, {}, {}
   for _, label in ipairs(x.labels) do
      local list = not y.size[label] and left or isKept(label) and batch or inner
      list[#list + 1], sizes[label] = label, x.size[label]
   end
   for _, label in ipairs(y.labels) do
      if not x.size[label] then right[#right + 1], sizes[label] = label, y.size[label] end
   end
   local all = joined(batch, left, right)
   if #inner == 0 then
      return operandOf(torch.cmul(view(x, all, sizes), view(y, all, sizes)), all)
   end
   local a, b = folded(x, {batch, left, inner}), folded(y, {batch, inner, right})
   local t = #batch > 0 and torch.bmm(a, b) or torch.mm(a:select(1, 1), b:select(1, 1))
   local size = {}
   for d, label in ipairs(all) do size[d] = sizes[label] end
   return operandOf(#all > 0 and t:view(torch.LongStorage(size)) or t:view(-1), all)
end

-- Returns the labels of each tensor and of the output, with '...' for an ellipsis.
local function lists(equation)
   local text = equation:gsub('%s+', '')
   local left, output = text:match '^(.-)%->(.*)$'
   local inputs, seen, isRepeated = {}, {}, {}
   for part in ((left or text) .. ','):gmatch '([^,]*),' do
      inputs[#inputs + 1] = parse(equation, part)
      for _, label in ipairs(inputs[#inputs]) do
         seen[label], isRepeated[label] = true, seen[label]
      end
   end
   if output then
      output = parse(equation, output)
      local before = {}
      for _, label in ipairs(output) do
         if before[label] or label ~= '...' and not seen[label] then
            fault(equation, "the output has '%s' %s", label,
               before[label] and 'twice' or 'and no tensor has it')
         end
         before[label] = true
      end
      return inputs, output
   end
   output = {}
   for label in pairs(seen) do
      if label ~= '...' and not isRepeated[label] then output[#output + 1] = label end
   end
   table.sort(output)
   if seen['...'] then table.insert(output, 1, '...') end
   return inputs, output
end

--- Returns a sum of products of tensors that an equation describes, for example a product of
-- matrices ('ij,jk->ik'), a batch of them ('bij,bjk->bik'), a trace ('ii'), a diagonal ('ii->i'), a
-- bilinear form ('bi,oij,bj->bo'). Each letter names a dimension; the result has the dimensions
-- after '->', and all others are summed. Without '->' it has those that occur once, in alphabetical
-- order (upper case first). '...' stands for further dimensions, which broadcast. Dimensions of
-- size 1 broadcast, too. Tensors are multiplied from left to right, by torch.bmm or torch.mm.
-- @function torch.einsum
-- @within linear algebra
-- @param equation string: lists of letters, separated by commas; spaces have no meaning
-- @param ... tensor: one for each list, all of one type; or a table of them
-- @return a tensor, contiguous, except that one tensor that only has its dimensions permuted or a
--    diagonal selected becomes a view; without dimensions a number
-- @raise if the equation is not valid or does not fit the sizes of the tensors
-- @follows PyTorch's einsum
-- @usage local a, b = torch.Tensor{{1, 2}, {3, 4}}, torch.Tensor{{1, 0}, {1, 1}}
--    return torch.einsum('ij,jk->ik', a, b), torch.einsum('ii', a), torch.einsum('ij->j', a)
--    --> [3 2 7 4], 5, [4 6]
function torch.einsum(equation, ...)
   local tensors = type((...)) == 'table' and (...) or {...}
   if type(equation) ~= 'string' or #tensors == 0 then
      core.usage('einsum', 'equation tensors', equation, ...)
   end
   local inputs, output = lists(equation)
   if #inputs ~= #tensors then
      fault(equation, 'it is for %d tensors, got %d', #inputs, #tensors)
   end
   local operands, sizes, isEmpty = {}, {}, false
   for i, t in ipairs(tensors) do
      core.checkTensor('einsum', i + 1, t)
      if t.kind_ ~= tensors[1].kind_ then
         fail('einsum: tensor %d is a %s, wanted a %s as tensor 1', i, core.describeSize(t),
            core.tensorNames[tensors[1].kind_])
      end
      operands[i] = read(equation, i, t, inputs[i], sizes)
      isEmpty = isEmpty or t:nElement() == 0
   end
   output = spelled(output, #sizes)
   local wanted = {}
   for _, label in ipairs(output) do wanted[label] = true end
   if isEmpty then
      local size = {}
      for d, label in ipairs(output) do size[d] = sizes[label] end
      return #output == 0 and 0 or tensors[1].new(torch.LongStorage(size)):zero()
   end
   local result = operands[1]
   for i = 2, #operands do
      result = product(result, operands[i], function(label)
         for k = i + 1, #operands do
            if operands[k].size[label] then return true end
         end
         return wanted[label]
      end)
   end
   result = sum(result, function(label) return wanted[label] end)
   local t = view(result, output)
   if #output == 0 then return t:select(1, 1) end
   return rawequal(result, operands[1]) and t or t:contiguous()
end
