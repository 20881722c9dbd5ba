--- calls: checks the order of C files by the symbols of other files that they use.
--
-- Invariant: a use is a symbol that one file's object leaves undefined and another one's defines: a
-- function that is called or whose address is taken, or a variable. Calls through pointers are not
-- detected. Files are named without csrc/ and .c.
local calls = {}

local function folderOf(file) return file:match '^[^/]*' end
local function nameOf(file) return file:match '/(.*)' end

--- Returns the uses between files.
-- @param lines table: what `nm -A -g -P` prints for objects below a folder csrc
-- @return a list of {from = file, to = file, symbol = name}
function calls.uses(lines)
   local definedIn, wanted, uses = {}, {}, {}
   for _, line in ipairs(lines) do
      local file, symbol, kind = line:match '.*/csrc/(.*)%.c%.o: (%S+) (%a)'
      if file then
         if kind:find '[Uvw]' then
            wanted[#wanted + 1] = {from = file, symbol = symbol}
         else
            definedIn[symbol] = file
         end
      end
   end
   for _, use in ipairs(wanted) do
      use.to = definedIn[use.symbol]
      if use.to and use.to ~= use.from then uses[#uses + 1] = use end
   end
   return uses
end

--- Returns the files that a file uses, directly or indirectly.
-- @param usedBy table: usedBy[FILE][OTHER] is a symbol of OTHER that FILE uses
local function reachedFrom(file, usedBy)
   local reached = {}
   local function follow(from)
      for other in pairs(usedBy[from] or {}) do
         if not reached[other] then
            reached[other] = true
            follow(other)
         end
      end
   end
   follow(file)
   return reached
end

--- Returns the cycles inside folders: largest sets of files each of which reaches all others.
-- @return a table: by 'FOLDER: FILE FILE ...' a list of the uses inside, as texts
function calls.circles(uses)
   local usedBy, reaches, files, circles = {}, {}, {}, {}
   for _, use in ipairs(uses) do
      if folderOf(use.from) == folderOf(use.to) then
         usedBy[use.from] = usedBy[use.from] or {}
         usedBy[use.from][use.to] = use.symbol
      end
   end
   for file in pairs(usedBy) do
      reaches[file] = reachedFrom(file, usedBy)
      if reaches[file][file] then files[#files + 1] = file end
   end
   table.sort(files)
   for _, file in ipairs(files) do
      local names, inside = {}, {}
      for _, other in ipairs(files) do
         if reaches[file][other] and reaches[other][file] then
            names[#names + 1] = nameOf(other)
            local symbol = usedBy[file][other]
            if symbol then
               inside[#inside + 1] = ('%s > %s (%s)'):format(nameOf(file), nameOf(other), symbol)
            end
         end
      end
      local name = folderOf(file) .. ': ' .. table.concat(names, ' ')
      circles[name] = circles[name] or {}
      for _, text in ipairs(inside) do table.insert(circles[name], text) end
   end
   return circles
end

--- Reports violations of the order.
-- @param order table: sees(FOLDER, OTHER), nil or false if a folder may not use the other;
--    tables, a set of symbols that every file may use; files[FOLDER][FILE], the ranks of a folder's
--    files
-- @param complain function(format, ...)
function calls.check(uses, order, complain)
   for _, use in ipairs(uses) do
      local folder, other = folderOf(use.from), folderOf(use.to)
      local isUp = not order.sees(folder, other)
      if folder == other then
         local rank = order.files[folder] or {}
         isUp = (rank[nameOf(use.to)] or 0) > (rank[nameOf(use.from)] or math.huge)
      end
      if isUp and not order.tables[use.symbol] then
         complain('csrc/%s.c: uses %s of csrc/%s.c, which stands above it', use.from, use.symbol,
            use.to)
      end
   end
   for name, inside in pairs(calls.circles(uses)) do
      complain('csrc/%s: use each other in a circle: %s', name, table.concat(inside, ', '))
   end
end

return calls
