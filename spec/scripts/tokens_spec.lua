-- examples/tokens.lua: bytes, and GPT-2's byte pair encoding with a small vocabulary; the numbers
-- are those of Hugging Face's tokenizers for the same files.
local torch = require('dpt').torch
local tokens = dofile 'examples/tokens.lua'

-- Bytes in the order of GPT-2's vocabulary, as the characters that stand for them there.
local function characters()
   local list = {}
   local function add(first, last)
      for code = first, last do
         list[#list + 1] = code < 128 and string.char(code)
            or string.char(192 + math.floor(code / 64), 128 + code % 64)
      end
   end
   add(33, 126)
   add(161, 172)
   add(174, 323)
   return list
end

local MERGES = {'Ġ t', 'h e', 'Ġt he', 'l l', "' ll", 'o n', 'a a', 'aa aa', 'Ġ Ġ',
   'ĠĠ ĠĠ', '1 2', 'Ã ©', 'Ð ¿', 'ð Ł', 'ðŁ ĺ', 'Ġ é', 'Ġ Ð¿', 'Ċ Ċ', 'ä ½',
   'ä½ ł', '! !', '# #', 'l o', "' v", "'v e", 'Ġ 1', '! á', '! ã', 'd d', 'd c', 'c d',
   'c c', 'c dd', 'cd c', 'dd c', 'dc cd'}

local function write(path, text)
   local file = assert(io.open(path, 'w'))
   file:write(text)
   file:close()
end

-- Calls f with the paths of vocab.json and merges.txt.
local function withFiles(vocabulary, merges, f)
   local vocab, merge = os.tmpname(), os.tmpname()
   write(vocab, vocabulary)
   write(merge, merges)
   local results = {pcall(f, vocab, merge)}
   os.remove(vocab)
   os.remove(merge)
   if not results[1] then error(results[2], 0) end
   return unpack(results, 2)
end

-- Returns the text of vocab.json, without the token numbered `without`.
local function vocabulary(without)
   local list = characters()
   for _, merge in ipairs(MERGES) do list[#list + 1] = merge:gsub(' ', '') .. '' end
   list[#list + 1] = '<|endoftext|>'
   local parts = {}
   for i, token in ipairs(list) do
      if i - 1 ~= without then
         local text = token:gsub('["\\]', '\\%0'):gsub('Ġ', '\\u0120')
         parts[#parts + 1] = ('"%s": %d'):format(text, i - 1)
      end
   end
   return '{' .. table.concat(parts, ', ') .. '}'
end

local MERGES_TEXT = '#version: 0.2\n' .. table.concat(MERGES, '\n') .. '\n'
local function small() return withFiles(vocabulary(), MERGES_TEXT, tokens.bpe) end

-- By text, the numbers counted from 0.
local RECORDED = {
   ['ccddccddccdddcccdccccdcddddddcdcccdcdddddddcdcdcdccddccddcdcdccdddcccd'] = {287, 284, 287, 284,
      287, 284, 285, 287, 285, 287, 66, 285, 284, 284, 290, 285, 287, 285, 284, 284, 284, 285, 285,
      285, 285, 288, 287, 290, 285, 285, 288, 285, 66, 286},
   ['a 12 1 we\'ve !\225\160\142 !\227\128\128'] = {64, 220, 266, 281, 220, 86, 68, 280, 220, 282,
      254, 236, 220, 0, 159, 222, 222},
   ['the theme, then they\'ll'] = {83, 257, 258, 76, 68, 11, 258, 77, 258, 88, 260},
   ['I\'LL we\'ll \'ll can\'t'] = {40, 6, 43, 43, 220, 86, 68, 260, 220, 6, 259, 220, 66, 64, 77, 6,
      83},
   ['a1234 12é'] = {64, 266, 18, 19, 220, 266, 267},
   ['  two   spaces  \n\n end \t '] = {220, 256, 86, 78, 264, 220, 82, 79, 64, 66, 68, 82, 264, 273,
      220, 68, 77, 67, 220, 197, 220},
   ['aaaaaaa aaaa'] = {263, 262, 64, 220, 263},
   [' é Привет по п'] = {220, 267, 220, 140, 253, 141, 222, 140, 116, 140, 110, 140, 113,
      141, 224, 272, 140, 122, 272},
   ['😀👍🏽 你好'] = {270, 222, 269, 239, 235, 269, 237, 121, 220, 275, 161, 98, 121},
   [' x\227\128\128\227\128\128y\225\160\142z\194\160w'] = {220, 87, 159, 222, 222, 159, 222, 222,
      88, 157, 254, 236, 89, 126, 254, 86},
   ['##!!! ## !!'] = {277, 276, 0, 220, 277, 220, 276},
   ['don\'t _x_ ½²'] = {67, 261, 6, 83, 220, 62, 87, 62, 220, 126, 121, 126, 110},
   ['hello\r\n\r\nworld    '] = {257, 259, 78, 201, 198, 201, 198, 86, 78, 81, 75, 67, 265},
   ['\000\226\128\139\239\187\191'] = {188, 158, 222, 233, 171, 119, 123},
}

describe('examples/tokens.lua', function()
   it('numbers bytes from 1', function()
      local bytes = tokens.bytes()
      assert.equal(256, bytes.size)
      assert.same({1, 98, 256, 11}, bytes:encode('\0a\255\n'):totable())
      assert.equal('\0a\255\n', bytes:decode(bytes:encode '\0a\255\n'))
      assert.equal(0, bytes:encode(''):nElement())
   end)

   it("encodes texts as Hugging Face's tokenizers, and decodes them", function()
      local bpe = small()
      assert.equal(293, bpe.size)
      for text, numbers in pairs(RECORDED) do
         local got = bpe:encode(text)
         assert.equal('torch.LongTensor', got:type())
         assert.same(numbers, got:add(-1):totable(), text)
         assert.equal(text, bpe:decode(got:add(1)))
      end
      assert.equal(0, bpe:encode(''):nElement())
      assert.equal('<|endoftext|>', bpe:decode{293})
   end)

   it('keeps bytes that are not UTF-8, and encodes valid parts as without them', function()
      local bpe = small()
      local e = bpe:encode('é'):totable()
      for _, bad in ipairs{'\195', '\169', '\255', '\237\160\128', '\192\175',
         '\244\144\128\128'} do
         local numbers = bpe:encode('é' .. bad .. 'é'):totable()
         assert.same(e, {unpack(numbers, 1, #e)})
         assert.same(e, {unpack(numbers, #numbers - #e + 1)})
         assert.equal(#bad + 2 * #e, #numbers)
         assert.equal('é' .. bad .. 'é', bpe:decode(numbers))
      end
      torch.manualSeed(1)
      for _ = 1, 50 do
         local text = {}
         for i = 1, 200 do text[i] = string.char(torch.random(0, 255)) end
         text = table.concat(text)
         assert.equal(text, bpe:decode(bpe:encode(text)))
      end
   end)

   it('takes time in proportion to the length of a piece', function()
      jit.off() -- compiled code calls no hook
      finally(jit.on)
      local bpe = withFiles(vocabulary(), MERGES_TEXT, dofile('examples/tokens.lua').bpe)
      local function count(length)
         local steps = 0
         debug.sethook(function() steps = steps + 1 end, '', 1000)
         bpe:encode(('alo'):rep(length / 3))
         debug.sethook()
         return steps
      end
      local short = count(3000)
      assert.is_true(short > 20 and count(48000) < 40 * short)
   end)

   it('reports files that do not fit', function()
      local function wrong(message, vocab, merges)
         local ok, got = pcall(withFiles, vocab or vocabulary(), merges or MERGES_TEXT, tokens.bpe)
         assert.is_false(ok)
         assert.is_truthy(got:find(message), got)
      end
      wrong('wanted JSON, got a syntax error', '{"a": 1')
      wrong('got 0 tokens', '[]')
      wrong('got 3 for token %l, wanted a different whole number', '{"b": 3, "c": 3}')
      wrong("there is no token 'Ā', wanted one for each byte",
         (vocabulary():gsub('"Ā"', '"x y"')))
      wrong('got 292 tokens with numbers up to 292, wanted all', vocabulary(5))
      wrong(":3: got 'x q', wanted two tokens of .* that form another one", nil,
         '#version: 0.2\nh e\nx q\n')
      wrong(":2: got 'h e l', wanted two tokens", nil, 'h e\nh e l\n')
      assert.error_matches(function() tokens.bpe('/nosuchfile', '/nosuchfile') end,
         'cannot read /nosuchfile')
      assert.error_matches(function() tokens.bytes():decode{257} end,
         'got token 257, wanted 1 to 256')
   end)
end)
