--- The rockspecs of dpt and image, the version, and its entry in docs/changes.md.
local root = require('dpt').paths.dirname(require('dpt').paths.dirname(
   require('dpt').paths.thisfile()))

local function read(name) return assert(io.open(root .. '/' .. name)):read '*a' end

--- Returns the fields that a rockspec sets.
local function rockspec(name, version)
   local fields, file = {}, ('rocks/%s-%s.rockspec'):format(name, version)
   assert(load(read(file), file, 't', fields))()
   return fields
end

describe('The release', function()
   local version = read 'CMakeLists.txt':match 'project%(dpt VERSION (%S+)'

   it('has the version that CMakeLists.txt states everywhere', function()
      assert.equal(version, torch.version())
      assert.is_truthy(read 'docs/changes.md':find('\n## ' .. version .. '\n', 1, true))
      for _, name in ipairs{'dpt', 'image'} do
         local released = rockspec(name, version .. '-1')
         assert.equal(version .. '-1', released.version)
         assert.equal('v' .. version, released.source.tag)
      end
   end)

   it('has rockspecs that differ from the others in version and source alone', function()
      for _, name in ipairs{'dpt', 'image'} do
         local released, current = rockspec(name, version .. '-1'), rockspec(name, 'scm-1')
         assert.equal(name, released.package)
         assert.is_truthy(released.description.homepage and released.external_dependencies)
         released.version, released.source = current.version, current.source
         if name == 'image' then -- both have the same version
            assert.equal('dpt == ' .. version, released.dependencies[2])
            assert.equal('dpt', table.remove(current.dependencies))
            table.remove(released.dependencies)
         end
         assert.same(current, released)
      end
   end)

   it('divides the files that cmake installs between two rocks', function()
      assert.equal('dpt', rockspec('dpt', 'scm-1').build.variables.DPT_PARTS)
      assert.equal('image', rockspec('image', 'scm-1').build.variables.DPT_PARTS)
      assert.is_truthy(read 'CMakeLists.txt':find('set(DPT_PARTS "dpt;image" ', 1, true))
   end)
end)
