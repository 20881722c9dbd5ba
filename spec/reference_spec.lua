-- Runs the reference's specs in a separate process: they load all classes and entries, a heap that
-- every garbage collection in later specs would traverse.
describe('The reference', function()
   it('is whole, and its examples are right', function()
      local pipe = io.popen('luajit spec/support/busted.lua -o plainTerminal'
         .. ' spec/support/reference.lua 2>&1')
      local text = pipe:read '*a'
      pipe:close()
      print(text:match '%d+ entries, their examples took [%d.]+ s')
      assert.is_truthy(text:find '[1-9]%d* successes / 0 failures / 0 errors', text)
   end)
end)
