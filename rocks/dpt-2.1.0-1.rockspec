-- Installs libdpt.so, the Lua files and the command `dpt`, the released version:
--    luarocks --lua-version 5.1 make rocks/dpt-2.1.0-1.rockspec
-- spec/rocks_spec.lua holds it to rocks/dpt-scm-1.rockspec.
package = 'dpt'
version = '2.1.0-1'
source = {url = 'git+https://dpt.example.org/dpt.git', tag = 'v2.1.0'}
description = {
   summary = 'Data-parallel training on LuaJIT with the interface of Torch7',
   detailed = [[
      torch, nn, cutorch and optim with Torch7's names and meanings over a C library; trains one
      network on several devices at once (nn.DataParallelTable), also where there is no GPU.
   ]],
   homepage = 'https://dpt.example.org',
   license = 'BSD-3-Clause',
}
supported_platforms = {'linux'}
dependencies = {'lua == 5.1'} -- LuaJIT counts as Lua 5.1
-- What must be there to build; Debian's names: luajit (it writes the reference's pages),
-- libluajit-5.1-dev, libdnnl-dev, libsleef-dev.
external_dependencies = {
   LUAJIT = {header = 'luajit-2.1/luajit.h'},
   DNNL = {header = 'dnnl.h', library = 'dnnl'},
   SLEEF = {library = 'sleef'}, -- its header lies in Debian's folder of the architecture
}
build = {
   type = 'cmake',
   variables = {
      CMAKE_INSTALL_PREFIX = '$(PREFIX)',
      CMAKE_BUILD_TYPE = 'Release',
      BUILD_TESTING = 'OFF',
      DPT_PARTS = 'dpt', -- image is a rock of its own
      CMAKE_INSTALL_DOCDIR = 'doc', -- where `luarocks doc` looks
   },
}
