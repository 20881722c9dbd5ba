-- char_lm: trains a recurrent network to write text letter by letter, on several devices at once.
--
--   scripts/dpt examples/char_lm.lua [--file TEXT] [--devices N] [--hidden H] [--layers L]
--      [--seq T] [--batch B] [--epochs E] [--lr R] [--seed S] [--sample LEN] [--save FILE]
--      [--load FILE] [--precision float|bfloat16|half]
--
-- The default text is examples/data/founding.txt.gz; any file works: each byte is a letter. The
-- first nine tenths are cut into B streams that are read T letters at a time; each stream keeps its
-- state (on its device) between steps. The rest is for validation. Prints bits per character
-- (guessing needs log2 of the number of letters), then LEN letters of generated text.
-- The last line is `validation bits per character: N.NNN`.
-- short: --epochs 1 --hidden 32 --sample 40
-- short: --epochs 1 --hidden 16 --layers 2 --devices 2
require 'dpt'
local nn, optim, cudnn, cutorch, sys = nn, optim, cudnn, cutorch, sys
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:text('Trains a model of the letters of a text with cudnn.LSTM in nn.DataParallelTable.')
cmd:option('--file', '', 'text to learn (the default: two documents of 1776 and 1787)')
cmd:option('--devices', 0, 'on how many devices (0: all of them)')
cmd:option('--hidden', 128, 'size of the state')
cmd:option('--layers', 1, 'of the LSTM')
cmd:option('--seq', 50, 'letters of each stream in a step')
cmd:option('--batch', 16, 'streams')
cmd:option('--epochs', 20, 'how often the text is read')
cmd:option('--lr', 0.005, 'learning rate, which falls to zero')
cmd:option('--precision', 'float', 'of weights and activations: float, bfloat16 or half')
cmd:option('--seed', 1, 'of the first parameters and of the sample')
cmd:option('--sample', 300, 'how many letters to write at the end')
cmd:option('--save', '', 'file for the trained network')
cmd:option('--load', '', 'file with a network to go on with')
local opt = cmd:parse(arg)

local function readText()
   local here = debug.getinfo(1, 'S').source:match('^@(.*)char_lm%.lua$') or ''
   local path = opt.file ~= '' and opt.file or here .. 'data/founding.txt.gz'
   local file = path:find('%.gz$') and assert(io.popen(("gzip -dc '%s'"):format(path)))
      or assert(io.open(path, 'rb'))
   local text = file:read('*a')
   file:close()
   return #text >= 20 * opt.batch and text or error(path .. ' is too short for that many streams')
end

-- Returns the distinct letters of a text, sorted: a letter's index is its class.
local function alphabet(text)
   local letters = {}
   for byte = 0, 255 do
      local letter = string.char(byte)
      if text:find(letter, 1, true) then letters[#letters + 1] = letter end
   end
   return letters
end

-- Returns the text as classes in B rows, one stream each.
local function streams(text, classes)
   local i = 0
   return torch.LongTensor(opt.batch, math.floor(#text / opt.batch)):apply(function()
      i = i + 1
      return assert(classes[text:sub(i, i)], 'a letter that the network does not know')
   end)
end

local function network(letters)
   return nn.Sequential()
      :add(nn.LookupTable(letters, 32)) -- (B, T, 32)
      :add(cudnn.LSTM(32, opt.hidden, opt.layers, true, 0, true))
      :add(nn.View(-1, opt.hidden)) -- (B * T, hidden)
      :add(nn.Linear(opt.hidden, letters)):add(nn.LogSoftMax())
end

torch.manualSeed(opt.seed)
cutorch.manualSeedAll(opt.seed)
local devices = {}
for i = 1, opt.devices > 0 and opt.devices or cutorch.getDeviceCount() do devices[i] = i end
local text = readText()
local model = opt.load ~= '' and torch.load(opt.load) or {}
model.letters = model.letters or alphabet(text)
local letters, classes = model.letters, {}
for i = 1, #letters do classes[letters[i]] = i end
model.net = (model.net or network(#letters)):cuda()
if opt.precision ~= 'float' then model.net = nn.MixedPrecision(model.net, opt.precision) end
local middle = math.floor(#text * 0.9)
local train, held = streams(text:sub(1, middle), classes), streams(text:sub(middle + 1), classes)

local net = nn.DataParallelTable(1, true):add(model.net, devices)
local criterion = nn.ClassNLLCriterion():cuda()
local parameters, gradients = net:getParameters()
print(('%d parameters, %d letters to learn from, %d to test, of %d kinds, on %d device%s'):format(
   parameters:nElement(), train:nElement(), held:nElement(), #letters, #devices,
   #devices == 1 and '' or 's'))

local function begin() -- resets the state of every stream
   net:applyToReplicas(function(replica) replica:findModules('cudnn.LSTM')[1]:resetStates() end)
end

-- Reads all streams; f(input, target) returns the average loss of a step. Returns bits per letter.
local function read(rows, f)
   begin()
   local sum, count, length = 0, 0, rows:size(2)
   for first = 1, length - 1, opt.seq do
      local steps = math.min(opt.seq, length - first)
      local input = rows:narrow(2, first, steps):contiguous():cuda()
      local target = rows:narrow(2, first + 1, steps):contiguous():view(-1):cuda()
      sum, count = sum + f(input, target) * steps, count + steps
   end
   return sum / count / math.log(2)
end

local scaler = opt.precision == 'half' and optim.LossScaler() or nil
local state = {learningRate = opt.lr, scaler = scaler}
local function learn(input, target)
   local function feval()
      net:zeroGradParameters()
      local output = net:forward(input)
      local loss = criterion:forward(output, target)
      local gradOutput = criterion:backward(output, target)
      net:backward(input, scaler and scaler:scale(gradOutput) or gradOutput)
      if scaler then scaler:unscale(gradients) end
      gradients:clamp(-1, 1)
      return loss, gradients
   end
   return select(2, optim.adam(feval, parameters, state))[1]
end

local function validate()
   net:evaluate()
   return read(held, function(input, target)
      return criterion:forward(net:forward(input), target)
   end)
end

for epoch = 1, opt.epochs do
   local begun = sys.clock()
   state.learningRate = opt.lr * (1 + math.cos(math.pi * (epoch - 1) / opt.epochs)) / 2
   net:training()
   local bits = read(train, learn)
   local speed = train:nElement() / (sys.clock() - begun)
   print(('epoch %2d: training %.4f, validation %.4f bits per character, %.0f letters/s'):format(
      epoch, bits, validate(), speed))
end
local bits = validate()
if opt.save ~= '' then
   torch.save(opt.save, {net = net:get(1):clearState(), letters = letters})
end

-- Generates one letter at a time, each drawn from the distribution that the network predicts.
begin()
local written, class = {}, classes['\n'] or 1
for i = 1, opt.sample do
   local output = net:forward(torch.CudaTensor(1, 1):fill(class))
   class = torch.multinomial(output:float():exp():view(-1), 1)[1]
   written[i] = letters[class]
end
print('\n' .. table.concat(written) .. '\n')
print(('validation bits per character: %.3f'):format(bits))
