--- image.files: reads and writes pictures in files and in memory: JPEG, PNG, PPM and PGM.
--
-- Invariant: reading detects the format by the first bytes, writing by the extension. Pictures are
-- planes x rows x columns, with bytes from 0 to 255, or floats or doubles from 0 to 1. An error
-- names the file.
local binding = require 'image.ffi'
local ppm = require 'image.ppm'
local output = require 'dpt.output'
local ffi, C, torch, fail, type = binding.ffi, binding.C, binding.torch, binding.fail, binding.type

local files = {}

local TYPES = {byte = 'torch.ByteTensor', float = 'torch.FloatTensor',
   double = 'torch.DoubleTensor'}
local codecs = ' ' .. ffi.string(C.dpt_image_codecs())

--- Raises if the library was built without a codec.
local function need(fn, codec)
   if codecs:find(' ' .. codec .. ' ', 1, true) then return end
   fail('%s: image was built without support of %s; install lib%s and rebuild (scripts/setup,'
      .. ' scripts/build)', fn, codec:upper(), codec)
end

--- Returns the format that the first bytes identify; nil if they identify none.
local function formatOf(bytes)
   if bytes:sub(1, 3) == '\255\216\255' then return 'jpeg' end
   if bytes:sub(1, 4) == '\137PNG' then return 'png' end
   if bytes:find '^P[2356]%s' then return 'ppm' end
end

local function readFile(fn, name)
   if type(name) ~= 'string' then
      fail("%s: argument 'filename' is %s, wanted a string", fn, binding.describe(name))
   end
   local file, why = io.open(name, 'rb')
   local bytes = file and file:read '*a'
   if file then file:close() end
   if not bytes then fail('%s: %s', fn, why or name .. ': not a file') end
   return bytes
end

