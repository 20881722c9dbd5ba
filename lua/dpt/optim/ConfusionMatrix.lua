--- optim.ConfusionMatrix(nclasses or names): counts predictions: mat[target][prediction].
-- Invariant: mat is a LongTensor on the host. Targets below 1 are ignored. updateValids computes
-- all rates from mat.

local torch = require 'dpt.tensor'
local dptffi = require 'dpt.ffi'
local fail, type = dptffi.fail, dptffi.type

local ConfusionMatrix = torch.class('optim.ConfusionMatrix')

--- Counts predictions by class in its field mat[target][prediction].
-- @function optim.ConfusionMatrix
-- @as optimtool
-- @param nclasses number: number of classes; or a list of their names
-- @param classes? table: list of their names
-- @return a confusion matrix
-- @usage local m = optim.ConfusionMatrix(2)
--    m:add(1, 2)
--    return m.mat --> [0 0 1 0]
function ConfusionMatrix:__init(nclasses, classes)
   if type(nclasses) == 'table' then
      classes = nclasses
      nclasses = #classes
   end
   if type(nclasses) ~= 'number' or nclasses < 1 then
      fail('optim.ConfusionMatrix: wants a number of classes or a list of names, got %s',
         type(nclasses) == 'number' and nclasses or 'a ' .. type(nclasses))
   end
   self.mat = torch.LongTensor(nclasses, nclasses):zero()
   self.valids = torch.FloatTensor(nclasses):zero()
   self.unionvalids = torch.FloatTensor(nclasses):zero()
   self.nclasses = nclasses
   self.totalValid = 0
   self.averageValid = 0
   self.averageUnionValid = 0
   self.classes = classes or {}
end

-- Counts lists of classes of predictions and targets.
local function count(self, predictions, targets)
   local n = self.nclasses
   for i, target in ipairs(targets) do
      local prediction = predictions[i]
      if target >= 1 or target ~= target then
         if not (target < n + 1 and prediction >= 1 and prediction < n + 1) then
            fail('optim.ConfusionMatrix: prediction %s and target %s, wanted 1..%d',
               prediction, target, n)
         end
         target, prediction = math.floor(target), math.floor(prediction)
         self.mat[target][prediction] = self.mat[target][prediction] + 1
      end
   end
end

-- Returns the classes in a tensor: its elements (a column is a vector), or the indices of its rows'
-- maxima.
local function classesIn(t)
   if t:dim() > 1 and t:size(t:dim()) > 1 then
      local _, indices = torch.max(t, t:dim())
      return indices:view(-1):long():totable()
   end
   return t:contiguous():view(-1):double():totable()
end

--- Counts one prediction (a class, or a vector of scores) with its target (a class, or a vector).
-- @function optim.ConfusionMatrix:add
-- @as optimtool
-- @param prediction number: a class, or a vector of scores
-- @param target number: a class, or a vector whose largest element marks it
-- @return nothing
-- @usage local m = optim.ConfusionMatrix{'cat', 'dog'}
--    m:add(torch.Tensor{0.1, 0.9}, 2)
--    return m.mat --> [0 0 0 1]
function ConfusionMatrix:add(prediction, target)
   if torch.isTensor(prediction) then prediction = classesIn(prediction:view(1, -1))[1] end
   if torch.isTensor(target) then
      target = target:nElement() == 1 and target:view(-1)[1] or classesIn(target:view(1, -1))[1]
   end
   if type(prediction) ~= 'number' or type(target) ~= 'number' then
      fail('optim.ConfusionMatrix: add wants classes or vectors, got a %s and a %s',
         torch.type(prediction), torch.type(target))
   end
   count(self, {prediction}, {target})
end

