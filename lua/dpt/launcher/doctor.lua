--- dpt.launcher.doctor: `dpt doctor`: reports devices, libraries and versions, and missing parts.
--
-- Invariant: it works even if dpt itself cannot be loaded, since that is when it is needed; so it
-- loads dpt in a protected call.
local options = require 'dpt.launcher.options'
local shell = require 'dpt.launcher.shell'

local doctor = {}

local problems

local function say(name, text) print(('%-10s %s'):format(name, text)) end

local function problem(text, remedy)
   problems = problems + 1
   say('PROBLEM', text)
   if remedy then say('', remedy) end
end

local function output(command) return shell.output(command .. ' 2>/dev/null') end

--- Debian packages by the prefix of a library's name.
local packages = {libopenblas = 'libopenblas0-pthread', libdnnl = 'libdnnl2',
   libsleef = 'libsleef3', libgomp = 'libgomp1'}

--- Explains why libdpt.so cannot be loaded.
local function explainLibrary(why)
   problem('dpt cannot be loaded: ' .. tostring(why))
   local own = package.searchpath('dpt.launcher.doctor', package.path)
   local folder = own:gsub('launcher/[^/]*$', '')
   local library = os.getenv 'DPT_LIBRARY'
   for _, place in ipairs{'', '../../build/', '../../lib/', '../../../../lib/lua/5.1/'} do
      local path = folder .. place .. 'libdpt.so'
      local file = not library and io.open(path)
      if file then
         file:close()
         library = path
      end
   end
   if not library then
      problem('libdpt.so not found', 'build it with scripts/build, after scripts/setup')
      return
   end
   for name in output("ldd '" .. library .. "'"):gmatch('(%S+) => not found') do
      local packaged = packages[name:match('^%a+')]
      problem(library .. ' requires ' .. name .. ', which is not installed',
         packaged and 'Debian: apt-get install ' .. packaged or 'install it manually')
   end
end

local function devices(dpt)
   local known, report = pcall(dpt.devices)
   say('devices', report)
   local cutorch = rawget(_G, 'cutorch') and dpt.cutorch
   if not known or not cutorch then
      return
   end
   local ok, count = pcall(cutorch.getDeviceCount)
   if not ok then
      problem('no device is available', 'set DPT_DEVICES, for example DPT_DEVICES=host:4')
      return
   end
   local shared -- the machine's memory, which emulated devices on its CPU share
   for i = 1, count do
      local named, properties = pcall(cutorch.getDeviceProperties, i)
      local text = named and properties.name or 'device'
      local counted, free, total = pcall(cutorch.getMemoryUsage, i)
      if counted and total and total > 0 then
         local memory = ('%.1f of %.1f GiB free'):format(free / 2^30, total / 2^30)
         if properties.integrated == 1 then
            shared = shared or memory
         else
            text = text .. ', ' .. memory
         end
      end
      say('device ' .. i, text)
   end
   if shared then say('memory', shared .. ', shared by all host devices') end
end

-- Compares a matrix product with the core's peak speed: a BLAS that does not know the CPU is slow
-- without warning.
local function products(C, ffi)
   local speed, peak = ffi.new 'double[1]', ffi.new 'double[1]'
   local isa = ffi.new 'const char *[1]'
   if C.dpt_blas_speed(speed, peak, isa) ~= 0 then
      return problem((ffi.string(C.dpt_message()):gsub('^[%w_]+: ', '')))
   end
   speed, peak = speed[0], peak[0]
   say('products', ('%.0f GFLOP/s on one core, which can do %.0f with %s'):format(speed, peak,
      ffi.string(isa[0])))
   if speed >= peak / 2 then return end
   local coretype = os.getenv 'OPENBLAS_CORETYPE'
   problem("products take more than twice the time that this CPU's peak allows", coretype
      and ('OPENBLAS_CORETYPE=%s is set: unset it, and dpt chooses the kernels'):format(coretype)
      or 'a newer OpenBLAS or MKL may have faster kernels (DPT_BLAS=FILE); OPENBLAS_CORETYPE'
         .. ' selects the kernels of OpenBLAS')
end

