-- gpt: trains GPT-2 on a text, on several devices and in several processes, and writes with it.
--
--   scripts/dpt examples/gpt.lua [--file TEXT] [--vocab FILE --merges FILE] [--layers L]
--      [--width C] [--heads H] [--positions T] [--dropout P] [--recompute] [--batch B] [--steps N]
--      [--lr R] [--warmup N] [--decay D] [--clip G] [--every N] [--devices N] [--precision P]
--      [--seed S] [--save FILE [--resume]] [--from FILE] [--to FILE] [--prompt TEXT]
--      [--sample N] [--temperature T] [--top K]
--   dpt launch -n 2 examples/gpt.lua ...        -- each process takes its part of every batch
--
-- The default text is examples/data/founding.txt.gz. Its tokens are its bytes, or those of GPT-2's
-- files vocab.json and merges.txt. The first nine tenths are for training: each row of a batch
-- begins anywhere in them. Every N steps it prints the losses in nats per token and writes FILE,
-- from which --resume continues with the same bits, FILE.loss and FILE.loss.svg. --from and --to
-- name a file model.safetensors of Hugging Face's transformers. docs/gpt.md explains a run.
-- The last line is `validation loss: N.NNNN`.
-- short: --steps 4 --width 32 --layers 2 --positions 32 --every 2 --sample 40
-- short: --steps 2 --width 32 --layers 2 --positions 32 --recompute --dropout 0.1 --devices 2
require 'dpt'
local distributed = require 'dpt.distributed'
local nn, optim, cutorch, sys = nn, optim, cutorch, sys
local here = debug.getinfo(1, 'S').source:match('^@(.*)gpt%.lua$') or ''
local tokens, gpt2 = dofile(here .. 'tokens.lua'), dofile(here .. 'gpt2.lua')
local rank = distributed.rank()
torch.setdefaulttensortype('torch.FloatTensor')

local cmd = torch.CmdLine()
cmd:text('Trains GPT-2 on a text and writes with it.')
cmd:option('--file', '', 'text to learn (the default: two documents of 1776 and 1787)')
cmd:option('--vocab', '', "GPT-2's vocab.json (the default: tokens are bytes)")
cmd:option('--merges', '', "GPT-2's merges.txt")
cmd:option('--layers', 4, 'blocks of attention and MLP')
cmd:option('--width', 128, 'size of the activations')
cmd:option('--heads', 4, 'of attention')
cmd:option('--positions', 128, 'tokens that the network sees at once')
cmd:option('--dropout', 0, 'probability')
cmd:option('--recompute', false, 'recompute activations in the backward pass, which saves memory')
cmd:option('--batch', 16, 'rows of a step, over all devices and processes')
cmd:option('--steps', 1000, 'in all')
cmd:option('--lr', 0.001, 'highest learning rate, which falls to a tenth')
cmd:option('--warmup', 100, 'steps in which the learning rate rises')
cmd:option('--decay', 0.1, 'of weights, not of biases and normalization')
cmd:option('--clip', 1, 'largest norm of the gradients')
cmd:option('--every', 100, 'steps between validations and checkpoints')
cmd:option('--devices', 0, 'on how many devices (0: all of them)')
cmd:option('--precision', 'float', 'of weights and activations: float, bfloat16 or half')
cmd:option('--seed', 1, 'of the parameters, the batches and the sample')
cmd:option('--save', '', 'checkpoint')
cmd:option('--resume', false, 'continue from the checkpoint')
cmd:option('--from', '', 'model.safetensors to begin with, which determines the sizes')
cmd:option('--to', '', 'model.safetensors to write at the end')
cmd:option('--prompt', '\n', 'begin of the sample')
cmd:option('--sample', 300, 'tokens to write at the end')
cmd:option('--temperature', 0.8, 'of the sample; 0 takes the likeliest token')
cmd:option('--top', 40, 'draw from this many likeliest tokens (0: from all)')
local opt = cmd:parse(arg)
assert(opt.save ~= '' or not opt.resume, '--resume needs --save')
assert((opt.vocab == '') == (opt.merges == ''), '--vocab needs --merges')
torch.manualSeed(opt.seed)
cutorch.manualSeedAll(opt.seed)

local function readText()
   local path = opt.file ~= '' and opt.file or here .. 'data/founding.txt.gz'
   local file = path:find('%.gz$') and assert(io.popen(("gzip -dc '%s'"):format(path)))
      or assert(io.open(path, 'rb'))
   local text = file:read('*a')
   file:close()
   return text
end

-- All that a later run needs to continue: torch.save writes it as it is.
local run = {config = {}, step = 0, rows = {}}
if opt.resume then
   run = torch.load(opt.save)
elseif opt.from ~= '' then
   run.model = gpt2.load(opt.from, opt)
end
local codec = opt.vocab == '' and tokens.bytes() or tokens.bpe(opt.vocab, opt.merges)
opt.vocabulary = codec.size
local model = (run.model or gpt2.network(opt)):cuda()
if opt.precision ~= 'float' then model = nn.MixedPrecision(model, opt.precision) end
run.model = model
local positions = gpt2.positions(model)
assert(codec.size <= model:findModules('nn.LookupTable')[1].weight:size(1),
   'the network knows fewer tokens than --vocab has')

