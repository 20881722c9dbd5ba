-- Installs image, the released version, beside an installed dpt of that version:
--    luarocks --lua-version 5.1 make rocks/image-2.1.0-1.rockspec
-- spec/rocks_spec.lua holds it to rocks/image-scm-1.rockspec.
package = 'image'
version = '2.1.0-1'
source = {url = 'git+https://dpt.example.org/dpt.git', tag = 'v2.1.0'}
description = {
   summary = "Pictures for dpt with the interface of Torch7's package image",
   detailed = [[
      JPEG, PNG, PPM and PGM files as tensors and back; sizes, parts, warps, colours, filters.
   ]],
   homepage = 'https://dpt.example.org',
   license = 'BSD-3-Clause',
}
supported_platforms = {'linux'}
dependencies = {'lua == 5.1', 'dpt == 2.1.0'}
-- What must be there to build; Debian's names: libjpeg62-turbo-dev, libpng-dev.
external_dependencies = {
   JPEG = {header = 'jpeglib.h', library = 'jpeg'},
   PNG = {header = 'png.h', library = 'png'},
}
build = {
   type = 'cmake',
   variables = {
      CMAKE_INSTALL_PREFIX = '$(PREFIX)',
      CMAKE_BUILD_TYPE = 'Release',
      DPT_PARTS = 'image',
   },
}
