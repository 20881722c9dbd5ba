-- The pages: every Lua block is a program that runs as pasted, quoted messages are those that dpt
-- raises, links have targets, tables are well-formed.
local dpt = require 'dpt'
local torch, nn = dpt.torch, dpt.nn
local pages = require 'spec.support.pages'
local read = require 'spec.support.read'

-- Pages that use old names.
local changes = {['docs/changes.md'] = true, ['docs/changes-2.0.md'] = true,
   ['docs/renamed.md'] = true, ['docs/upgrading-2.0.md'] = true}

describe('Blocks of Lua', function()
   local count = 0
   for _, page in ipairs(pages.list) do
      for _, block in ipairs(pages.blocks(page)) do
         count = count + 1
         it(('run as pasted, at %s:%d #devices2'):format(page, block.line), function()
            local status, out, err = pages.run(block.code)
            assert.equal('', err)
            assert.equal(0, status, out)
         end)
      end
   end

   it('are on many pages', function() assert.is_true(count > 45) end)
end)

describe("README's training script", function()
   local code = pages.blocks('README.md')[1].code

   -- Returns the median over seeds of the last loss that the script prints.
   local function median(script, devices)
      local status, out, err = pages.run(([[
         for seed = 1, 9 do
            torch.manualSeed(seed)
            local last
            local env = setmetatable({print = function(_, loss) last = loss end}, {__index = _G})
            setfenv(assert(loadstring(%q)), env)()
            print(last)
         end]]):format(script), 'env DPT_DEVICES=' .. devices .. ' dpt')
      assert.equal('', err)
      assert.equal(0, status)
      local losses = {}
      for loss in out:gmatch '%S+' do losses[#losses + 1] = tonumber(loss) end
      table.sort(losses)
      assert.equal(9, #losses)
      return losses[5]
   end

   it('learns as well as Adam does with the state of earlier steps', function()
      local without, count = code:gsub('params, config', 'params, {learningRate = 0.02}')
      assert.equal(1, count)
      for _, devices in ipairs{'host:1', 'host:2'} do
         assert.is_true(median(code, devices) < 0.19)
         assert.is_true(median(without, devices) > 0.21)
      end
   end)
end)

describe('Messages that a page quotes', function()
   local function linear() return nn.Linear(4, 2):float() end

   -- Calls that raise the quoted messages, in the order of the page.
   local raising = {
      ['docs/start.md'] = {
         loadstring 'return x.y',
         function() linear():forward(torch.FloatTensor(5, 3)) end,
         function() linear():cuda():forward(torch.FloatTensor(5, 4)) end,
      },
      ['docs/data-parallel.md'] = {
         function()
            local net = nn.Sequential():add(nn.Identity()):add(nn.Identity()):add(linear())
            nn.DataParallelTable(1):add(net:cuda(), {1, 2}):forward(torch.CudaTensor(4, 5))
         end,
      },
   }
   -- Patterns that match the messages in a page.
   local marks = {
      ['docs/start.md'] = '\n%- %*%*`(.-)`%*%*:',
      ['docs/data-parallel.md'] = '\n```\n(In .-)\n```\n',
   }

   for page, functions in pairs(raising) do
      it('are raised, in ' .. page .. ' #devices2', function()
         local count = 0
         for quoted in read(page):gmatch(marks[page]) do
            count = count + 1
            local ok, message = pcall(functions[count])
            assert.is_false(ok)
            -- '...' matches any text, train.lua the program
            local pattern = quoted:gsub('%p', '%%%0'):gsub('%%%.%%%.%%%.', '.*')
            assert.matches(pattern:gsub('train%%%.lua%%:%d+', '[^\n]*'), message)
         end
         assert.equal(#functions, count)
      end)
   end

   -- Returns the literals in the source files that raise messages between ranks, each as a list of
   -- the constant parts around its format specifiers.
   local function formats()
      local list = {}
      local pipe = io.popen('ls csrc/distributed/*.c; find lua/dpt/nn/DistributedDataParallel*'
         .. ' lua/dpt/parallel lua/dpt/distributed lua/dpt/optim/Zero* -name "*.lua"')
      for path in pipe:lines() do
         local text = read(path):gsub('["\']%s*%.%.%s*["\']', ''):gsub('"%s+"', '')
         for _, quote in ipairs{'"', "'"} do
            for literal in text:gmatch(quote .. '([^' .. quote .. '\n]+)' .. quote) do
               local parts = {}
               for part in literal:gsub('%%[%d.*]*l*%a', '\n'):gmatch '[^\n]+' do
                  parts[#parts + 1] = part
               end
               list[#list + 1] = parts
            end
         end
      end
      pipe:close()
      return list
   end

   -- Returns true if a message consists of the parts in their order; '...' matches any text.
   local function has(message, parts)
      local place, length = 1, 0
      for _, part in ipairs(parts) do
         local _, last = message:find(part, place, true)
         if last then
            length = length + #part
         else
            _, last = message:find('...', place, true)
            if not last then return false end
         end
         place = last + 1
      end
      return length > 0.4 * #message
   end

   it('are in the sources, in docs/distributed-errors.md', function()
      local known, count = formats(), 0
      local inTable
      for line in read('docs/distributed-errors.md'):gmatch '[^\n]+' do
         inTable = line:find '^| message |' or inTable and line:find '^|'
         local message = inTable and line:match '^| `([^`]+)` |'
         if message then
            local found = false
            for _, parts in ipairs(known) do found = found or has(message, parts) end
            assert(found, message)
            count = count + 1
         end
      end
      assert.is_true(count > 20)
   end)
end)

describe('Links', function()
   -- Returns the anchors that GitHub creates for the headings of a page.
   local function anchors(page)
      local found = {}
      for heading in ('\n' .. pages.text(page)):gmatch '\n#+ ([^\n]+)' do
         found[heading:lower():gsub('[^%w%s_-]', ''):gsub('%s', '-')] = true
      end
      return found
   end

   it('lead to files, and to headings of pages', function()
      local count = 0
      for _, page in ipairs(pages.list) do
         for target in pages.text(page):gmatch '%[[^%]\n]+%]%(([^)%s]+)%)' do
            local path, anchor = target:match '^([^#]*)#?(.*)$'
            local file = path == '' and page or (page:match '^.*/' or '') .. path
            if not target:find '^https?:' then
               count = count + 1
               assert(dpt.paths.filep(file) or dpt.paths.dirp(file), page .. ': ' .. target)
               assert(anchor == '' or anchors(file)[anchor], page .. ': ' .. target)
            end
         end
      end
      assert.is_true(count > 60)
   end)

   it("define the pages' names", function()
      for _, page in ipairs(pages.list) do
         local text = pages.text(page):gsub('%[[^%]]*%]%([^)]*%)', '')
         local name = text:match 'docs/[%w-]+%.md'
         assert(changes[page] or not name, ('%s names %s without a link'):format(page, name))
      end
   end)
end)

describe('Names that are not globals', function()
   local modules = {dpt = dpt, comm = dpt.comm, distributed = dpt.distributed, nccl = dpt.nccl,
      profiler = dpt.profiler, threads = require 'threads', tds = require 'tds'}

   -- Returns true if a text requires the module; `require 'dpt'` alone does not define dpt.
   local function introduces(text, name)
      if name == 'dpt' then return text:find("local dpt = require 'dpt'", 1, true) end
      return text:find("require%(?[ ']+d?p?t?%.?" .. name .. "'")
   end

   it('are introduced before a page uses them', function()
      local count = 0
      for _, page in ipairs(pages.list) do
         local text = changes[page] and '' or read(page)
         for place, span, name, field in text:gmatch '()`((%l+)%.([%w_]+)[^`\n]*)`' do
            local module = modules[name]
            -- skip `dpt.distributed`, which require finds, and `comm.cu`, a file
            if module and not (name == 'dpt' and pcall(require, span))
               and (name == 'dpt' or module[field] ~= nil) then
               count = count + 1
               assert(introduces(text:sub(1, place), name), page .. ': ' .. span)
               assert(module[field] ~= nil, page .. ': ' .. span)
            end
         end
      end
      assert.is_true(count > 15)
   end)
end)

describe('Tables', function()
   -- Returns the number of columns of a row; `\|` is a character in a cell.
   local function columns(row)
      assert(row:find '^|.*|%s*$', row)
      return select(2, row:gsub('\\|', ''):gsub('|', '')) - 1
   end

   it('have a header, a separator and as many columns in each row', function()
      local count = 0
      for _, page in ipairs(pages.list) do
         local header, row = nil, 0
         for line in pages.text(page):gmatch '(.-)\n' do
            if not line:find '^|' then
               assert(row ~= 1, page .. ': ' .. line)
               row = 0
            else
               row = row + 1
               if row == 1 then header, count = line, count + 1 end
               if row == 2 then assert(line:find '^[|%s:-]+$', page .. ': ' .. header) end
               assert.equal(columns(header), columns(line), page .. ': ' .. line)
            end
         end
      end
      assert.is_true(count > 50)
   end)
end)
