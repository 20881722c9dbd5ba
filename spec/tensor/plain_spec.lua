-- NaNs with arbitrary bits: LuaJIT encodes the types of its values in NaNs, so none may reach Lua.
local torch = require('dpt').torch
local elements = require 'spec.support.elements'
local ffi = require 'ffi'

-- Returns true if v is a NaN that stays a number in arithmetic: dividing a signalling NaN, or
-- negating the bits of a positive one, gives bits that LuaJIT takes for a pointer.
local function isNan(v)
   return type(v) == 'number' and v ~= v and type(v / 1) == 'number' and type(-v) == 'number'
end

describe('NaNs of any bits', function()
   local high = {0xfff80000, 0xfff90001, 0xfffb8000, 0xfffd0000, 0xfffe8000, 0xffff0000, 0xffff8000,
      0xffffffff, 0x7ff80000, 0x7fffffff, 0xfff00001, 0xfff6fffe, 0x7ffd0000}

   for _, name in ipairs(elements.reals) do
      it('are numbers where elements are read: ' .. name, function()
         local x = torch[name .. 'Tensor'](3)
         local bytes = x:elementSize()
         local isReduced = bytes == 2
         for _, word in ipairs(high) do
            local bits = ffi.cast('uint8_t *', x:data())
            for i = 0, 3 * bytes - 1 do
               local place = i % bytes -- the most significant byte is the last
               bits[i] = place >= bytes - 4 and bit.rshift(word, 8 * (place - bytes + 4)) or 0x5a
            end
            if isReduced then ffi.cast('uint16_t *', x:data())[1] = 0xffff end
            local at = isReduced and 2 or 1
            if not isReduced or word > 0xfff00000 then
               assert.is_true(isNan(x[at]))
               assert.is_true(isNan(x:storage()[at]))
               assert.is_true(isNan(x:totable()[at]))
               assert.is_true(isNan(x:storage():totable()[at]))
            end
            if not isReduced then
               assert.is_true(isNan(x:sum()))
               assert.is_true(isNan(x:dot(x)))
               assert.is_true(isNan(x[{2}]))
               x:apply(function(v) assert.is_true(isNan(v)) end)
               x:clone():map(x, function(v, w) assert.is_true(isNan(v) and isNan(w)) end)
               assert.is_true(isNan(x:cuda()[1]))
            end
            assert.is_truthy(tostring(x):find 'nan')
         end
      end)
   end
end)
