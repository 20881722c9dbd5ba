--- dpt.nn.safetensors: exchanges weights with PyTorch in the file format safetensors.
--
-- Invariant: a file is read whole and checked before a network changes. A missing name, or a size
-- or type that does not fit, raises an error that names it. A file is replaced atomically or not at
-- all. It contains memory that has several names once, under the first name in alphabetical order;
-- its metadata maps the other names to that one, as save_model of Python's package does. Names
-- (weight_ih_l0, running_mean ...) and sizes are PyTorch's; layouts that differ are converted here
-- and nowhere else.
local dptffi = require 'dpt.ffi'
local output = require 'dpt.output'
local torch = require 'dpt.tensor'
local core = require 'dpt.tensor.core'
local json = require 'dpt.profiler.json'
local ffi, fail, type = dptffi.ffi, dptffi.fail, dptffi.type

--- Exchanges weights with PyTorch in files of the format safetensors.
-- @field nn.safetensors
-- @as author
-- @within nn weights
-- @return a table of functions
-- @usage type(nn.safetensors.load) --> function
local safetensors = {}

local KINDS = {BOOL = core.BYTE} -- by the dtype in a file
for kind, element in pairs(core.elements) do KINDS[element.file] = kind end
local LONGEST = 100 * 2^20 -- maximum bytes of a header in the format

local function product(sizes)
   local n = 1
   for _, size in ipairs(sizes) do n = n * size end
   return n
end

-- Returns true for an integer that the header may use as a number of bytes or elements.
local function whole(v) return type(v) == 'number' and v >= 0 and v % 1 == 0 and v < 2^53 end

