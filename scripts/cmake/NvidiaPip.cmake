# NvidiaPip: DPT_NVIDIA_PIP, the folders site-packages/nvidia of the python3 on PATH, where pip
# installs NVIDIA's libraries; searched once per build folder.
if(NOT DEFINED DPT_NVIDIA_PIP)
  set(folders "")
  find_program(DPT_PYTHON3 python3)
  if(DPT_PYTHON3)
    # a namespace package: several folders may have a part of it
    execute_process(COMMAND ${DPT_PYTHON3} -c "import importlib.util as u
s = u.find_spec('nvidia')
print(';'.join(s.submodule_search_locations) if s else '')"
      OUTPUT_VARIABLE folders OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  set(DPT_NVIDIA_PIP "${folders}" CACHE STRING "folders site-packages/nvidia")
  mark_as_advanced(DPT_NVIDIA_PIP DPT_PYTHON3)
endif()

# dpt_find_nvidia(NAME header library soname folder): sets NAME_INCLUDE_DIR and NAME_LIBRARY from
# NAME_ROOT (a variable, also of the environment), the toolkit, Debian's paths and pip's folders.
# Pip's packages name libraries by soname only.
function(dpt_find_nvidia name header library soname folder)
  set(hints ${${name}_ROOT} $ENV{${name}_ROOT} ${CUDAToolkit_INCLUDE_DIRS}
    ${CUDAToolkit_LIBRARY_DIR} ${DPT_NVIDIA_PIP})
  find_path(${name}_INCLUDE_DIR ${header} HINTS ${hints}
    PATH_SUFFIXES include ${folder}/include targets/x86_64-linux/include)
  find_library(${name}_LIBRARY NAMES ${library} ${soname} HINTS ${hints}
    PATH_SUFFIXES lib lib64 ${folder}/lib targets/x86_64-linux/lib)
  mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
endfunction()
