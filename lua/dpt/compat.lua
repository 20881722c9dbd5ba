--- dpt.compat: Torch7's global names and `require` names; the only writer of globals.
--
-- What must stay true: a name that is there already, from elsewhere, is an error that says so: two
-- implementations of `torch` in one program would share nothing but the name.
local compat = {}

--- The rooms that are globals in Torch7.
local names = {'torch', 'nn', 'cutorch', 'cudnn', 'optim', 'nccl', 'xlua', 'paths', 'sys'}

--- What exists only where there are devices.
local ofDevices = {'cutorch', 'cudnn', 'nccl', 'cunn'}
--- Packages of Torch7 that scripts require and dpt does not bring.
local others = [[
   image nngraph nnx rnn dpnn dp tds torchnet torchx tnt inn stn fbcunn fbnn fbtorch nninit optnet
   gnuplot hdf5 csvigo mattorch qtlua qttorch graphicsmagick camera video display visdom itorch
   signal loadcaffe cunnx cltorch clnn distlearn autograd trepl env unsup manifold moses matio lmdb
]]

-- Adds to the text of a failing `require` why a package of Torch7 is not there.
local function explain(name)
   for _, known in ipairs(ofDevices) do
      if name == known then
         return "\n\tdpt: there is no device (DPT_DEVICES=none), so there is no '" .. name .. "'"
      end
   end
   for known in others:gmatch('%w+') do
      if name == known then
         return "\n\tdpt: '" .. name .. "' is a package of Torch7 that dpt does not bring"
      end
   end
end

--- Raises where Torch7's names are taken.
function compat.refuse()
   for _, name in ipairs(names) do
      local where = package.loaded[name] ~= nil and "package.loaded['" .. name .. "']"
         or rawget(_G, name) ~= nil and "the global '" .. name .. "'"
      if where then
         error(("dpt: '%s' is loaded from elsewhere already (%s): dpt brings its own, load dpt"
            .. ' first and do not load the other'):format(name, where), 0)
      end
   end
end

--- Defines the globals and what `require` finds under Torch7's names.
function compat.install(rooms)
   for _, name in ipairs(names) do
      local room = rooms[name]
      if room then
         rawset(_G, name, room)
         package.preload[name] = function() return room end
      end
   end
   package.preload.threads = function() return rooms.threads end -- no global, as in Torch7
   rawset(_G, 'include', rooms.torch.include)
   table.insert(package.loaders, 2, explain) -- after what is preloaded
   if rooms.torch.CmdLine then rooms.torch.CmdLine.setPrint = compat.setPrint end
end

--- Makes f the global `print`.
function compat.setPrint(f) rawset(_G, 'print', f) end

--- Makes `arg` the words of the program that the launcher runs.
function compat.setArguments(words) rawset(_G, 'arg', words) end

--- Defines the names that only exist where there are devices, or takes them away.
function compat.devices(rooms, on)
   for _, name in ipairs(ofDevices) do
      local room = rooms[name == 'cunn' and 'nn' or name]
      if name ~= 'cunn' then rawset(_G, name, on and room or nil) end
      package.preload[name] = on and room and function() return room end or nil
      if not on then package.loaded[name] = nil end
   end
end

return compat
