-- The option check shared by samplers, loaders and parallel networks; their own specs list the
-- options that each accepts.
require 'dpt'
local options = require 'dpt.distributed.options'

describe('dpt.distributed.options', function()
   local known = {
      much = {options.isCount, 'a number from 1 on'},
      some = {options.isBoolean, 'true or false'},
      whole = {options.isWhole, 'a whole number'},
   }

   it('returns its argument', function()
      local given = {much = 3, some = false, whole = -2}
      assert.is_true(rawequal(given, options.check('f', given, 2, known)))
      assert.same({}, options.check('f', nil, 2, known))
   end)

   it('reports the wrong value and the expected one', function()
      local function wrong(message, given, names)
         assert.error_matches(function() options.check('f', given, 2, known, names) end, message, 1,
            true)
      end
      wrong('f: wants a table of options as argument 2, got string', 'much')
      wrong('f: there is no option most, wanted much, some or whole', {most = 1})
      wrong('f: there is no option much, wanted some or whole', {much = 1}, {'some', 'whole'})
      wrong('f: option much wants a number from 1 on, got 0', {much = 0})
      wrong("f: option much wants a number from 1 on, got '3'", {much = '3'})
      wrong('f: option some wants true or false, got {1, a table}', {some = {1, {}}})
      for _, value in ipairs{0.5, 0 / 0, math.huge} do
         wrong('f: option whole wants a whole number, got ' .. tostring(value), {whole = value})
      end
   end)
end)
