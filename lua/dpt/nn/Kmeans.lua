--- nn.Kmeans(k, dim [, scale]): returns the index of the nearest of k centers for each row of a
-- matrix.
-- Invariant: weight holds the centers (k x dim); loss is the sum of squared distances in the last
-- forward. updateParameters(1) moves each center to the mean of the rows nearest to it. The module
-- computes its own loss, so gradInput is 0.
-- @function nn.Kmeans
-- @within nn linear
-- @as layer
-- @param k number of centers
-- @param scale step size of the centers in an update (1)
-- @return a module; forward: B x dim -> B numbers 1..k
-- @usage nn.Kmeans(2, 3):forward(torch.ones(5, 3)):size() --> 5

local torch = require 'dpt.tensor'
local fail = require 'dpt.ffi'.fail

local Kmeans, parent = torch.class('nn.Kmeans', 'nn.Module')

--- @param scale of the gradients, replaces the argument of backward
function Kmeans:__init(k, dim, scale)
   parent.__init(self)
   if not (k > 0 and dim > 0) then
      fail('nn.Kmeans: got %s clusters of %s numbers, wanted at least 1 of each', k, dim)
   end
   self.k, self.dim, self.scale = k, dim, scale
   self.weight = torch.Tensor(k, dim)
   self.gradWeight = torch.Tensor(k, dim):zero()
   self.loss = 0
   self.clusterSampleCount = torch.Tensor(k):zero()
   self:reset()
end

function Kmeans:reset(stdv)
   self.weight:uniform(-(stdv or 1), stdv or 1)
end

function Kmeans:_check(input, rows)
   if input:dim() ~= 2 or input:size(2) ~= self.dim or input:size(1) < rows then
      fail('nn.Kmeans: got a %s of size %s, wanted a matrix of %d columns and at least %d rows',
         input:type(), table.concat(input:size():totable(), 'x'), self.dim, rows)
   end
end

--- Sets the centers to random rows of input.
-- @function nn.Kmeans:initRandom
-- @as method
-- @within nn linear
-- @param input tensor: N x dim
-- @return nothing
-- @usage local m = nn.Kmeans(2, 1)
--    m:initRandom(torch.ones(5, 1))
--    return m.weight --> [1 1]
function Kmeans:initRandom(input)
   self:_check(input, self.k)
   for i = 1, self.k do self.weight[i]:copy(input[torch.random(input:size(1))]) end
end

-- Returns the squared distances of all rows from the centers first..last, N x (last - first + 1).
local function distances(self, input, first, last)
   local result = self.weight.new(input:size(1), last - first + 1)
   for i = first, last do
      local away = input:clone():add(-1, self.weight[i]:view(1, -1):expandAs(input))
      result:select(2, i - first + 1):copy(away:cmul(away):sum(2))
   end
   return result
end

--- Sets centers far from each other (kmeans++): draws each next one among the farthest rows.
-- @function nn.Kmeans:initKmeansPlus
-- @as method
-- @within nn linear
-- @param input tensor: N x dim
-- @param p? number: fraction of rows that are too near to be drawn (0.95)
-- @return nothing
-- @usage local m, x = nn.Kmeans(2, 1), torch.Tensor{{1}, {1}, {9}, {9}}
--    m:initKmeansPlus(x, 0.5)
--    return math.abs(m.weight[1][1] - m.weight[2][1]) --> 8
function Kmeans:initKmeansPlus(input, p)
   self:_check(input, self.k)
   self.p = p or self.p or 0.95
   if not (self.p >= 0 and self.p <= 1) then
      fail('nn.Kmeans: p is %s, wanted a number from 0 to 1', tostring(self.p))
   end
   local n = input:size(1)
   local among = math.max(1, math.ceil((1 - self.p) * n))
   self.weight[1]:copy(input[torch.random(n)])
   local nearest = distances(self, input, 1, 1):view(-1)
   for i = 2, self.k do
      local _, order = nearest:sort(1, true)
      self.weight[i]:copy(input[order[torch.random(among)]])
      nearest:cmin(distances(self, input, i, i):view(-1))
   end
end

function Kmeans:updateOutput(input)
   self:_check(input, 0)
   local least, nearest = distances(self, input, 1, self.k):min(2)
   self.nearest = nearest:view(-1)
   self.output:resize(input:size(1)):copy(self.nearest)
   self.loss = least:sum()
   return self.output
end

function Kmeans:updateGradInput(input)
   return self.gradInput:resizeAs(input):zero()
end

function Kmeans:accGradParameters(input, _, scale)
   scale = self.scale or scale or 1
   self.clusterSampleCount:zero()
   local one = self.clusterSampleCount.new(input:size(1)):fill(1)
   self.clusterSampleCount:indexAdd(1, self.nearest, one)
   local away = self.weight:index(1, self.nearest):add(-1, input)
   local sums = self.weight.new(self.k, self.dim):zero():indexAdd(1, self.nearest, away)
   local counts = torch.cmax(self.clusterSampleCount, 1):view(-1, 1)
   self.gradWeight:add(scale, sums:cdiv(counts:expandAs(sums)))
end

function Kmeans:clearState()
   self.nearest = nil
   return parent.clearState(self)
end

function Kmeans:type(typename, tensorCache)
   if typename then self.nearest = nil end
   return parent.type(self, typename, tensorCache)
end

return Kmeans
