-- tokens: converts texts to token numbers and back, by bytes or by GPT-2's byte pair encoding.
--
--   local tokens = dofile 'examples/tokens.lua'
--   local bpe = tokens.bpe('vocab.json', 'merges.txt') -- or tokens.bytes()
--   bpe:encode 'Hello world'                           -- LongTensor: GPT-2's numbers, plus 1
--   bpe:decode(bpe:encode 'Hello world')               -- 'Hello world'
--   bpe.size                                           -- number of tokens: 50257
--
-- Invariant: numbers begin with 1, as indices of nn.LookupTable do; decode(encode(text)) == text
-- for any bytes. A byte that is not part of valid UTF-8 is encoded as itself; merges do not join it
-- with valid text. Special tokens have no meaning here: '<|endoftext|>' is encoded as seven tokens.
-- Needs the library PCRE2 (Debian: libpcre2-8-0) for bpe.
require 'dpt'
local ffi = require 'ffi'
local json = require 'dpt.profiler.json'

local tokens = {}

local function fail(format, ...) error('tokens: ' .. format:format(...), 0) end

local function read(path)
   local file, why = io.open(path, 'rb')
   if not file then fail('cannot read %s', why) end
   local text = file:read '*a'
   file:close()
   return text
end

-- Returns the tokens with the given numbers, concatenated.
local function decode(self, numbers)
   if torch.isTensor(numbers) then numbers = numbers:totable() end
   local parts = {}
   for i, number in ipairs(numbers) do
      parts[i] = self.texts[number] or fail('got token %s, wanted 1 to %d', number, self.size)
   end
   return table.concat(parts)
end

--- Returns the tokenizer whose tokens are the 256 bytes; the number of a byte is its value plus 1.
function tokens.bytes()
   local self = {size = 256, texts = {}, decode = decode}
   for byte = 0, 255 do self.texts[byte + 1] = string.char(byte) end
   function self.encode(_, text)
      local bytes = torch.ByteTensor(#text)
      if #text > 0 then ffi.copy(bytes:data(), text, #text) end
      return bytes:long():add(1)
   end
   return self
end

-- Pieces of a text, which merges do not cross --------------------------------------------------

ffi.cdef [[
void *pcre2_compile_8(const char *, size_t, uint32_t, int *, size_t *, void *);
int pcre2_jit_compile_8(void *, uint32_t);
void *pcre2_match_data_create_8(uint32_t, void *);
int pcre2_match_8(const void *, const char *, size_t, size_t, uint32_t, void *, void *);
size_t *pcre2_get_ovector_pointer_8(void *);
size_t pcre2_get_startchar_8(void *);
void pcre2_code_free_8(void *);
void pcre2_match_data_free_8(void *);
]]
local UTF, NO_UTF_CHECK, JIT = 0x80000, 0x40000000, 1
local FIRST_UTF_ERROR, LAST_UTF_ERROR = -3, -23

-- GPT-2's pattern. Unicode's white space is listed, since \s of PCRE2 has U+180E, too.
local SPACE = [[\t-\r \x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}]]
   .. [[\x{3000}]]
