# emulation.cmake: builds the plugin's sources for the CPU (spec/emulation/README.md), beside
# libdpt.so, and their tests. x86-64 only.
enable_language(CXX)
# emulate(TARGET SOURCE...): adds .cu files to a target of the host's compiler.
function(emulate target)
  foreach(source ${ARGN})
    # by a relative path, so that ccache knows the text in another clone, too
    file(RELATIVE_PATH path ${CMAKE_SOURCE_DIR} ${source})
    string(MAKE_C_IDENTIFIER ${path} name)
    set(copy ${CMAKE_BINARY_DIR}/generated/emulated_${name}.cpp)
    file(CONFIGURE OUTPUT ${copy} CONTENT "#include \"${path}\"\n")
    target_sources(${target} PRIVATE ${copy})
  endforeach()
  target_include_directories(${target} BEFORE PRIVATE spec/emulation)
  target_include_directories(${target} PRIVATE csrc ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${target} PRIVATE DPT_EMULATED)
  # gnu2: kernels read thread-local variables such as threadIdx at every other step; integers wrap
  # around, as on a GPU
  # slow: with a sanitizer gcc takes a minute for each of the largest kernels if it optimises;
  # AddressSanitizer finds bad pointers
  # ThreadSanitizer attributes a fiber to the thread that runs it; its call stack would not return
  # from a fiber
  if(DPT_SANITIZE STREQUAL thread)
    set(slow -O0 -Wno-tsan "--param=tsan-instrument-func-entry-exit=0")
  elseif(DPT_SANITIZE)
    set(slow -O0 -fno-sanitize=null,object-size,vptr)
  endif()
  target_compile_options(${target} PRIVATE -O1 -fwrapv ${slow}
    "$<$<CXX_COMPILER_ID:GNU>:-mtls-dialect=gnu2>" -Wno-unused-function
    -Wno-type-limits -Wno-sign-compare)
  set_target_properties(${target} PROPERTIES CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden)
endfunction()
set(emulation_sources spec/emulation/emulation.cpp spec/emulation/memory.cpp
  spec/emulation/queue.cpp)
add_library(dpt_emulated MODULE ${emulation_sources} spec/emulation/cublas.cpp
  spec/emulation/cudnn.cpp
  spec/emulation/planted.cpp)
target_link_libraries(dpt_emulated PRIVATE ${CMAKE_DL_LIBS})
set(emulated_sources ${cuda_sources})
list(FILTER emulated_sources EXCLUDE REGEX csrc/cuda/cudnn/rnn)
target_compile_definitions(dpt_emulated PRIVATE DPT_CUDNN_FILE="")
emulate(dpt_emulated ${emulated_sources})
# With a sanitizer this is most of the build, and only `scripts/test --rest` needs it.
if(DPT_SANITIZE)
  set_target_properties(dpt_emulated PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
# for DPT_NCCL, if devices are emulated
add_library(nccl_fake SHARED spec/emulation/nccl.cpp)
target_include_directories(nccl_fake PRIVATE spec/emulation csrc)
set_target_properties(nccl_fake PROPERTIES CXX_STANDARD 17)
# preloaded to present one GPU as two
add_library(two_gpus SHARED spec/cuda/two_gpus.cpp)
set_target_properties(two_gpus PROPERTIES CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden)
target_link_libraries(two_gpus PRIVATE ${CMAKE_DL_LIBS})
add_executable(emulation_spec ${emulation_sources})
emulate(emulation_spec ${CMAKE_SOURCE_DIR}/spec/emulation/emulation_spec.cu)
add_executable(library_spec ${emulation_sources})
emulate(library_spec ${CMAKE_SOURCE_DIR}/spec/emulation/library_spec.cu
  ${CMAKE_SOURCE_DIR}/csrc/cuda/library.cu)
target_link_libraries(library_spec PRIVATE ${CMAKE_DL_LIBS})
add_test(NAME library_spec COMMAND library_spec)
# ASan finds errors of the kernels; it cannot be combined with TSan.
if(NOT DPT_SANITIZE STREQUAL thread)
  target_compile_options(emulation_spec PRIVATE -fsanitize=address -fno-omit-frame-pointer)
  target_link_options(emulation_spec PRIVATE -fsanitize=address)
  add_test(NAME emulation_spec COMMAND emulation_spec)
endif()
