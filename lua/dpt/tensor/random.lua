--- dpt.tensor.random: generators, distributions, permutations and sampling.
--
-- Invariant: host tensors draw from a torch.Generator (one default per Lua state), device tensors
-- from the state of their device, which torch.manualSeed seeds, too. A generator may be the first
-- argument of every call here; if it is given for a device tensor, its numbers are copied there.
local dptffi = require 'dpt.ffi'
local class = require 'dpt.class'
local core = require 'dpt.tensor.core'
local seeding = require 'dpt.tensor.seeding'
local sizes = require 'dpt.tensor.sizes'
local ffi, C, lib, fail = dptffi.ffi, dptffi.C, dptffi.lib, dptffi.fail
local type = dptffi.type
local istype, tensorType, fresh = ffi.istype, core.tensorType, core.fresh
local define, method = core.define, core.method
local checkNumber, checkInteger = core.checkNumber, core.checkInteger
local torch, usage, BYTE, LONG, ON_DEVICE = class.torch, core.usage, core.BYTE, core.LONG,
   core.ON_DEVICE

local function isTensor(v) return istype(tensorType, v) end

-- generators --------------------------------------------------------------------------------------

local generatorType = core.generatorType
local slot = ffi.new 'dpt_generator *[1]'

local function newGenerator()
   slot[0] = nil
   lib.generator_new(slot)
   local g = generatorType()
   g.ptr_ = slot[0]
   return g
end

local generatorMethods = torch.newmetatable('torch.Generator', nil, newGenerator, nil, newGenerator,
   torch)
ffi.metatype(generatorType, {
   __gc = function(g) C.dpt_generator_free(g.ptr_) end,
   __index = generatorMethods,
   __tostring = function() return 'torch.Generator' end,
})
core.generatorMethods = generatorMethods

local default = newGenerator()
--- The default generator, under Torch7's name.
torch._gen = default

--- Number of times that the default generator was seeded or its state was set.
core.seedings = 0

-- Records that a generator was seeded or set: calls note(0, seed) if it is the default one.
local function count(g, note)
   if g ~= default.ptr_ then return end
   core.seedings = core.seedings + 1
   note(0, tonumber(C.dpt_generator_initial_seed(g)))
end

local function isGenerator(v) return istype(generatorType, v) end

--- Splits off a leading generator: returns its C object, or the default one's, and the rest.
local function generator(a, ...)
   if isGenerator(a) then return a.ptr_, ... end
   return default.ptr_, a, ...
end

--- Returns a new generator with the same state.
-- @function torch.Generator:clone
-- @as plaintorch
-- @within random
-- @return a torch.Generator
-- @usage local g = torch.Generator()
--    torch.manualSeed(g, 3)
--    local h = g:clone()
--    return torch.random(g, 100), torch.random(h, 100) --> 87, 87
generatorMethods.clone = function(g)
   local copy = newGenerator()
   C.dpt_generator_copy(copy.ptr_, g.ptr_)
   return copy
end

--- torch.manualSeed([g,] seed): without a generator it seeds all devices as well, except in
-- workers: devices belong to the process, and the time at which a worker would seed them is
-- arbitrary.
function torch.manualSeed(...)
   local g, seed = generator(...)
   seed = checkNumber('manualSeed', 'seed', seed)
   C.dpt_generator_manual_seed(g, seed)
   count(g, seeding.choose)
   if isGenerator(...) or rawget(_G, '__threadid') then return end
   C.dpt_devices_manual_seed(seed)
   seeding.chooseAll()
end

--- Seeds the generator at random and returns the seed.
function torch.seed(...)
   local g = generator(...)
   local seed = tonumber(C.dpt_generator_seed(g))
   count(g, seeding.forget)
   return seed
end

function torch.initialSeed(...)
   local g = generator(...)
   return tonumber(C.dpt_generator_initial_seed(g))
end

--- Returns the generator's state as a ByteTensor in Torch7's layout; setRNGState restores it.
function torch.getRNGState(...)
   local g, r = generator(...)
   if r == nil then r = fresh(BYTE) else core.checkTensor('getRNGState', 'result', r) end
   lib.generator_get(g, r)
   if g == default.ptr_ then seeding.read(0, torch.initialSeed()) end
   return r
end
function torch.setRNGState(...)
   local g, state = generator(...)
   if not isTensor(state) then usage('setRNGState', '[generator] state', ...) end
   lib.generator_set(g, state)
   count(g, seeding.restore)
end

