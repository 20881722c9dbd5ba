local dpt = require 'dpt'
local torch, nn, cudnn = dpt.torch, dpt.nn, dpt.cudnn
local catalogue = require 'spec.support.catalogue'
local criterions = require 'spec.support.criterions'
local signatures = require 'dpt.nn.signatures'

--- One value of each kind.
local values = {
   tensor = torch.rand(2, 4), table = {torch.rand(2, 4), torch.rand(2, 4)}, number = 3,
   string = 'x', boolean = true, module = nn.Identity(), criterion = nn.MSECriterion(),
   ['function'] = print,
}
local names = {'tensor', 'table', 'number', 'string', 'boolean', 'function', 'nil'}

local function kindOf(value)
   return torch.isTensor(value) and 'tensor' or type(value)
end

--- Returns true if a parameter of this declared kind accepts values of the given kind.
local function takes(declared, kind)
   for word in declared:gmatch '%w+' do
      if word == kind or word == 'any' then return true end
   end
   return false
end

--- Calls f, which must reject an argument.
local function rejected(what, argument, f, ...)
   local ok, why = pcall(f, ...)
   assert(not ok, what .. ' is taken')
   assert(type(why) == 'string', what)
   assert(why:find("%w+%.%w+: argument '" .. argument .. "', wanted .-, got "), what .. ': ' .. why)
   assert(why:find('guard_spec.lua:', 1, true), what .. ' is reported elsewhere: ' .. why)
   for _, text in ipairs{'attempt to', 'bad argument', "'for' "} do
      assert(not why:find(text, 1, true), what .. ': ' .. why)
   end
end

--- Returns the signature that checks a module's method: that of its class, or of the parent that
-- defines the method.
local function signatureOf(object, method)
   local methods = getmetatable(object)
   while rawget(methods, method) == nil do methods = getmetatable(methods) end
   return signatures.of(methods.__typename)
end

--- Classes of nn and cudnn with a signature, by name.
local classes = {}
for _, name in ipairs(signatures.names()) do
   local package, last = name:match '^(%w+)%.(%w+)$'
   classes[name] = assert(dpt[package][last], name)
end

