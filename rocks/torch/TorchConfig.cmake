# TorchConfig.cmake: what find_package(Torch) finds in a package that was written for Torch7.
#
# Invariant: Lua files go where Torch7's add_torch_package put them; for luarocks, in the layout
# that it deploys from. C sources include Torch7's headers, which dpt lacks: an error says so.
if(CMAKE_INSTALL_PREFIX MATCHES "/luarocks/rocks")
  set(Torch_INSTALL_LUA_PATH_SUBDIR lua)
else()
  set(Torch_INSTALL_LUA_PATH_SUBDIR share/lua/5.1)
endif()
set(Torch_INSTALL_BIN_SUBDIR bin)

function(add_torch_package package sources lua)
  if(sources)
    message(FATAL_ERROR "${package}: ${sources} is made for Torch7's C library, which dpt "
      "replaces (docs/porting.md says what to do)")
  endif()
  install(FILES ${lua} DESTINATION ${Torch_INSTALL_LUA_PATH_SUBDIR}/${package})
endfunction()

function(add_torch_wrap target)
  message(FATAL_ERROR "${target}: cwrap makes code for Torch7's C library, which dpt replaces")
endfunction()

function(add_torch_dok) # manuals for dok: nothing to build
endfunction()