local PATTERN = [['(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^S\p{L}\p{N}]+|[S]+(?![^S])|[S]+]]

-- Returns a function (text, f) that calls f for each piece of the text.
local function splitter()
   local found, pcre = pcall(ffi.load, 'libpcre2-8.so.0')
   if not found then found, pcre = pcall(ffi.load, 'pcre2-8') end
   if not found then fail('cannot load the library PCRE2: %s; install libpcre2-8-0', pcre) end
   local pattern = PATTERN:gsub('S', SPACE)
   local code = pcre.pcre2_compile_8(pattern, #pattern, UTF, ffi.new 'int[1]',
      ffi.new 'size_t[1]', nil)
   code = ffi.gc(code, pcre.pcre2_code_free_8)
   pcre.pcre2_jit_compile_8(code, JIT) -- only faster
   local match = ffi.gc(pcre.pcre2_match_data_create_8(1, nil), pcre.pcre2_match_data_free_8)
   local range = pcre.pcre2_get_ovector_pointer_8(match)

   -- Splits the valid text of `length` bytes at `from`; returns the position of its end.
   local function splitValid(text, from, length, f)
      local at, subject = 0, ffi.cast('const char *', text) + from
      while at < length do
         local status = pcre.pcre2_match_8(code, subject, length, at, NO_UTF_CHECK, match, nil)
         if status < 0 then fail('PCRE2 failed with error %d at byte %d', status, from + at) end
         local stop = tonumber(range[1])
         f(text:sub(from + at + 1, from + stop))
         at = stop
      end
      return from + length
   end

   return function(text, f)
      local at = 0
      while at < #text do
         local rest = #text - at
         local status = pcre.pcre2_match_8(code, ffi.cast('const char *', text) + at, rest, 0, 0,
            match, nil)
         local isInvalid = status <= FIRST_UTF_ERROR and status >= LAST_UTF_ERROR
         local valid = isInvalid and tonumber(pcre.pcre2_get_startchar_8(match)) or rest
         at = splitValid(text, at, valid, f)
         if isInvalid then
            f(text:sub(at + 1, at + 1))
            at = at + 1
         end
      end
   end
end

-- Byte pair encoding -----------------------------------------------------------------------------

-- Returns the bytes of the characters that stand for them in GPT-2's files: by character, and the
-- characters by byte.
local function alphabet()
   local bytes, characters, others = {}, {}, 0
   for byte = 0, 255 do
      local code = byte
      if byte < 33 or byte > 126 and byte < 161 or byte == 173 then
         code, others = 256 + others, others + 1
      end
      local character = code < 128 and string.char(code)
         or string.char(192 + math.floor(code / 64), 128 + code % 64)
      bytes[character], characters[byte] = string.char(byte), character
   end
   return bytes, characters
end

-- A heap of numbers, smallest first.
local function push(heap, value)
   local i = #heap + 1
   while i > 1 do
      local parent = math.floor(i / 2)
      if heap[parent] <= value then break end
      heap[i], i = heap[parent], parent
   end
   heap[i] = value
end

local function pop(heap)
   local top, value, count = heap[1], table.remove(heap), #heap
   if count == 0 then return top end
   local i = 1
   while 2 * i <= count do
      local child = 2 * i
      if child < count and heap[child + 1] < heap[child] then child = child + 1 end
      if value <= heap[child] then break end
      heap[i], i = heap[child], child
   end
   heap[i] = value
   return top
end

local SPAN = 2^32 -- more than the positions in a piece, and than the numbers of tokens

-- Returns the numbers of a piece: merges the pair of neighbours with the lowest rank, the first of
-- equal ones, until no pair has a rank.
local function merge(self, piece)
   local symbols, nexts, previous, heap = {}, {}, {}, {}
   local ranks, results = self.ranks, self.results
   local function offer(i)
      local j = nexts[i]
      local rank = j and ranks[symbols[i] * SPAN + symbols[j]]
      if rank then push(heap, rank * SPAN + i) end
   end
   for i = 1, #piece do
      symbols[i], nexts[i], previous[i] = self.byteNumbers[piece:byte(i)], i + 1, i - 1
   end
   nexts[#piece] = nil
   for i = 1, #piece - 1 do offer(i) end
   while heap[1] do
      local value = pop(heap)
      local rank, i = math.floor(value / SPAN), value % SPAN
      local j = symbols[i] and nexts[i]
      if j and ranks[symbols[i] * SPAN + symbols[j]] == rank then -- else merged in the meantime
         symbols[i], symbols[j], nexts[i] = results[rank], nil, nexts[j]
         if nexts[i] then previous[nexts[i]] = i end
         offer(i)
         if previous[i] > 0 then offer(previous[i]) end
      end
   end
   local numbers, i = {}, 1
   while i do
      numbers[#numbers + 1], i = symbols[i], nexts[i]
   end
   return numbers
end

local LONGEST = 64 -- bytes of a piece whose numbers are remembered

local function encode(self, text)
   local list = {}
   self.split(text, function(piece)
      local numbers = self.known[piece] or merge(self, piece)
      if #piece <= LONGEST then self.known[piece] = numbers end
      for i = 1, #numbers do list[#list + 1] = numbers[i] end
   end)
   return torch.LongTensor(list)
end

-- Returns the number of each token in a file vocab.json, and their count.
local function readVocabulary(path)
   local numbers, seen, count, highest = {}, {}, 0, -1
   local vocabulary = json.decode(read(path), path)
   for token, number in pairs(type(vocabulary) == 'table' and vocabulary or {}) do
      if type(token) ~= 'string' or type(number) ~= 'number' or number % 1 ~= 0 or number < 0
         or seen[number] then
         fail('%s: got %s for token %s, wanted a different whole number from 0 for each token',
            path, tostring(number), tostring(token))
      end
      numbers[token], seen[number] = number + 1, true
      count, highest = count + 1, math.max(highest, number)
   end
   if highest + 1 ~= count or count == 0 then
      fail('%s: got %d tokens with numbers up to %d, wanted all numbers from 0', path, count,
         highest)
   end
   return numbers, count
end

--- Returns the tokenizer of GPT-2's files vocab.json and merges.txt.
function tokens.bpe(vocabPath, mergesPath)
   local self = {texts = {}, ranks = {}, results = {}, byteNumbers = {}, known = {},
      split = splitter(), encode = encode, decode = decode}
   local numbers
   numbers, self.size = readVocabulary(vocabPath)
   local bytes, characters = alphabet()
   for token, number in pairs(numbers) do
      self.texts[number] = token:gsub('[%z\1-\127\194-\244][\128-\191]*', bytes)
   end
   for byte, character in pairs(characters) do
      self.byteNumbers[byte] = numbers[character]
         or fail("%s: there is no token '%s', wanted one for each byte", vocabPath, character)
   end
   local rank, at = 0, 0
   for line in read(mergesPath):gmatch '([^\r\n]*)\r?\n?' do
      at = at + 1
      if line ~= '' and not line:find '^#version' then
         local first, second = line:match '^([^ ]+) ([^ ]+)$'
         local a, b, result = numbers[first], numbers[second], first and numbers[first .. second]
         if not (a and b and result) then
            fail("%s:%d: got '%s', wanted two tokens of %s that form another one", mergesPath, at,
               line, vocabPath)
         end
         rank = rank + 1
         self.ranks[a * SPAN + b], self.results[rank] = rank, result
      end
   end
   return self
end

return tokens