local function tensorOf(path, name, entry, body)
   local kind = type(entry) == 'table' and KINDS[entry.dtype]
   if not kind then
      fail("safetensors.load: '%s' in %s: wanted a known dtype, got %s", name, path,
         type(entry) == 'table' and tostring(entry.dtype) or type(entry))
   end
   local sizes, offsets = entry.shape, entry.data_offsets
   local right = type(sizes) == 'table' and type(offsets) == 'table' and whole(offsets[1])
      and whole(offsets[2]) and offsets[2] <= #body
   for _, size in ipairs(right and sizes or {}) do right = right and whole(size) end
   if not right or offsets[2] - offsets[1] ~= product(sizes) * core.elementSizes[kind] then
      fail("safetensors.load: '%s' in %s: shape and data_offsets do not fit the file", name, path)
   end
   local part, n = body:sub(offsets[1] + 1, offsets[2]), product(sizes)
   local construct = core.tensorConstructors[kind]
   if n == 0 then return construct() end
   local t = construct(n)
   ffi.copy(t:data(), part, #part)
   return #sizes > 0 and t:view(torch.LongStorage(sizes)) or t
end

--- Reads the tensors of a file.
-- @function nn.safetensors.load
-- @within nn weights
-- @param path string: name of the file
-- @return a table of host tensors by name; a scalar becomes one element, BOOL a
--    ByteTensor, BF16 a BFloat16Tensor; names that share memory have the same tensor
-- @raise if the file does not exist or is not valid safetensors; the error names the fault
-- @follows safetensors' load_file
-- @usage nn.safetensors.save('/tmp/one.safetensors', {a = torch.FloatTensor{1, 2}})
--    local read = nn.safetensors.load('/tmp/one.safetensors')
--    os.remove '/tmp/one.safetensors'
--    return read.a --> [1 2]
function safetensors.load(path)
   local file, why = io.open(path, 'rb')
   if not file then fail('safetensors.load: %s', why) end
   local text = file:read '*a'
   file:close()
   local length = 0
   for i = 8, 1, -1 do length = length * 256 + (text:byte(i) or 255) end
   if length > LONGEST or length + 8 > #text then
      fail('safetensors.load: %s: wanted a header of at most %d bytes, got %.0f', path,
         math.max(0, #text - 8), length)
   end
   local header = json.decode(text:sub(9, 8 + length), path)
   if type(header) ~= 'table' then
      fail('safetensors.load: %s: the header is not a JSON object', path)
   end
   local body, tensors = text:sub(9 + length), {}
   for name, entry in pairs(header) do
      if name ~= '__metadata__' then tensors[name] = tensorOf(path, name, entry, body) end
   end
   local metadata = header.__metadata__
   for name, kept in pairs(type(metadata) == 'table' and metadata or {}) do
      local isFormat = name == 'format' and kept == 'pt'
      if not header[name] and header[kept] and not isFormat then tensors[name] = tensors[kept] end
   end
   return tensors
end

-- Returns a string that is equal for tensors that are the same view of one storage.
local function viewKey(t)
   return ('%s %d %s %s %s'):format(t:type(), torch.pointer(t:storage()), t:storageOffset(),
      table.concat(t:size():totable(), 'x'), table.concat(t:stride():totable(), 'x'))
end

--- Writes tensors to a file. Tensors that are the same memory, such as a weight that two modules
-- share, are written once, under the first name in alphabetical order.
-- @function nn.safetensors.save
-- @within nn weights
-- @param path string: name of the file, replaced when all data is written
-- @param tensors table of tensors by name, on host or devices
-- @return nothing; the file's metadata contains the version of dpt, and format = pt, without which
--    older versions of Hugging Face's transformers reject a file
-- @raise if an entry is not a tensor, or the file cannot be written
-- @follows safetensors' save_file
-- @usage nn.safetensors.save('/tmp/two.safetensors', {b = torch.zeros(2, 3)})
--    local read = nn.safetensors.load('/tmp/two.safetensors')
--    os.remove '/tmp/two.safetensors'
--    return read.b:size() --> 2x3
function safetensors.save(path, tensors)
   local names, parts, offset = {}, {}, 0
   local header, kept = {__metadata__ = {dpt = torch.version(), format = 'pt'}}, {}
   for name, t in pairs(tensors) do
      if not torch.isTensor(t) then
         fail("safetensors.save: '%s' is a %s, wanted a tensor", name, torch.type(t))
      end
      names[#names + 1] = name
   end
   table.sort(names)
   for _, name in ipairs(names) do
      local t = tensors[name]
      local key = t:nElement() > 0 and viewKey(t) or name
      if kept[key] then
         header.__metadata__[name] = kept[key]
      else
         kept[key] = name
         t = t:type(core.tensorNames[t.kind_ % core.ON_DEVICE]):contiguous()
         local element = core.elementOf(t.kind_)
         local bytes = t:nElement() * element.size
         parts[#parts + 1] = bytes > 0 and ffi.string(t:data(), bytes) or ''
         header[name] = {dtype = element.file, shape = t:dim() > 0 and t:size():totable() or {0},
            data_offsets = {offset, offset + bytes}}
         offset = offset + bytes
      end
   end
   local text = json.encode(header)
   text = text .. (' '):rep(-#text % 8)
   local length = {}
   for i = 1, 8 do length[i] = string.char(math.floor(#text / 256^(i - 1)) % 256) end
   output.replace('safetensors.save', path, function(write)
      write(table.concat(length) .. text)
      for _, part in ipairs(parts) do write(part) end
   end, true)
end

-- Tensors of a module in PyTorch's layout ---------------------------------------------------------

-- Returns accessors of a module's tensor: {sizes and get() in PyTorch's layout, set(such a
-- tensor), parts: the tensors of the module}.
local function slot(t, sizes)
   return {parts = {t}, get = function() return sizes and t:view(torch.LongStorage(sizes)) or t end,
      set = function(new) t:copy(new) end,
      sizes = sizes or t:size():totable()}
end

-- Returns accessors that convert kW * inputFrameSize columns, frame by frame, to out x in x kW.
local function temporal(module, weight)
   local n, width, features = weight:size(1), module:window(), module.inputFrameSize
   return {parts = {weight}, sizes = {n, features, width},
      get = function() return weight:view(n, width, features):transpose(2, 3):contiguous() end,
      set = function(new)
         weight:copy(new:transpose(2, 3):contiguous():view(n, width * features))
      end}
end

-- Returns accessors of the gates' matrices, concatenated along rows.
local function gates(list, first, last, columns)
   local rows = list[first]:nElement() / (columns or 1)
   local sizes = {rows * (last - first + 1), columns}
   return {parts = {unpack(list, first, last)}, sizes = sizes,
      get = function()
         local parts = {}
         for i = first, last do parts[#parts + 1] = list[i]:view(rows, columns or 1) end
         return torch.cat(parts, 1):view(torch.LongStorage(sizes))
      end,
      set = function(new)
         for i = first, last do
            list[i]:copy(new:narrow(1, (i - first) * rows + 1, rows):contiguous())
         end
      end}
end

local function recurrent(module, slots)
   if (module.projSize or 0) > 0 then
      fail 'safetensors: got a recurrent module with a projection, which has no name here'
   end
   local matrices = module:weights()
   local biases = module.biasMode ~= 'CUDNN_RNN_NO_BIAS' and module:biases() or {}
   local directions = module.numDirections
   for i, list in ipairs(matrices) do
      local half, layer = #list / 2, math.floor((i - 1) / directions)
      local suffix = ('_l%d%s'):format(layer, (i - 1) % directions == 1 and '_reverse' or '')
      local hidden = module.hiddenSize
      local width = layer == 0 and module.inputSize or hidden * directions
      slots['weight_ih' .. suffix] = gates(list, 1, half, width)
      slots['weight_hh' .. suffix] = gates(list, half + 1, 2 * half, hidden)
      if biases[i] and #biases[i] > 0 then
         slots['bias_ih' .. suffix] = gates(biases[i], 1, half)
         slots['bias_hh' .. suffix] = gates(biases[i], half + 1, 2 * half)
      end
   end
   return slots
end

-- Returns accessors of tensors that are concatenated along rows.
local function stacked(list)
   local sizes = list[1]:size():totable()
   for i = 2, #list do sizes[1] = sizes[1] + list[i]:size(1) end
   return {parts = list, sizes = sizes, get = function() return torch.cat(list, 1) end,
      set = function(new)
         local first = 1
         for _, t in ipairs(list) do
            t:copy(new:narrow(1, first, t:size(1)))
            first = first + t:size(1)
         end
      end}
end

local function attention(module, slots)
   local projections = {unpack(module.modules)}
   local out = table.remove(projections)
   local names = #projections == 1 and {'in_proj_weight'}
      or {'q_proj_weight', 'k_proj_weight', 'v_proj_weight'}
   local biases = {}
   for i, projection in ipairs(projections) do
      slots[names[i]] = slot(projection.weight)
      biases[#biases + 1] = projection.bias
   end
   if #biases == #projections then
      slots.in_proj_bias = #biases == 1 and slot(biases[1]) or stacked(biases)
   elseif #biases > 0 then
      fail('safetensors: got an nn.MultiheadAttention with a bias in %d of %d projections, wanted'
         .. ' all or none', #biases, #projections)
   end
   slots['out_proj.weight'] = slot(out.weight)
   if out.bias then slots['out_proj.bias'] = slot(out.bias) end
   return slots
end

local function slotsOf(module)
   local slots = {}
   if torch.isTypeOf(module, 'nn.MultiheadAttention') then return attention(module, slots) end
   if torch.isTypeOf(module, 'nn.RNN') then return recurrent(module, slots) end
   local weight = rawget(module, 'weight')
   if weight then
      local sizes = module.weightSize and module:weightSize():totable()
      slots.weight = torch.isTypeOf(module, 'nn.TemporalConvolution') and temporal(module, weight)
         or slot(weight, sizes)
   end
   for _, name in ipairs{'bias', 'running_mean', 'running_var'} do
      if rawget(module, name) then slots[name] = slot(module[name]) end
   end
   return slots
end

-- Returns the modules that have tensors, each with the prefix of its names: a given name, in the
-- order of listModules, or the numbers that PyTorch's nn.Sequential assigns. nn.MixedPrecision has
-- the names and the float parameters of the network in it.
local function named(fn, net, names)
   local list, seen = {}, {}
   local function visit(module, path)
      if torch.isTypeOf(module, 'nn.MixedPrecision') then module = module:floats() end
      if not rawget(module, 'modules') or torch.isTypeOf(module, 'nn.RNN')
         or torch.isTypeOf(module, 'nn.MultiheadAttention') then
         if next(slotsOf(module)) and not seen[module] then
            seen[module] = true
            list[#list + 1] = {module = module, path = path}
         end
         return
      end
      for i, part in ipairs(module.modules) do
         visit(part, path == '' and tostring(i - 1) or path .. '.' .. i - 1)
      end
   end
   visit(net, '')
   if names and #names ~= #list then
      fail('safetensors.%s: got %d names, wanted %d, one for each module with weights', fn, #names,
         #list)
   end
   for i, entry in ipairs(list) do
      if names then entry.path = names[i] end
      entry.path = entry.path == '' and '' or entry.path .. '.'
   end
   return list
end

-- Returns a list of {name, class = type of the module, parts}, sorted by name within a module.
function safetensors._slots(net)
   local list = {}
   for _, entry in ipairs(named('tensors', net)) do
      local keys, slots = {}, slotsOf(entry.module)
      for key in pairs(slots) do keys[#keys + 1] = key end
      table.sort(keys)
      for _, key in ipairs(keys) do
         list[#list + 1] = {name = entry.path .. key, class = torch.type(entry.module),
            parts = slots[key].parts}
      end
   end
   return list
end

--- Returns the weights of a network in a table whose keys are their names in PyTorch.
-- @function nn.safetensors.tensors
-- @within nn weights
-- @param net module: Linear, convolutions, normalization, LookupTable, Embedding, recurrent modules
--    and MultiheadAttention, or containers of them
-- @param names? table: the name in PyTorch of each module with weights, in the order of
--    net:listModules(), for example {'conv1', 'bn1', 'fc'}; default: the numbers of PyTorch's
--    Sequential
-- @return a table of tensors by name, which may share the network's memory; the float parameters of
--    nn.MixedPrecision
-- @raise if the number of names differs from the number of modules with weights
-- @follows PyTorch's Module.state_dict
-- @usage nn.safetensors.tensors(nn.Sequential():add(nn.Linear(3, 2)))['0.weight']:size()
--    --> 2x3
function safetensors.tensors(net, names)
   local tensors = {}
   for _, entry in ipairs(named('tensors', net, names)) do
      for name, each in pairs(slotsOf(entry.module)) do tensors[entry.path .. name] = each.get() end
   end
   return tensors
end

-- Returns true if the tensor of a slot is the tensor of a slot in the list of pairs.
local function isShared(each, pairsOfSlots)
   local own = each.parts
   for _, pair in ipairs(pairsOfSlots) do
      local other = pair[1].parts
      if #own == 1 and #other == 1 and own[1]:isSetTo(other[1]) then return true end
   end
   return false
end

--- Copies weights saved by PyTorch into a network. A weight that several modules share needs only
-- one of its names.
-- @function nn.safetensors.fill
-- @within nn weights
-- @param net module: as for nn.safetensors.tensors
-- @param tensors table of tensors by PyTorch's names, or the name of a file
-- @param names? table: as for nn.safetensors.tensors
-- @return the network
-- @raise if a tensor is missing or has another size; the network does not change then
-- @follows PyTorch's Module.load_state_dict
-- @usage nn.safetensors.fill(nn.Linear(2, 1), {weight = torch.ones(1, 2), bias =
--       torch.ones(1)}) :forward(torch.Tensor{3, 4}) --> [8]
function safetensors.fill(net, tensors, names)
   if type(tensors) == 'string' then tensors = safetensors.load(tensors) end
   local work, missing = {}, {}
   for _, entry in ipairs(named('fill', net, names)) do
      for name, each in pairs(slotsOf(entry.module)) do
         local new = tensors[entry.path .. name]
         if new then
            local got = table.concat(new:size():totable(), 'x')
            local wanted = table.concat(each.sizes, 'x')
            if got ~= wanted then
               fail("safetensors.fill: '%s%s' is %s, wanted %s", entry.path, name, got, wanted)
            end
            work[#work + 1] = {each, new}
         else
            missing[entry.path .. name] = each
         end
      end
   end
   for name, each in pairs(missing) do
      if not isShared(each, work) then
         fail("safetensors.fill: argument 'tensors': there is no '%s'", name)
      end
   end
   for _, pair in ipairs(work) do pair[1].set(pair[2]) end
   return net
end

return safetensors