-- Reports usable GPUs, or why there are none, whatever devices are in use.
local function gpus(C, ffi)
   local n, runtime, driver = ffi.new 'int[1]', ffi.new 'int[1]', ffi.new 'int[1]'
   if C.dpt_gpu_count(n, runtime, driver) ~= 0 then
      return say('CUDA', 'no GPU can be used: ' .. ffi.string(C.dpt_message()))
   end
   local function version(v) return ('%d.%d'):format(v[0] / 1000, v[0] % 1000 / 10) end
   say('CUDA', ('%d GPU%s; CUDA %s, driver for CUDA %s'):format(n[0], n[0] == 1 and '' or 's',
      version(runtime), version(driver)))
end

-- Descriptions of the results of distributed.transport.
local transports = {
   nccl = 'device tensors by NCCL',
   ['page-locked'] = 'device tensors through page-locked memory, over MPI',
   mpi = 'device tensors by MPI, which reads their memory',
   none = 'no devices',
}

-- Reports the connection between ranks, whether this process is one, and how tensors are sent.
local function ranks(distributed)
   local version = output 'mpirun --version':match '^[^\n]*%d[^\n]*'
   local joined, library = pcall(distributed.library)
   if not joined then
      problem((tostring(library):gsub('^.-: ', '', 1)))
   elseif library ~= '' then
      say('MPI', library)
      say('ranks', ('rank %d of %d, %d of them on this host'):format(distributed.rank(),
         distributed.size(), distributed.localSize()))
      local name, why = distributed.transport()
      say('transport', ('host tensors by MPI, %s%s'):format(transports[name],
         why ~= '' and ' (' .. why .. ')' or ''))
   else
      say('MPI', version
         or 'mpirun not found (Debian: package dpt-mpi; if you build dpt, openmpi-bin and '
            .. 'libopenmpi-dev, then rebuild dpt)')
      say('ranks', 'not running as part of a multi-process job'
         .. (version and ' (start one with `dpt launch`)' or ''))
   end
end

-- Returns true if # uses a table's metatable, as in Torch7's LuaJIT.
local function compatible52()
   return #setmetatable({}, {__len = function() return 1 end}) == 1
end

--- Prints the report. @return 0, or 1 if something is missing
function doctor.run()
   problems = 0
   local first = 0
   for i in pairs(arg or {}) do first = math.min(first, tonumber(i) or 0) end
   say('LuaJIT', jit.version .. (jit.status() and ', compiler on' or ', COMPILER OFF') .. ', '
      .. (arg and arg[first] or 'luajit'))
   if not compatible52() then
      say('', "built without Lua 5.2 features, so #net is 0: scripts/setup builds one with them")
   end
   if not jit.status() then problem('the JIT compiler of LuaJIT is off: dpt will be slow') end
   local ok, dpt = pcall(require, 'dpt')
   if not ok then
      explainLibrary(dpt)
   else
      local dptffi = require 'dpt.ffi'
      local C, ffi = dptffi.C, dptffi.ffi
      say('dpt', dpt._VERSION .. ' in ' .. package.searchpath('dpt', package.path):match('^(.*)/'))
      for line in ffi.string(C.dpt_libraries()):gmatch('[^\n]+') do
         say(line:match('^(%S+) (.*)$'))
      end
      local model = output('grep -m1 "model name" /proc/cpuinfo'):match(':%s*(.-)%s*$') or 'unknown'
      say('CPU', ('%s, %d cores for this process'):format(model, C.dpt_cores()))
      products(C, ffi)
      devices(dpt)
      gpus(C, ffi)
      ranks(dpt.distributed)
      if not require('dpt.launcher.editor').installed() then
         say('optional', 'libedit adds history and line editing to the prompt (Debian: libedit2)')
      end
   end
   print(problems == 0 and 'all is well' or 'problems: ' .. problems)
   return problems == 0 and 0 or 1
end

--- Entry point of the shell script `dpt`. @return the exit status
function doctor.main(words)
   local usage = 'usage: dpt doctor\n'
   local given, others = options.command('dpt doctor', usage, words, {}, true)
   if not given then return others end
   if #others > 0 then return options.wrong('dpt doctor', usage, 'takes no arguments') end
   return doctor.run()
end

return doctor
