--- nn.Profile(module, print_interval, name): measures the time of the inner module's passes and
-- prints it at intervals.
-- Invariant: all values are passed through. On a device it measures the time to queue the work.
-- @function nn.Profile
-- @within nn containers
-- @as layer
-- @param printInterval number of passes between prints (100)
-- @param name string printed before the times
-- @return a module; forward: the module's input -> its output
-- @usage nn.Profile(nn.Tanh(), 100):forward(torch.zeros(2)) --> [0 0]

local torch = require 'dpt.tensor'

local Profile, parent = torch.class('nn.Profile', 'nn.Decorator')

function Profile:__init(module, printInterval, name)
   parent.__init(self, module)
   self.print_interval = printInterval or 100
   self.name = name or torch.type(module)
   self.module = module
   self.numFwds, self.numBwds = 0, 0
   self.summedFwdTime, self.summedBwdTime = 0, 0
   self.timer = torch.Timer()
end

local function report(self, what, count, time)
   print(('%s took %.6f seconds for %d %s passes'):format(self.name, time, count, what))
end

function Profile:updateOutput(input)
   self.timer:reset()
   self.output = self.modules[1]:updateOutput(input)
   self.summedFwdTime = self.summedFwdTime + self.timer:time().real
   self.numFwds = self.numFwds + 1
   if self.numFwds % self.print_interval == 0 then
      report(self, 'forward', self.numFwds, self.summedFwdTime)
      self.numFwds, self.summedFwdTime = 0, 0
   end
   return self.output
end

function Profile:updateGradInput(input, gradOutput)
   self.timer:reset()
   self.gradInput = self.modules[1]:updateGradInput(input, gradOutput)
   self.summedBwdTime = self.summedBwdTime + self.timer:time().real
   self.numBwds = self.numBwds + 1
   if self.numBwds % self.print_interval == 0 then
      report(self, 'backward', self.numBwds, self.summedBwdTime)
      self.numBwds, self.summedBwdTime = 0, 0
   end
   return self.gradInput
end

return Profile