--- Writes and reads the contents of a generator in a file.
generatorMethods.write = function(g, file) file:writeByte(torch.getRNGState(g):storage()) end
generatorMethods.read = function(g, file)
   local state = torch.getRNGState(g)
   file:readByte(state:storage())
   torch.setRNGState(g, state)
end

-- distributions -----------------------------------------------------------------------------------

--- Returns true if t is a device tensor that is to be filled from a given generator.
local function onHost(t, g) return t.kind_ >= ON_DEVICE and isGenerator(g) end

local function drawOnHost(name, t, ...)
   local host = fresh(t.kind_ % ON_DEVICE)
   lib.resize_as(host, t)
   lib.copy(t, host[name](host, ...))
   return t
end

--- Defaults of the two parameters, by name.
local distributions = {
   uniform = {0, 1}, normal = {0, 1}, exponential = {1, 0}, cauchy = {0, 1}, logNormal = {1, 2},
   geometric = {0.5, 0}, bernoulli = {0.5, 0},
}

for name, defaults in pairs(distributions) do
   local number = C.dpt_distribution(name)
   assert(number >= 0, name)
   local function parameters(a, b)
      return a == nil and defaults[1] or checkNumber(name, 'parameter 1', a),
         b == nil and defaults[2] or checkNumber(name, 'parameter 2', b)
   end
   --- Returns a number.
   torch[name] = function(...)
      local g, a, b = generator(...)
      if isTensor(a) then
         local _, _, c = generator(select(2, ...))
         return a[name](a, b, c)
      end
      a, b = parameters(a, b)
      return C.dpt_random_number(number, g, a, b)
   end
   --- Fills the tensor; bernoulli also accepts a tensor of probabilities. geometric's p is the
   -- probability to continue in host memory, as in Torch7, and to stop on devices, as in cutorch.
   method(name, function(t, ...)
      core.checkTensor(name, 'self', t)
      local g, a, b = generator(...)
      if name == 'bernoulli' and isTensor(a) then
         if onHost(t, ...) then return drawOnHost(name, t, ...) end
         lib.bernoulli(t, g, a)
         return t
      end
      a, b = parameters(a, b)
      if name == 'geometric' and t.kind_ >= ON_DEVICE and a > 0 and a < 1 then a = 1 - a end
      if onHost(t, ...) then return drawOnHost(name, t, (...), a, b) end
      lib.random(number, t, g, a, b)
      return t
   end)
end

--- random(): integers of the type's range; random(n): 1 to n; random(a, b): a to b.
local random = C.dpt_distribution 'random'
local function bounds(a, b)
   if a == nil then return 1, 0 end
   a = checkNumber('random', 'bound', a)
   if b == nil then a, b = 1, a else b = checkNumber('random', 'bound', b) end
   if a > b then fail('random: got bounds %s and %s, wanted the lower one first', a, b) end
   return a, b
end
function torch.random(...)
   if isTensor((...)) then return (...):random(select(2, ...)) end
   local g, a, b = generator(...)
   a, b = bounds(a, b)
   return C.dpt_random_number(random, g, a, b)
end
method('random', function(t, ...)
   core.checkTensor('random', 'self', t)
   local g, a, b = generator(...)
   if onHost(t, ...) then return drawOnHost('random', t, ...) end
   a, b = bounds(a, b)
   lib.random(random, t, g, a, b)
   return t
end)

--- Splits off the generator, which may be before or after a result.
local function either(a, b, ...)
   if isTensor(a) and isGenerator(b) then return b.ptr_, a, ... end
   return generator(a, b, ...)
end

--- rand and randn([g,] [r,] [g,] sizes [, type])
for name, distribution in pairs{rand = 'uniform', randn = 'normal'} do
   local number = C.dpt_distribution(distribution)
   local function draw(g, r, ...)
      lib.resize(r, sizes.read(name, ...), sizes.size)
      if r.ndim_ > 0 then lib.random(number, r, g, 0, 1) end
      return r
   end
   local function read(g, ...) return draw(g, core.result(...)) end
   torch[name] = function(...) return read(either(...)) end
   method(name, function(t, ...)
      if isGenerator((...)) then return draw((...).ptr_, t, select(2, ...)) end
      return draw(default.ptr_, t, ...)
   end)
end

local function randpermOf(g, r, n)
   lib.randperm(r, g, checkInteger('randperm', 'n', n))
   return r
end

local function randpermWith(g, ...) return randpermOf(g, core.result(...)) end

--- randperm([g,] [r,] [g,] n [, type]): 1 to n in random order.
define('randperm', function(...) return randpermWith(either(...)) end)