--- Counts a batch: N classes or N rows of scores, with N classes or N rows of targets.
-- @function optim.ConfusionMatrix:batchAdd
-- @as optimtool
-- @param predictions tensor: N classes or N x classes scores
-- @param targets tensor: N classes or N x classes
-- @return nothing
-- @usage local m = optim.ConfusionMatrix(2)
--    m:batchAdd(torch.Tensor{{2, 1}, {0, 1}}, torch.Tensor{1, 1})
--    return m.mat --> [1 1 0 0]
function ConfusionMatrix:batchAdd(predictions, targets)
   if not torch.isTensor(predictions) or not torch.isTensor(targets) then
      fail('optim.ConfusionMatrix: batchAdd wants two tensors, got %s and %s',
         torch.type(predictions), torch.type(targets))
   end
   predictions, targets = classesIn(predictions), classesIn(targets)
   if #predictions ~= #targets then
      fail('optim.ConfusionMatrix: %d predictions and %d targets', #predictions, #targets)
   end
   count(self, predictions, targets)
end

--- Resets all counts to zero.
-- @function optim.ConfusionMatrix:zero
-- @as optimtool
-- @return nothing
-- @usage local m = optim.ConfusionMatrix(2)
--    m:add(1, 1)
--    m:zero()
--    return m.mat --> [0 0 0 0]
function ConfusionMatrix:zero()
   self.mat:zero()
   self.valids:zero()
   self.unionvalids:zero()
   self.totalValid = 0
   self.averageValid = 0
   self.averageUnionValid = 0
end

-- Returns the sums of rows (targets) and of columns (predictions), the diagonal, and the total.
local function sums(self)
   local rows, columns, diagonal, total = {}, {}, {}, 0
   for i = 1, self.nclasses do rows[i], columns[i] = 0, 0 end
   for i, row in ipairs(self.mat:totable()) do
      for j, value in ipairs(row) do
         rows[i], columns[j], total = rows[i] + value, columns[j] + value, total + value
      end
      diagonal[i] = row[i]
   end
   return rows, columns, diagonal, total
end

-- Returns the mean of a vector over the classes that have targets.
local function mean(self, t)
   local sum, n = 0, 0
   for i = 1, self.nclasses do
      if self.valids[i] == self.valids[i] then sum, n = sum + t[i], n + 1 end
   end
   return sum / n
end

--- Computes valids (the fraction of a class's targets that was predicted correctly), unionvalids
-- (correct predictions divided by the union of a class's targets and predictions), their means and
-- totalValid (the fraction of all predictions that is correct).
-- @function optim.ConfusionMatrix:updateValids
-- @as optimtool
-- @return nothing
-- @usage local m = optim.ConfusionMatrix(2)
--    m:add(1, 1)
--    m:add(1, 2)
--    m:updateValids()
--    return m.totalValid --> 0.5
function ConfusionMatrix:updateValids()
   local rows, columns, diagonal, total = sums(self)
   local right = 0
   for i = 1, self.nclasses do
      self.valids[i] = diagonal[i] / rows[i]
      self.unionvalids[i] = diagonal[i] / (rows[i] + columns[i] - diagonal[i])
      right = right + diagonal[i]
   end
   self.totalValid = right / total
   self.averageValid = mean(self, self.valids)
   self.averageUnionValid = mean(self, self.unionvalids)
end

--- Returns two error rates of each class: the fraction of its targets that were predicted as
-- another class; and, averaged over the other classes, the fraction of their targets that were
-- predicted as this class. A class without targets has -1.
-- @function optim.ConfusionMatrix:farFrr
-- @as optimtool
-- @return four DoubleTensors: both rates, then both rates of the classes that have targets
-- @usage local m = optim.ConfusionMatrix(2)
--    m:add(1, 1)
--    m:add(1, 2)
--    m:add(2, 2)
--    return (m:farFrr()) --> [0 0.5]
function ConfusionMatrix:farFrr()
   local rows, _, diagonal = sums(self)
   local counts = self.mat:totable()
   local missed, taken, seenMissed, seenTaken = {}, {}, {}, {}
   for i = 1, self.nclasses do
      missed[i], taken[i] = -1, -1
      if rows[i] > 0 then
         local sum, others = 0, 0
         for j = 1, self.nclasses do
            if j ~= i and rows[j] > 0 then
               sum, others = sum + counts[j][i] / rows[j], others + 1
            end
         end
         missed[i], taken[i] = 1 - diagonal[i] / rows[i], sum / others
         seenMissed[#seenMissed + 1], seenTaken[#seenTaken + 1] = missed[i], taken[i]
      end
   end
   local D = torch.DoubleTensor
   return D(missed), D(taken), D(seenMissed), D(seenTaken)
end

function ConfusionMatrix:__tostring__()
   self:updateValids()
   local n = self.nclasses
   local width = math.max(8, 1 + math.ceil(math.log10(self.mat:max())))
   local lines = {'ConfusionMatrix:'}
   for i, row in ipairs(self.mat:totable()) do
      local cells = {}
      for j, value in ipairs(row) do cells[j] = ('%' .. width .. 'd'):format(value) end
      local name = self.classes[1] and '\t[class: ' .. (self.classes[i] or '') .. ']' or ''
      lines[#lines + 1] = (i == 1 and '[[' or ' [') .. table.concat(cells)
         .. (i == n and ']]  ' or ']   ') .. ('%2.3f%% '):format(self.valids[i] * 100) .. name
   end
   lines[#lines + 1] = ' + average row correct: ' .. self.averageValid * 100 .. '% '
   lines[#lines + 1] = ' + average rowUcol correct (VOC measure): '
      .. self.averageUnionValid * 100 .. '% '
   lines[#lines + 1] = ' + global correct: ' .. self.totalValid * 100 .. '%'
   return table.concat(lines, '\n')
end

--- Draws the matrix, each row divided by its sum, with the rates of each class beside it as levels
-- of grey.
-- @function optim.ConfusionMatrix:render
-- @as optimtool
-- @param sortmode? string: 'score' (the best class on top) or 'occurrence'
-- @param display? boolean: true shows it with the package image
-- @param block? number: the side of a cell's square (25)
-- @param legendwidth? number: width of the column beside the matrix (200)
-- @return a DoubleTensor, 3 x H x W
-- @usage local m = optim.ConfusionMatrix(2)
--    m:add(1, 1)
--    return m:render('score', false, 5, 10):size(1) --> 3
function ConfusionMatrix:render(sortmode, display, block, legendwidth)
   sortmode, block, legendwidth = sortmode or 'score', block or 25, legendwidth or 200
   if sortmode ~= 'score' and sortmode ~= 'occurrence' then
      fail("optim.ConfusionMatrix: render sorts by 'score' or 'occurrence', got %s", sortmode)
   end
   local n, counts = self.nclasses, self.mat:double()
   local sizes = counts:sum(2):view(n)
   local scores = torch.cdiv(counts, torch.cmax(sizes, 1):view(n, 1):expand(n, n))
   local right = torch.DoubleTensor(n)
   for i = 1, n do right[i] = scores[i][i] end
   local _, order = torch.sort(sortmode == 'score' and right or sizes, 1, true)
   local picture = torch.zeros(n * block, n * block + legendwidth)
   local middle = n * block + math.floor(legendwidth / 2)
   for i = 1, n do
      local row = picture:narrow(1, (i - 1) * block + 1, block)
      for j = 1, n do
         row:narrow(2, (j - 1) * block + 1, block):fill(scores[order[i]][order[j]])
      end
      if legendwidth > 1 then
         row:narrow(2, n * block + 1, middle - n * block)
            :fill(sizes[order[i]] / math.max(sizes:max(), 1))
         row:narrow(2, middle + 1, n * block + legendwidth - middle):fill(right[order[i]])
      end
      picture:narrow(1, i * block, 1):narrow(2, 1, n * block):fill(0.1)
      picture:narrow(2, i * block, 1):fill(0.1)
   end
   picture = picture:view(1, n * block, -1):expand(3, n * block, picture:size(2)):clone()
   if display then
      local image = package.loaded.image
      if not image then
         fail 'optim.ConfusionMatrix: display requires the package image; load it first'
      end
      image.display{image = picture, legend = 'Confusion matrix'}
   end
   return picture
end

return ConfusionMatrix
