-- dpt.threads.cdata: transfers C data of types unknown to dpt to another Lua state.
local ffi = require 'ffi'
local cdata = require 'dpt.threads.cdata'
local worker = require 'spec.support.remote'

describe('dpt.threads.cdata', function()
   local remote, echo = worker()

   it('copies structs, arrays and C numbers whose type the worker has declared', function()
      local array = ffi.new('int[3]', 1, 2, 3)
      local back = echo(array)
      assert.is_true(ffi.istype('int[3]', back) and back[2] == 3)
      local any = echo(ffi.new('double[?]', 4, 1, 2, 3, 4))
      assert.equals(4, any[3])
      local event = ffi.new 'dpt_event'
      assert.error_matches(function() echo(event) end, 'argument 1 is a cdata')
      assert.is_true(ffi.istype('float', echo(ffi.new('float', 0.5))))
      local text = 'struct values_spec { int a; double b; };'
      ffi.cdef(text)
      local struct = ffi.new('struct values_spec', 3, 0.5)
      assert.error_matches(function() echo(struct) end, "type 'struct values_spec' is not declared")
      remote(function() require('ffi').cdef(text) end)
      assert.same({3, 0.5}, {echo(struct).a, echo(struct).b})
   end)

   it('keeps all bits of 64-bit numbers and pointers', function()
      local i, u = echo(-2LL ^ 62 - 1, 0xfedcba9876543210ULL)
      assert.equals('-4611686018427387905LL', tostring(i))
      assert.equals('18364758544493064720ULL', tostring(u))
      local p = ffi.cast('void *', 0xfedcba9876543210ULL)
      assert.is_true(echo(p) == p)
      local q = ffi.cast('const int32_t *', 0x7ffffffffff8ULL)
      local back = echo(q)
      assert.is_true(back == q and ffi.istype('const int32_t *', back))
      assert.is_true(remote(function(x) return x == ffi.cast('void *', -1) end,
         ffi.cast('void *', -1)))
   end)

   it("has no bytes for references, types without a name and dpt's own types", function()
      assert.is_nil(cdata.bytes(ffi.new 'dpt_event'))
      assert.is_nil(cdata.bytes(ffi.new 'struct { int a; }'))
      assert.same({'int [2]', '\1\0\0\0\2\0\0\0'}, {cdata.bytes(ffi.new('int[2]', 1, 2))})
      assert.is_nil(cdata.make('struct nothing_of_the_kind', ''))
   end)
end)
