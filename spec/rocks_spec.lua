--- The rockspecs of dpt, the version, and what docs/changes.md says of it.
local root = require('dpt').paths.dirname(require('dpt').paths.dirname(
   require('dpt').paths.thisfile()))

local function read(name) return assert(io.open(root .. '/' .. name)):read '*a' end

--- The fields that a rockspec sets.
local function rockspec(version)
   local fields = {}
   assert(load(read('rocks/dpt-' .. version .. '.rockspec'), version, 't', fields))()
   return fields
end

describe('The release', function()
   local version = read 'CMakeLists.txt':match 'project%(dpt VERSION (%S+)'

   it('has the version that CMakeLists.txt states everywhere', function()
      assert.equal(version, torch.version())
      assert.is_truthy(read 'docs/changes.md':find('\n## ' .. version .. '\n', 1, true))
      local released = rockspec(version .. '-1')
      assert.equal(version .. '-1', released.version)
      assert.equal('v' .. version, released.source.tag)
   end)

   it('has a rockspec that differs from the other one in version and source alone', function()
      local released, current = rockspec(version .. '-1'), rockspec 'scm-1'
      assert.is_truthy(released.description.homepage and released.external_dependencies)
      released.version, released.source = current.version, current.source
      assert.same(current, released)
   end)
end)
