# cuda.cmake: decides if CUDA's plugin is built, and for which GPUs.
#
# Invariant: with AUTO no missing or broken part stops the build: one line names it. The environment
# variable DPT_CUDA is the initial value, for builds that other scripts start. Sets DPT_CUDA_ON, and
# the paths CUDNN_* and NCCL_*.
set(first AUTO)
if(DEFINED ENV{DPT_CUDA})
  set(first $ENV{DPT_CUDA})
endif()
set(DPT_CUDA ${first} CACHE STRING "CUDA's plugin: AUTO (where there is a toolkit), ON or OFF")
set_property(CACHE DPT_CUDA PROPERTY STRINGS AUTO ON OFF)
set(DPT_CUDA_ARCHITECTURES "" CACHE STRING
  "GPU architectures of the plugin, as in CMAKE_CUDA_ARCHITECTURES, or release; empty: that of the\
 installed GPU, else 90")
set(DPT_CUDA_ON FALSE)

# Finds a package; reports it if it is missing.
function(dpt_cuda_fails what)
  if(DPT_CUDA STREQUAL AUTO)
    message(STATUS "dpt: host devices only: ${what}")
  else()
    message(FATAL_ERROR "DPT_CUDA=${DPT_CUDA}: ${what}; install it, or set DPT_CUDA to OFF")
  endif()
endfunction()

function(dpt_cuda_look)
  if(DPT_SANITIZE AND DPT_CUDA STREQUAL AUTO)
    message(STATUS "dpt: host devices only: sanitizer build")
    return()
  endif()
  # CMake searches only PATH and CUDACXX.
  find_program(DPT_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
    PATH_SUFFIXES bin)
  if(NOT DPT_NVCC)
    dpt_cuda_fails("nvcc not found on PATH, in CUDACXX, CUDA_HOME, CUDA_PATH or /usr/local/cuda")
    return()
  endif()
  set(ENV{CUDACXX} ${DPT_NVCC})
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    dpt_cuda_fails("${DPT_NVCC} cannot compile a test program")
    return()
  endif()
  find_package(CUDAToolkit 12.0 QUIET)
  if(NOT CUDAToolkit_FOUND)
    dpt_cuda_fails("the toolkit of ${DPT_NVCC} is older than CUDA 12.0")
    return()
  endif()
  find_package(CUDNN QUIET)
  if(NOT CUDNN_FOUND)
    dpt_cuda_fails("cuDNN not found in CUDNN_ROOT, the CUDA toolkit, the system's or pip's\
 folders")
    return()
  endif()
  set(DPT_CUDA_ON TRUE PARENT_SCOPE)
endfunction()

if(DPT_CUDA STREQUAL OFF OR NOT DPT_CUDA)
  message(STATUS "dpt: host devices only (DPT_CUDA=OFF)")
else()
  list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
  dpt_cuda_look()
endif()

if(DPT_CUDA_ON)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)
  enable_language(CUDA)
  find_package(CUDAToolkit 12.0 REQUIRED)
  find_package(CUDNN REQUIRED)
  find_package(NCCL QUIET) # without it tensors travel by copies
  if(NOT NCCL_FOUND)
    set(NCCL_VERSION "not found (set NCCL_ROOT to its path)")
    set(NCCL_INCLUDE_DIR "")
    set(NCCL_LIBRARY "")
  endif()
  set(dpt_cuda_architectures ${DPT_CUDA_ARCHITECTURES})
  if(NOT dpt_cuda_architectures)
    set(dpt_cuda_architectures 90)
    find_program(DPT_NVIDIA_SMI nvidia-smi)
    if(DPT_NVIDIA_SMI)
      execute_process(COMMAND ${DPT_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
        OUTPUT_VARIABLE capability ERROR_QUIET)
      if(capability MATCHES "^([0-9]+)[.]([0-9]+)")
        set(dpt_cuda_architectures ${CMAKE_MATCH_1}${CMAKE_MATCH_2}-real)
      endif()
    endif()
  elseif(dpt_cuda_architectures STREQUAL release)
    # every GPU that CUDA 13 knows: itself, a lower one of its generation, or by compiling at load
    set(dpt_cuda_architectures
      75-real 80-real 86-real 89-real 90-real 100-real 120-real 100-virtual)
  endif()
  message(STATUS "dpt: plugin for CUDA ${CUDAToolkit_VERSION}, cuDNN ${CUDNN_VERSION}, NCCL"
    " ${NCCL_VERSION}, for ${dpt_cuda_architectures}")
  # two minutes of two cores for each architecture
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  list(LENGTH dpt_cuda_architectures count)
  math(EXPR minutes "(4 * ${count} + ${cores} - 1) / ${cores}")
  message(STATUS "dpt: compiling the plugin takes about ${minutes} min on ${cores} cores;"
    " -DDPT_CUDA=OFF skips it, -DDPT_CUDA_ARCHITECTURES=... selects the GPUs")
endif()
