-- Grids of ranks, and networks trained by groups of ranks: spec/support/ranks/mesh.lua.
local ranks = require 'spec.support.ranks'

local holds = ranks.checks('mesh', '2 4', 'host:2')

describe('distributed.mesh', function()
   it('returns groups by name, in which ranks have their places', function() holds 'grid' end)
end)

describe('A group of ranks', function()
   it('trains its own network like one process, next to another group',
      function() holds 'halves' end)
   it('trains networks of several devices, with noSync and join', function() holds 'devices' end)
   it('is an error for ranks, samplers and layers outside of it', function() holds 'members' end)
   it('is kept by copies and not by files', function() holds 'copies' end)
   it('shares the state of an optimizer by one collective a step', function() holds 'shares' end)
   it('ends the job', function() holds 'the end' end)
end)