describe('The check of arguments', function()
   it("rejects wrong arguments of a module's forward", function()
      local count = 0
      for _, case in ipairs(catalogue) do
         local module = case.make()
         local signature = signatureOf(module, 'updateOutput')
         for _, kind in ipairs(signature and signature.arguments and names or {}) do
            if not takes(signature.arguments[1].kind, kind) then
               count = count + 1
               rejected(case.name .. ' ' .. kind, 'input', function()
                  local output = module:forward(values[kind])
                  return output
               end)
            end
         end
         assert.is_true(pcall(module.forward, module, case.input(2)), case.name)
      end
      assert.is_true(count > 700, count)
   end)

   it('rejects a gradOutput of another kind than the output', function()
      local count = 0
      for _, case in ipairs(catalogue) do
         local module = case.make()
         local signature = signatureOf(module, 'updateGradInput')
         local arguments = signature and signature.arguments
         if arguments then
            local input = case.input(2)
            local output = module:forward(input)
            assert.is_true(takes(arguments[2].kind, kindOf(output)), case.name)
            for _, kind in ipairs(names) do
               if not takes(arguments[2].kind, kind) then
                  count = count + 1
                  rejected(case.name .. ' ' .. kind, 'gradOutput', function()
                     local gradient = module:backward(input, values[kind])
                     return gradient
                  end)
               end
            end
         end
      end
      assert.is_true(count > 700, count)
   end)

   it('rejects wrong arguments of a criterion', function()
      for _, case in ipairs(criterions) do
         local criterion = case.make()
         local signature = signatureOf(criterion, 'updateGradInput')
         local input, target = case.input(2), case.target and case.target(2)
         for i, argument in ipairs(signature and signature.arguments or {}) do
            for _, kind in ipairs(names) do
               if not takes(argument.kind, kind) then
                  for _, method in ipairs{'forward', 'backward'} do
                     rejected(case.name .. ' ' .. method .. ' ' .. kind, argument.name, function()
                        local x, y = input, target
                        if i == 1 then x = values[kind] else y = values[kind] end
                        local result = criterion[method](criterion, x, y)
                        return result
                     end)
                  end
               end
            end
         end
      end
   end)

   it('reports the module inside a container', function()
      local net = nn.Sequential():add(nn.Identity()):add(nn.CAddTable())
      local ok, why = pcall(net.forward, net, torch.rand(3))
      assert.is_false(ok)
      assert.is_truthy(why:find('^In 2 module of nn%.Sequential:\n.-nn%.CAddTable: '
         .. "argument 'input', wanted a table, got torch%.DoubleTensor"), why)
   end)

   it("does not check scripts' methods, only the arguments that they pass to the parent", function()
      local place = {}
      local Own, parent = torch.class('guardspec.Own', 'nn.CAddTable', place)
      function Own:updateOutput(input)
         return torch.isTensor(input) and input or parent.updateOutput(self, input)
      end
      local x = torch.rand(3)
      assert.equal(x, place.Own():forward(x))
      rejected('a number', 'input', function()
         local output = place.Own():forward(3)
         return output
      end)
      local m = nn.CAddTable()
      m.updateOutput = function(_, input) return input end
      assert.equal(x, m:forward(x))
      local original = nn.MV.updateOutput
      nn.MV.updateOutput = function(_, input) return input end
      nn.MV.backward = function(_, input) return input end
      local output, gradient = nn.MV():forward(3), nn.MV():backward(3)
      nn.MV.updateOutput, nn.MV.backward = original, nil
      assert.same({3, 3}, {output, gradient})
   end)

   it('rejects the first wrong argument of a constructor by name', function()
      for name, class in pairs(classes) do
         local parameters = signatures.of(name).parameters
         local good = {}
         for i, parameter in ipairs(parameters) do
            for _, kind in ipairs(names) do
               local absent = parameter.optional and kind == 'nil'
               if not takes(parameter.kind, kind) and not absent then
                  rejected(('%s argument %d: %s'):format(name, i, kind), parameter.name, function()
                     local given = {unpack(good, 1, i - 1)}
                     given[i] = values[kind]
                     local made = class(unpack(given, 1, i))
                     return made
                  end)
               end
            end
            local kind = parameter.kind:match '%w+'
            good[i] = not parameter.optional and values[kind] or nil
         end
      end
   end)

   it('rejects a constructor without arguments at the first required one', function()
      for name, class in pairs(classes) do
         for _, parameter in ipairs(signatures.of(name).parameters) do
            if not parameter.optional and parameter.kind ~= 'any' then
               rejected(name, parameter.name, function()
                  local made = class()
                  return made
               end)
               break
            end
         end
      end
   end)

   it('leaves values of the right kind to constructors, which reject them at the same line',
      function()
         local odd = {
            number = {0, -1, 0.5, 3, 5, 0 / 0}, string = {'', 'x'}, boolean = {true, false},
            tensor = {torch.Tensor(), torch.rand(2, 4), torch.rand(3)}, module = {nn.Identity()},
            criterion = {nn.MSECriterion()}, table = {{}, {3}, {torch.rand(2)}},
            storage = {torch.LongStorage()}, any = {0, 'x', {}},
         }
         local count = 0
         for name, class in pairs(classes) do
            local parameters = signatures.of(name).parameters
            for trial = 1, 16 do
               local given = {}
               for i, parameter in ipairs(parameters) do
                  local list, turn = odd[parameter.kind:match '%w+'], trial + i * trial
                  if not parameter.optional or turn % 3 > 0 then
                     given[i] = list[turn % #list + 1]
                  end
               end
               local ok, why = pcall(function()
                  local made = class(unpack(given, 1, #parameters))
                  return made
               end)
               if not ok then
                  count = count + 1
                  assert(why:find('guard_spec.lua:', 1, true), name .. ': ' .. why)
                  assert(not why:find 'attempt to' and not why:find 'bad argument', why)
               end
            end
         end
         assert.is_true(count > 300, count)
      end)

   it('reads numbers from strings, as Torch7 did', function()
      local m = nn.Linear('3', '2')
      assert.same({2, 3}, m.weight:size():totable())
      assert.equal('number', type(nn.Dropout('0.25').p))
      assert.same({2, 3}, nn.View('2', 3):forward(torch.rand(6)):size():totable())
      assert.equal('5', nn.SelectTable('5').index)
      assert.equal(3, cudnn.SpatialConvolution('2', '3', '1', '1').nOutputPlane)
   end)

   it('names a class of a script that leaves the constructor to its parent', function()
      local place = {}
      torch.class('guardspec.Plain', 'nn.Linear', place)
      assert.error_matches(function() return (place.Plain()) end,
         "guardspec.Plain: argument 'inputSize', wanted a number, got nil")
   end)
end)