--- multinomial([g,] [r,] [g,] p, n [, replacement]) -> a LongTensor of indices from 1 to C
local function multinomial(...)
   local g, r, p, n, replacement = either(...)
   if not isTensor(p) then r, p, n, replacement = nil, r, p, n end
   if not isTensor(p) or (r and not isTensor(r)) then
      usage('multinomial', '[result] probabilities n [replacement]', ...)
   end
   r = r or fresh(p.kind_ >= ON_DEVICE and LONG + ON_DEVICE or LONG)
   local longs = core.longsFor(r)
   lib.multinomial(longs, g, p, checkInteger('multinomial', 'n', n), replacement and 1 or 0)
   return core.indicesInto(r, longs)
end
define('multinomial', multinomial)

local function isState(v) return type(v) == 'table' and isTensor(v[1]) and isTensor(v[2]) end

--- multinomialAliasSetup(p [, {J, q}]) -> {J, q}: tables for sampling in constant time. J is
-- 1-based in host memory and 0-based on devices.
define('multinomialAliasSetup', function(p, state)
   if not isTensor(p) or (state ~= nil and not isState(state)) then
      usage('multinomialAliasSetup', 'probabilities [{J, q}]', p, state)
   end
   state = state or {fresh(p.kind_ >= ON_DEVICE and LONG + ON_DEVICE or LONG), fresh(p.kind_)}
   lib.multinomial_alias_setup(state[1], state[2], p)
   return state
end)
--- multinomialAlias([g,] r, state): fills the Long tensor r with samples from 1 to n.
define('multinomialAlias', function(...)
   local g, r, state = generator(...)
   if not isTensor(r) or not isState(state) then
      usage('multinomialAlias', 'result {J, q}', ...)
   end
   lib.multinomial_alias(r, g, state[1], state[2])
   return r
end)

--- Returns the default generator's C object, for operations of other modules that draw on the host.
core.generator = function() return default.ptr_ end

--- Tags shared by the reference entries of random numbers.
-- @pattern generatorcall
-- @within random
-- @param generator? torch.Generator: used instead of the default one
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of random numbers.
-- @pattern draw
-- @within random
-- @param x tensor: filled; if omitted, one number is returned
-- @return x, or a number
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of random numbers.
-- @pattern drawcall
-- @within random
-- @param result? tensor: output tensor; allocated if omitted
-- @return a new tensor; a LongTensor if it holds indices
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Tags shared by the reference entries of random numbers.
-- @pattern drawmake
-- @within random
-- @param result? tensor: output tensor; allocated if omitted
-- @return a tensor of the default type
-- @raise at the caller's line if an argument has the wrong type, if sizes do not match, or if
--    operands are not all on the host or all on one device
-- @follows Torch7's torch

--- Seeds the generator, so that the numbers drawn afterwards are reproducible.
-- @function torch.manualSeed
-- @as generatorcall
-- @param seed number: any integer
-- @return nothing
-- @usage torch.manualSeed(3)
--    local a = torch.random(100)
--    torch.manualSeed(3)
--    return a, torch.random(100) --> 87, 87

--- Seeds the generator with a seed from the operating system and returns the seed.
-- @function torch.seed
-- @as generatorcall
-- @return number: the seed
-- @usage type(torch.seed()) --> number

--- Returns the seed with which the generator was last seeded.
-- @function torch.initialSeed
-- @as generatorcall
-- @return number: the seed
-- @usage torch.manualSeed(5) return torch.initialSeed() --> 5

--- Returns the state of the generator as a ByteTensor.
-- @function torch.getRNGState
-- @as generatorcall
-- @return ByteTensor: the whole state
-- @usage torch.type(torch.getRNGState()) --> torch.ByteTensor

--- Restores a state of the generator.
-- @function torch.setRNGState
-- @as generatorcall
-- @param state tensor: result of torch.getRNGState
-- @return nothing
-- @usage local s = torch.getRNGState()
--    local a = torch.random(100)
--    torch.setRNGState(s)
--    return a, torch.random(100) --> 46, 46

--- Draws from the uniform distribution between a and b.
-- @function torch.uniform
-- @as draw
-- @also Tensor:uniform()
-- @param a? number: lower bound (0)
-- @param b? number: upper bound (1)
-- @usage torch.FloatTensor(3):uniform(5, 6):ge(5) --> [1 1 1]

--- Draws from the normal distribution.
-- @function torch.normal
-- @as draw
-- @also Tensor:normal()
-- @param mean? number: 0
-- @param std? number: 1
-- @usage torch.FloatTensor(4):normal(0, 1):size() --> 4