local function head(fn, what, bytes, wanted)
   local format = formatOf(bytes)
   if not format or wanted and format ~= wanted then
      fail('%s: %s is not a %s file: it begins with %q', fn, what,
         wanted and wanted:upper() or 'JPEG, PNG, PPM or PGM', bytes:sub(1, 4))
   end
   if format == 'ppm' then return format, ppm.head(fn .. ': ' .. what, bytes) end
   need(fn, format)
   local about = ffi.new 'int64_t[4]'
   binding.check(fn .. ': ' .. what, C.dpt_image_head(bytes, #bytes, about))
   return format, tonumber(about[0]), tonumber(about[1]), tonumber(about[2])
end

--- Converts a picture to `depth` planes, 1 or 3; nil keeps the planes.
local function toDepth(fn, what, picture, depth)
   local planes = picture:size(1)
   if depth == nil or depth == planes or depth ~= 1 and depth ~= 3 then return picture end
   if depth == 3 then
      if planes == 4 then return picture:narrow(1, 1, 3) end
      if planes <= 2 then
         return picture:narrow(1, 1, 1):expand(3, picture:size(2), picture:size(3)):clone()
      end
   elseif planes == 2 then
      return picture:narrow(1, 1, 1)
   elseif planes >= 3 then
      -- as in Torch7, a colour picture loaded as one plane has two dimensions
      return require('image.colour').rgb2y(picture:narrow(1, 1, 3))[1]
   end
   fail('%s: %s has %d planes, wanted %d', fn, what, planes, depth)
end

--- Decodes bytes to a picture. @param wanted the only accepted format; nil: any
local function decode(fn, what, bytes, depth, kind, wanted)
   local typename = kind == nil and torch.getdefaulttensortype() or TYPES[kind]
   if not typename or not (typename == TYPES.byte or typename == TYPES.float
      or typename == TYPES.double) then
      if kind ~= nil then binding.word(fn, 'type', kind, TYPES) end
      typename = TYPES.float
   end
   local format, planes, rows, columns = head(fn, what, bytes, wanted)
   local picture = torch.factory(typename)():resize(planes, rows, columns)
   if format == 'ppm' then
      ppm.decode(fn .. ': ' .. what, bytes, picture)
   else
      binding.check(fn .. ': ' .. what,
         C.dpt_image_decode(bytes, #bytes, binding.struct(picture)))
   end
   return toDepth(fn, what, picture, depth)
end

local function decodeTensor(fn, tensor, depth, kind, wanted)
   if torch.type(tensor) ~= 'torch.ByteTensor' or tensor:nElement() == 0 then
      fail("%s: argument 'tensor' is %s, wanted a ByteTensor with a file's bytes", fn,
         binding.describe(tensor))
   end
   tensor = tensor:contiguous()
   return decode(fn, 'the tensor', ffi.string(tensor:data(), tensor:nElement()), depth, kind,
      wanted)
end

--- image.load(filename [, depth] [, type]): reads a picture from a file.
-- @function image.load
-- @as image
-- @param filename string: path of the file
-- @param depth? number: planes of the result, 1 or 3 (as in the file)
-- @param type? string: 'byte', 'float' or 'double' (that of torch.Tensor)
-- @return a tensor: planes x H x W; H x W if depth is 1 and the file is in colour
-- @usage local image, name = require 'image', os.tmpname() .. '.png'
--    image.save(name, torch.ones(1, 2, 3))
--    local size = image.load(name):size()
--    os.remove(name)
--    return size --> 1x2x3
function files.load(name, depth, kind)
   return decode('image.load', tostring(name), readFile('image.load', name), depth, kind)
end

--- image.decompress(tensor [, depth] [, type]): decodes the bytes of a file in a ByteTensor.
-- @function image.decompress
-- @as image
-- @param tensor ByteTensor: the bytes of a file
-- @param depth? number: planes of the result, 1 or 3 (as in the file)
-- @param type? string: 'byte', 'float' or 'double' (that of torch.Tensor)
-- @return a tensor: planes x H x W
-- @usage local image = require 'image'
--    return image.decompress(image.compressPNG(torch.zeros(3, 2, 2))):size() --> 3x2x2
function files.decompress(tensor, depth, kind)
   return decodeTensor('image.decompress', tensor, depth, kind)
end

--- image.getSize(filename): returns the numbers of planes, rows and columns as a LongTensor.
-- @function image.getSize
-- @as image
-- @also image.getJPGsize()
-- @also image.getPNGsize()
-- @also image.getPPMsize()
-- @param filename string: path of the file
-- @return a LongTensor
-- @usage local image, name = require 'image', os.tmpname() .. '.ppm'
--    image.savePPM(name, torch.ones(3, 4, 5))
--    local size = image.getSize(name)
--    os.remove(name)
--    return size --> [3 4 5]
function files.getSize(name)
   local _, planes, rows, columns = head('image.getSize', tostring(name),
      readFile('image.getSize', name))
   return torch.LongTensor{planes, rows, columns}
end

--- Converts a picture to a contiguous ByteTensor, planes x rows x columns. Floats are clamped to 0
-- to 1, and multiplied by 255.
local function toBytes(fn, tensor)
   if torch.isTensor(tensor) and torch.type(tensor) ~= 'torch.ByteTensor' then
      tensor = tensor:double() -- from any type, on the host or a device
   end
   binding.picture(fn, 'tensor', tensor)
   if torch.type(tensor) ~= 'torch.ByteTensor' then
      tensor = torch.clamp(tensor, 0, 1):mul(255):round():byte()
   end
   tensor = tensor:contiguous()
   return tensor:dim() == 2 and tensor:view(1, tensor:size(1), tensor:size(2)) or tensor
end

local function quality(fn, q)
   q = binding.number(fn, 'quality', q or 75)
   if q < 0 or q > 100 then fail("%s: argument 'quality' is %g, wanted 0 to 100", fn, q) end
   return q
end

--- Each format's encoder: function(fn, bytes, quality) that returns a string.
local encoders = {
   jpeg = function(fn, tensor, q)
      local bytes, n = ffi.new 'char *[1]', ffi.new 'int64_t[1]'
      binding.check(fn, C.dpt_image_jpeg(binding.struct(tensor), quality(fn, q), bytes, n))
      local text = ffi.string(bytes[0], n[0])
      C.dpt_image_free(bytes[0])
      return text
   end,
   png = function(fn, tensor)
      local bytes, n = ffi.new 'char *[1]', ffi.new 'int64_t[1]'
      binding.check(fn, C.dpt_image_png(binding.struct(tensor), bytes, n))
      local text = ffi.string(bytes[0], n[0])
      C.dpt_image_free(bytes[0])
      return text
   end,
   ppm = ppm.encode,
}

local function encode(fn, format, tensor, q)
   if format ~= 'ppm' then need(fn, format) end
   return encoders[format](fn, toBytes(fn, tensor), q)
end

local function write(fn, name, format, tensor, q)
   if type(name) ~= 'string' then
      fail("%s: argument 'filename' is %s, wanted a string", fn, binding.describe(name))
   end
   local bytes = encode(fn, format, tensor, q)
   output.replace(fn, name, bytes)
end

local FORMATS = {jpg = 'jpeg', jpeg = 'jpeg', png = 'png', ppm = 'ppm', pgm = 'ppm'}

--- image.save(filename, tensor): writes a JPEG, PNG, PPM or PGM file, chosen by the extension.
-- @function image.save
-- @as image
-- @param filename string: a path that ends in .jpg, .jpeg, .png, .ppm or .pgm
-- @param tensor tensor: H x W or planes x H x W
-- @return nothing
-- @usage local image, name = require 'image', os.tmpname() .. '.pgm'
--    image.save(name, torch.zeros(2, 2))
--    return paths.filep(name), os.remove(name) --> true, true
function files.save(name, tensor)
   local ending = type(name) == 'string' and name:match '%.(%a+)$'
   local format = ending and FORMATS[ending:lower()]
   if not format then
      fail("image.save: argument 'filename' is %s, wanted a name that ends in .jpg, .png, .ppm or"
         .. ' .pgm', tostring(name))
   end
   write('image.save', name, format, tensor)
end

local function toTensor(bytes)
   return torch.ByteTensor(torch.ByteStorage():string(bytes))
end

for name, format in pairs{JPG = 'jpeg', PNG = 'png', PPM = 'ppm'} do
   --- image.loadJPG(filename [, depth] [, type]), saveJPG(filename, tensor [, quality]),
   -- getJPGsize(filename), and the same for PNG and PPM: load, save and getSize for one format.
   files['load' .. name] = function(file, depth, kind)
      local fn = 'image.load' .. name
      return decode(fn, tostring(file), readFile(fn, file), depth, kind, format)
   end
   files['save' .. name] = function(file, tensor, q)
      write('image.save' .. name, file, format, tensor, q)
   end
   files['get' .. name .. 'size'] = function(file)
      local fn = 'image.get' .. name .. 'size'
      return select(2, head(fn, tostring(file), readFile(fn, file), format))
   end
   if format ~= 'ppm' then
      --- image.decompressJPG(tensor [, depth] [, type]), compressJPG(tensor [, quality]):
      -- convert from and to a ByteTensor with the bytes of a file; the same for PNG.
      files['decompress' .. name] = function(tensor, depth, kind)
         return decodeTensor('image.decompress' .. name, tensor, depth, kind, format)
      end
      files['compress' .. name] = function(tensor, q)
         return toTensor(encode('image.compress' .. name, format, tensor, q))
      end
   end
end
files.savePGM = files.savePPM

--- image.is_supported(extension): returns true if files with that extension are read and written.
-- @function image.is_supported
-- @as image
-- @param ending string: an extension, such as 'png'
-- @return a boolean
-- @usage require('image').is_supported 'ppm', require('image').is_supported 'gif'
--    --> true, false
function files.is_supported(ending)
   return type(ending) == 'string' and FORMATS[ending:lower()] ~= nil
end

--- Tags shared by the reference entries of image.
-- @pattern image
-- @within image
-- @follows Torch7's package image
-- @raise if an argument has the wrong type, size or value; if a file cannot be read or written: the
--    error names the file, and an existing file is unchanged

--- Loads a picture of the format in the function's name, whatever the file's extension.
-- @function image.loadPNG
-- @as image
-- @also image.loadJPG()
-- @also image.loadPPM()
-- @param filename string: path of the file
-- @param depth? number: planes of the result, 1 or 3 (as in the file)
-- @param type? string: 'byte', 'float' or 'double' (that of torch.Tensor)
-- @return a tensor: planes x H x W
-- @usage local image, name = require 'image', os.tmpname()
--    image.savePNG(name, torch.ones(1, 1, 2))
--    local x = image.loadPNG(name)
--    os.remove(name)
--    return x --> [1 1]

--- Saves a picture in the format in the function's name, whatever the file's extension.
-- @function image.savePNG
-- @as image
-- @also image.saveJPG()
-- @also image.savePPM()
-- @also image.savePGM()
-- @param filename string: path of the file
-- @param tensor tensor: H x W or planes x H x W
-- @param quality? number: quality of a JPEG, 0 to 100 (75)
-- @return nothing
-- @usage local image, name = require 'image', os.tmpname()
--    image.savePPM(name, torch.ones(3, 1, 1))
--    local head = io.open(name):read(2)
--    os.remove(name)
--    return head --> P6

--- Encodes a picture as a file of the format in the function's name; returns the bytes.
-- @function image.compressPNG
-- @as image
-- @also image.compressJPG()
-- @param tensor tensor: H x W or planes x H x W
-- @param quality? number: quality of a JPEG, 0 to 100 (75)
-- @return a ByteTensor
-- @usage require('image').compressPNG(torch.ones(2, 2))[2] --> 80

--- Decodes a picture from the bytes of a file of the format in the function's name.
-- @function image.decompressPNG
-- @as image
-- @also image.decompressJPG()
-- @param tensor ByteTensor: the bytes
-- @param depth? number: planes of the result, 1 or 3 (as in the file)
-- @param type? string: 'byte', 'float' or 'double' (that of torch.Tensor)
-- @return a tensor: planes x H x W
-- @usage local image = require 'image'
--    return image.decompressJPG(image.compressJPG(torch.ones(3, 8, 8)), 3, 'byte')
--       :min() --> 255

return files
