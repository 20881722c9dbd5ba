-- Matrix products on devices compared with the host's: all element types, all layouts of operands.
-- The numbers are small integers, so every order of summation gives the same result.
local dpt = require 'dpt'
local core = require 'dpt.tensor.core'
local elements = require 'spec.support.elements'
local torch, cutorch = dpt.torch, dpt.cutorch

local state = 1
local function draw(low, high)
   state = (state * 1103515245 + 12345) % 2147483648
   return low + math.floor(state / 65536) % (high - low + 1)
end

local function small(...)
   local x = torch.DoubleTensor(...)
   return x:apply(function() return draw(-3, 3) end)
end

-- Memory layouts of a matrix (or a batch of them) with r x c as its last two dimensions; each
-- accepts the numbers as a contiguous host tensor and the constructor of the wanted type.
local forms = {
   plain = function(x, new) return new(x) end,
   transposed = function(x, new)
      local d = x:dim()
      return new(x:transpose(d - 1, d):contiguous()):transpose(d - 1, d)
   end,
   ['rows apart'] = function(x, new)
      local d = x:dim()
      local wide = new(torch.cat(x, x, d))
      return wide:narrow(d, 1, x:size(d)):copy(new(x))
   end,
   ['elements apart'] = function(x, new)
      local sizes = x:size():totable()
      sizes[#sizes + 1] = 2
      local wide = new(torch.zeros(torch.LongStorage(sizes)))
      return wide:select(#sizes, 1):copy(new(x))
   end,
   ['columns apart'] = function(x, new)
      local d = x:dim()
      local turned = x:transpose(d - 1, d):contiguous()
      local wide = new(torch.cat(turned, turned, d))
      return wide:narrow(d, 1, x:size(d - 1)):copy(new(turned)):transpose(d - 1, d)
   end,
}
local names = {}
for name in pairs(forms) do names[#names + 1] = name end
table.sort(names)

-- rows, columns and terms: more and fewer than the sides of a block of threads
local sizes = {{1, 1, 1}, {3, 5, 7}, {1, 9, 4}, {9, 1, 4}, {4, 6, 1}, {70, 65, 33}, {2, 130, 17}}

local function constructors(name)
   local host, device = name .. 'Tensor', elements.onDevice(name) .. 'Tensor'
   local function onHost(x) return torch[host]():resize(x:size()):copy(x) end
   return onHost, function(x) return torch[device]():resize(x:size()):copy(onHost(x)) end
end

--- Compares results with those of the reference, rounded to the type once.
local function same(wanted, got, what)
   local difference = (wanted:type(got:type()):double() - got:double()):abs():max()
   assert(difference == 0, what .. ': differs by ' .. difference)
end

describe('Products on devices, as on the host:', function()
   for _, name in ipairs(elements.all) do
      local host, device = constructors(name)
      -- the host multiplies all types but the reduced ones
      local element = core.elementOf(core.kinds['torch.' .. name .. 'Tensor'])
      local reference = element.isReduced and constructors 'Float' or host

      it(name .. ', more terms than fit in a cache', function()
         local a, b = small(3, 70000), small(70000, 5)
         local wanted = torch.mm(reference(a), reference(b))
         same(wanted, torch.mm(host(a), host(b)), 'on the host')
         same(wanted, torch.mm(device(a), device(b)), 'on a device')
         same(wanted:t(), torch.mm(host(b):t(), host(a):t()), 'transposed')
      end)

      if element.isReduced then
         -- blocks of rows, columns and terms: whole ones, and one more element
         it(name .. ', several blocks', function()
            local blocks = {{97, 513, 257}, {1040, 40, 1030}, {33, 1030, 513}, {520, 515, 100}}
            for i, size in ipairs(blocks) do
               local m, n, k = unpack(size)
               local a, b, c = small(m, k), small(k, n), small(m, n)
               local wanted = torch.mm(reference(a), reference(b))
               for j, form in ipairs(names) do
                  local formB, formC = names[(i + j) % #names + 1], names[(2 * i + j) % #names + 1]
                  local got = forms[formC](c, host)
                  got:mm(forms[form](a, host), forms[formB](b, host))
                  same(wanted, got, ('%dx%dx%d, %s by %s into %s'):format(m, n, k, form, formB,
                     formC))
               end
            end
         end)

         it(name .. ', long operands without copies of them as floats', function()
            finally(function() dpt.setDeterministic(false) end)
            local a, b, c = device(small(8, 64)), device(small(64, 40000)), device(small(8, 40000))
            for _, isDeterministic in ipairs{false, true} do
               dpt.setDeterministic(isDeterministic)
               cutorch.synchronize()
               cutorch.resetPeakMemory()
               local live = cutorch.memoryStats().live
               c:mm(a, b)
               cutorch.synchronize()
               assert.is_true(cutorch.memoryStats().peak - live < 4 * b:nElement() / 2)
            end
         end)
      end

      if element.isReal then
         it(name .. ', infinities, scaled into NaNs that beta 0 ignores', function()
            for _, k in ipairs{2, 1280} do
               local a, b = host(torch.ones(5, k)), host(torch.ones(k, 7))
               local c = host(torch.zeros(5, 7):fill(0 / 0))
               a[2][2] = math.huge
               c:addmm(0, c, 2, a, b)
               local wanted = torch.DoubleTensor(5, 7):fill(2 * k)
               wanted[2]:fill(math.huge)
               assert.same(wanted:totable(), c:double():totable())
            end
         end)
      end

      it(name .. ', matrices in every form', function()
         for _, size in ipairs(sizes) do
            local m, n, k = unpack(size)
            local a, b, c = small(m, k), small(k, n), small(m, n)
            for i, form in ipairs(names) do
               local formB, formC = names[i % #names + 1], names[(i + draw(0, 4)) % #names + 1]
               for _, scale in ipairs{{0, 1}, {1, 1}, {2, -3}} do
                  local beta, alpha = unpack(scale)
                  local wanted = reference(c):addmm(beta, reference(c), alpha, reference(a),
                     reference(b))
                  local got = forms[formC](c, device)
                  got:addmm(beta, got, alpha, forms[form](a, device), forms[formB](b, device))
                  same(wanted, got, ('%dx%dx%d, %s by %s into %s, beta %d'):format(m, n, k, form,
                     formB, formC, beta))
               end
            end
         end
      end)

      it(name .. ', vectors and outer products', function()
         for _, size in ipairs(sizes) do
            local m, n = unpack(size)
            local a, x, y = small(m, n), small(n), small(m)
            for _, form in ipairs(names) do
               local apart = device(torch.cat(x:view(n, 1), x:view(n, 1), 2)):select(2, 1)
               same(reference(y):addmv(1, 2, reference(a), reference(x)),
                  device(y):addmv(1, 2, forms[form](a, device), apart), 'addmv, ' .. form)
               local into = forms[form](a, device)
               same(reference(a):addr(2, 3, reference(y), reference(x)),
                  into:addr(2, 3, device(y), apart), 'addr, ' .. form)
            end
         end
      end)

      it(name .. ', batches', function()
         for _, size in ipairs(sizes) do
            local m, n, k = unpack(size)
            local a, b, c = small(3, m, k), small(3, k, n), small(3, m, n)
            for i, form in ipairs(names) do
               local formB, formC = names[i % #names + 1], names[(i + draw(0, 4)) % #names + 1]
               local wanted = reference(c):baddbmm(2, -1, reference(a), reference(b))
               local got = forms[formC](c, device)
               got:baddbmm(2, -1, forms[form](a, device), forms[formB](b, device))
               same(wanted, got, form)
            end
            local one = reference(b[1]):view(1, k, n):expand(3, k, n)
            same(reference(c):baddbmm(1, 1, reference(a), one:clone()),
               device(c):baddbmm(1, 1, device(a), device(b[1]):view(1, k, n):expand(3, k, n)),
               'one matrix for all')
         end
      end)
   end

   it('beta 0 clears NaNs in the result', function()
      for _, name in ipairs(elements.reals) do
         local _, device = constructors(name)
         local c = device(torch.DoubleTensor(2, 3):fill(0 / 0))
         c:addmm(0, c, 1, device(torch.ones(2, 4)), device(torch.ones(4, 3)))
         same(torch.DoubleTensor(2, 3):fill(4), c, name)
      end
   end)

   it('reduced types are added up as floats', function()
      for _, name in ipairs(elements.reduced) do
         local _, device = constructors(name)
         local terms = torch.DoubleTensor(1, 4096):fill(1)
         same(torch.DoubleTensor(1, 1):fill(4096), torch.mm(device(terms), device(terms:t())), name)
      end
   end)

   it('have the same bits in deterministic mode for any other rows', function()
      dpt.setDeterministic(true)
      finally(function() dpt.setDeterministic(false) end)
      torch.manualSeed(3)
      for _, name in ipairs{'Float', 'Double'} do
         local host, device = constructors(name)
         local a, b = torch.randn(70, 100), torch.randn(100, 33)
         local wanted = torch.mm(host(a), host(b))
         same(wanted, torch.mm(device(a), device(b)), name)
         for row = 1, 70, 23 do
            same(wanted:narrow(1, row, 1), torch.mm(device(a):narrow(1, row, 1), device(b)), name)
         end
      end
   end)
end)