-- Returns all rows of positions + 1 tokens that begin `stride` tokens apart.
local function rowsOf(text, stride)
   assert(text:nElement() > positions, 'the text is too short for --positions')
   return text:unfold(1, positions + 1, stride)
end
local text = codec:encode(readText())
local middle = math.floor(text:nElement() * 0.9)
local train = rowsOf(text:narrow(1, 1, middle), 1)
local held = rowsOf(text:narrow(1, middle + 1, text:nElement() - middle), positions)

local devices, network = {}, model
for i = 1, opt.devices > 0 and opt.devices or cutorch.getDeviceCount() do devices[i] = i end
if #devices > 1 then network = nn.DataParallelTable(1, true):add(model, devices) end
local sampler = distributed.sampler(train:size(1), {batch = opt.batch, seed = opt.seed})
if opt.resume then sampler:load(run.sampler) end
local net = nn.DistributedDataParallel(network, {sampler = sampler})
if opt.resume then -- all processes load rank 0's state
   torch.setRNGState(run.host)
   cutorch.setRNGStateAll(run.device)
end

local criterion, config = nn.CrossEntropyCriterion():cuda(), run.config
local parameters, gradients = net:getParameters()
config.learningRates, config.weightDecays = nn.utils.parameterGroups(net, {
   {name = 'bias$', weightDecay = 0}, {class = 'LayerNorm', weightDecay = 0},
}, opt.decay)
config.scaler = opt.precision == 'half' and (config.scaler or optim.LossScaler()) or nil
local rate = optim.schedule.cosine{learningRate = opt.lr, minimum = opt.lr / 10,
   warmup = opt.warmup, steps = math.max(1, opt.steps - opt.warmup)}
if rank == 0 then
   print(('%d parameters, %d tokens to learn from, %d to test, %d devices, %d processes'):format(
      parameters:nElement(), train:size(1), held:size(1) * positions, #devices,
      distributed.size()))
end

-- Returns inputs and the tokens that follow them, on the device.
local function batch(rows)
   return rows:narrow(2, 1, positions):cuda(), rows:narrow(2, 2, positions):cuda():view(-1)
end

local function learn(indices)
   local input, target = batch(train:index(1, indices))
   config.learningRate = rate(run.step)
   run.step = run.step + 1
   local _, losses = optim.adamw(function()
      net:zeroGradParameters()
      local loss = criterion:forward(net:forward(input), target)
      local gradOutput, scaler = criterion:backward(net.output, target), config.scaler
      net:backward(input, scaler and scaler:scale(gradOutput) or gradOutput)
      if scaler then scaler:unscale(gradients) end
      net:clipGradNorm(opt.clip)
      return net:meanLoss(loss), gradients
   end, parameters, config)
   return losses[1]
end

-- Returns the mean loss on the rows for validation; needs no other process.
local function validate()
   net:evaluate()
   local sum = 0
   for first = 1, held:size(1), opt.batch do
      local count = math.min(opt.batch, held:size(1) - first + 1)
      local input, target = batch(held:narrow(1, first, count))
      sum = sum + criterion:forward(net:forward(input), target) * count
   end
   net:training()
   return sum / held:size(1)
end

-- Writes the checkpoint, and the losses as a table and as a picture.
local function save()
   model:clearState()
   run.sampler, run.host, run.device = sampler:state(), torch.getRNGState(),
      cutorch.getRNGStateAll()
   torch.save(opt.save, run)
   local log = optim.Logger(opt.save .. '.loss'):setNames{'training loss', 'validation loss'}
   for _, row in ipairs(run.rows) do log:add(row) end
   log.epsfile = nil
   log.plotRawCmd = ('set xlabel "%d steps"'):format(opt.every)
   log:style{'-', '-'}:plot()
end

local sum, count, begun = 0, 0, sys.clock()
while run.step < opt.steps do
   for indices in sampler:epoch() do
      sum, count = sum + learn(indices), count + 1
      if rank == 0 and (run.step % opt.every == 0 or run.step == opt.steps) then
         local speed = count * opt.batch * positions / (sys.clock() - begun)
         local row = {sum / count, validate()}
         table.insert(run.rows, row)
         print(('step %d: training loss %.4f, validation loss %.4f, %.0f tokens/s'):format(run.step,
            row[1], row[2], speed))
         if opt.save ~= '' then save() end
         sum, count, begun = 0, 0, sys.clock()
      end
      if run.step == opt.steps then break end
   end
end

if rank == 0 then -- sampling needs no other process
   if opt.to ~= '' then gpt2.save(opt.to, model) end
   local written = gpt2.sample(model, codec:encode(opt.prompt), opt.sample, opt)
   print('\n' .. codec:decode(written) .. '\n')
   print(('validation loss: %.4f'):format(validate()))
end
