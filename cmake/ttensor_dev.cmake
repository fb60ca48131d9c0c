# For our own tests, examples and benchmarks only; nothing here reaches a user of the library.

# ttensor_dev: warnings as errors, and -march when TTENSOR_MARCH says so.
add_library(ttensor_dev INTERFACE)
set(TTENSOR_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)  # GCC 12 reports the lanes of packs that every path sets, and its own AVX-512 header
  list(APPEND TTENSOR_WARNINGS -Wno-maybe-uninitialized -Wno-uninitialized)
endif()
# GCC collects no garbage below so many kB: a large test compiles in 67 instead of 80 s, with 3.1 instead of 2.4 GB, one of nvcc's in 41 instead of 48 (3.0 and 2.2 GB).
set(_gcc_heap --param=ggc-min-heapsize=1500000)
set(TTENSOR_MARCH_OPTION "")
if(TTENSOR_MARCH)
  set(TTENSOR_MARCH_OPTION -march=${TTENSOR_MARCH})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)  # clang 19 warns of the features that its own -march=native finds on processors with AVX10
    include(CheckCXXSourceCompiles)
    include(CMakePushCheckState)
    cmake_push_check_state(RESET)
    set(CMAKE_REQUIRED_FLAGS "${TTENSOR_MARCH_OPTION} -Werror")
    check_cxx_source_compiles("int main() {}" TTENSOR_MARCH_WITHOUT_WARNING)
    cmake_pop_check_state()
    if(NOT TTENSOR_MARCH_WITHOUT_WARNING)
      list(APPEND TTENSOR_MARCH_OPTION -Wno-invalid-feature-combination)
    endif()
  endif()
endif()
target_compile_options(ttensor_dev INTERFACE
  "$<$<COMPILE_LANGUAGE:CXX>:${TTENSOR_WARNINGS};${TTENSOR_MARCH_OPTION};$<$<CXX_COMPILER_ID:GNU>:${_gcc_heap}>>"
  # all-warnings: a host function called from a kernel is only a warning, and the kernel comes out empty.
  "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=-Wall,-Wextra;$<$<CXX_COMPILER_ID:GNU>:-Xcompiler=${_gcc_heap}>>")
target_link_libraries(ttensor_dev INTERFACE ttensor::ttensor)

# Our CUDA sources need the language; a user's project decides that for itself.
if(TARGET ttensor::device AND (TTENSOR_BUILD_TESTS OR TTENSOR_BUILD_BENCHMARKS))
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 90)
  endif()
  if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX} AND CUDAToolkit_NVCC_EXECUTABLE)
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
  elseif(TTENSOR_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TTENSOR_CUDA=ON, the CUDA toolkit is there, but its compiler does not work: see the configure log in CMakeFiles, "
      "or set CUDACXX to a working nvcc.")
  endif()
endif()

# Thrust's headers, from a CUDA toolkit (CCCL) or from libthrust-dev; g++ alone compiles them for its CPU systems.
find_path(TTENSOR_THRUST_INCLUDE_DIR thrust/version.h
  HINTS ${CUDAToolkit_INCLUDE_DIRS} PATHS /usr/local/cuda/include PATH_SUFFIXES cccl
  DOC "Directory that holds thrust/version.h")
mark_as_advanced(TTENSOR_THRUST_INCLUDE_DIR)

# ttensor_selected(<out> labels...): do TTENSOR_TEST_LABELS and TTENSOR_TEST_WITHOUT ask for a test with these labels?
function(ttensor_selected out)
  set(selected TRUE)
  if(TTENSOR_TEST_LABELS)
    set(selected FALSE)
  endif()
  foreach(label IN LISTS ARGN)
    if(label IN_LIST TTENSOR_TEST_LABELS)
      set(selected TRUE)
    endif()
  endforeach()
  foreach(label IN LISTS ARGN)
    if(label IN_LIST TTENSOR_TEST_WITHOUT)
      set(selected FALSE)
    endif()
  endforeach()
  set(${out} ${selected} PARENT_SCOPE)
endfunction()
