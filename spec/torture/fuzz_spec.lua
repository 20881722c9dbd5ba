-- The fuzzers' harness finds planted faults, and shortens them.
local fuzz = require 'spec.support.fuzz.run'
local judge = require 'spec.support.fuzz.judge'
local minimise = require 'spec.support.fuzz.minimise'
local ffi = require 'ffi'
ffi.cdef 'int setenv(const char *, const char *, int); int unsetenv(const char *);'

describe('the harness of the fuzzers', function()
   local function planted(fault)
      ffi.C.setenv('DPT_FUZZ_PLANTED', fault, 1)
      finally(function() ffi.C.unsetenv 'DPT_FUZZ_PLANTED' end)
      return fuzz.run('planted', 1, 40, 40).findings
   end

   local needed = 'pcall(function() v[1] = 1 end) pcall(function() v[1] = v[1] and 2 end)'

   it('finds a crash, and minimizes it to one line', function()
      local findings = planted 'crash'
      assert.equal(1, #findings)
      assert.matches('^crash: ', findings[1].kind)
      assert.equal('fault(v[1])', findings[1].line)
      assert.matches(needed .. ' fault(v[1])', findings[1].short, 1, true)
   end)

   it('finds a process that ends, and one that computes wrongly afterwards', function()
      local findings = planted 'ending'
      assert.equal(1, #findings)
      assert.matches('status 3', findings[1].kind)
      findings = planted 'health'
      assert.equal(1, #findings)
      assert.matches('^wrong: gone', (findings[1].kind:gsub('/%S+ ', '')))
      assert.matches(needed .. ' pcall(function() fault(v[1]) end)', findings[1].short, 1, true)
   end)

   if os.getenv 'DPT_FUZZ' or os.getenv 'DPT_TORTURE' == 'full' then
      it('finds a call that hangs', function()
         ffi.C.setenv('DPT_FUZZ_SECONDS', '3', 1)
         finally(function() ffi.C.unsetenv 'DPT_FUZZ_SECONDS' end)
         local findings = planted 'hang'
         assert.equal('hang', findings[1].kind)
         assert.matches('fault(v[1])', findings[1].short, 1, true)
      end)
   end

   it("separates LuaJIT's own messages about dpt's files from those for a script", function()
      assert.equal("own: tensor/x.lua:3: attempt to index local 'x' (a nil value)",
         judge "/a/lua/dpt/tensor/x.lua:3: attempt to index local 'x' (a nil value)")
      assert.matches('^remark: ',
         judge "In 1 module:\n./lua/dpt/ffi.lua:4: bad argument #2 to 'f' (x)")
      assert.is_nil(judge "call:1: attempt to index local 'x' (a nil value)")
      assert.is_nil(judge "call:1: add: argument 'x' is nil, wanted a tensor")
      assert.equal('no message but a table', judge{})
      assert.equal('wrong: sums', judge 'x:3: wrong: sums')
   end)

   it('makes lists as short as can be', function()
      local list = {}
      for i = 1, 100 do list[i] = i end
      local function has(part)
         local found = {}
         for _, value in ipairs(part) do found[value] = true end
         return found[17] and found[18] and found[93] and true or false
      end
      assert.same({17, 18, 93}, minimise.list(list, has))
      assert.same({}, minimise.list({1, 2, 3}, function() return true end))
   end)
end)