--- Draws integers from a to b, all equally likely.
-- @function torch.random
-- @as draw
-- @also Tensor:random()
-- @param a? number: smallest value (1)
-- @param b? number: largest value
-- @usage torch.IntTensor(4):random(7, 7) --> [7 7 7 7]

--- Draws from the Bernoulli distribution: 1 with probability p, else 0.
-- @function torch.bernoulli
-- @as draw
-- @also Tensor:bernoulli()
-- @param p? number: probability of a 1 (0.5)
-- @usage torch.FloatTensor(3):bernoulli(1) --> [1 1 1]

--- Draws from the exponential distribution.
-- @function torch.exponential
-- @as draw
-- @also Tensor:exponential()
-- @param lambda? number: the rate (1)
-- @usage torch.FloatTensor(3):exponential(2):ge(0) --> [1 1 1]

--- Draws from the geometric distribution: the number of trials up to the first success.
-- @function torch.geometric
-- @as draw
-- @also Tensor:geometric()
-- @param p number: probability of success
-- @usage torch.IntTensor(3):geometric(0.5):ge(1) --> [1 1 1]

--- Draws from the Cauchy distribution.
-- @function torch.cauchy
-- @as draw
-- @also Tensor:cauchy()
-- @param median? number: 0
-- @param sigma? number: 1
-- @usage torch.FloatTensor(3):cauchy(0, 1):size() --> 3

--- Draws from the log-normal distribution.
-- @function torch.logNormal
-- @as draw
-- @also Tensor:logNormal()
-- @param mean? number: mean of the result (1)
-- @param std? number: standard deviation of the result (2)
-- @usage torch.FloatTensor(3):logNormal(1, 2):gt(0) --> [1 1 1]

--- Draws indices with probabilities proportional to weights.
-- @function torch.multinomial
-- @as drawcall
-- @also Tensor:multinomial()
-- @param p tensor: n weights, or B x n
-- @param count number: how many are drawn
-- @param replacement? boolean: true: an index may be drawn more than once
-- @usage torch.multinomial(torch.Tensor{0, 1}, 3, true) --> [2 2 2]

--- Builds the tables with which torch.multinomialAlias draws in constant time.
-- @function torch.multinomialAliasSetup
-- @as drawcall
-- @also Tensor:multinomialAliasSetup()
-- @param p tensor: n weights
-- @usage #torch.multinomialAliasSetup(torch.Tensor{0.5, 0.5}) --> 2

--- Fills a LongTensor with indices drawn by the alias method.
-- @function torch.multinomialAlias
-- @as generatorcall
-- @also Tensor:multinomialAlias()
-- @param result tensor: LongTensor
-- @param state table: result of torch.multinomialAliasSetup
-- @return the LongTensor
-- @usage torch.multinomialAlias(torch.LongTensor(2),
--       torch.multinomialAliasSetup(torch.Tensor{0, 1})) --> [2 2]

--- Returns a tensor drawn from the uniform distribution between 0 and 1.
-- @function torch.rand
-- @as drawmake
-- @also Tensor:rand()
-- @param sizes number: one per dimension, or a LongStorage
-- @usage torch.rand(2, 3):size() --> 2x3

--- Returns a tensor drawn from the standard normal distribution.
-- @function torch.randn
-- @as drawmake
-- @also Tensor:randn()
-- @param sizes number: one per dimension, or a LongStorage
-- @usage torch.randn(2, 2):size() --> 2x2

--- Returns a random permutation of the numbers 1 to n.
-- @function torch.randperm
-- @as drawmake
-- @also Tensor:randperm()
-- @param n number: how many
-- @usage torch.randperm(4):sum() --> 10

--- Writes the generator's state to an open file, as writeObject does.
-- @function torch.Generator:write
-- @as plaintorch
-- @within random
-- @param file torch.File: open for writing
-- @return nothing
-- @usage local g, f = torch.Generator(), torch.MemoryFile()
--    torch.manualSeed(g, 5)
--    g:write(f)
--    local a = torch.random(g, 1000)
--    f:seek(1)
--    g:read(f)
--    return a, torch.random(g, 1000) --> 412, 412

--- Reads a generator's state that write wrote to a file.
-- @function torch.Generator:read
-- @as plaintorch
-- @within random
-- @param file torch.File: open for reading
-- @return nothing
-- @usage local f, g, h = torch.MemoryFile(), torch.Generator(), torch.Generator()
--    torch.manualSeed(g, 7)
--    g:write(f)
--    f:seek(1)
--    h:read(f)
--    return torch.random(g, 99), torch.random(h, 99) --> 37, 37
