# What ttensor finds: xsimd, and what its components need. This file is used twice: by ttensor's own CMakeLists.txt and
# by the installed ttensorConfig.cmake, so that everything is looked for on the machine that compiles the user's program.
#   ttensor::xsimd     xsimd's headers
#   ttensor::threads   OpenMP or oneTBB
#   ttensor::blas      any BLAS that FindBLAS knows
#   ttensor::runtime   adds a source file to the target that links it: what no program changes is compiled there and nowhere else
#   ttensor::device    the CUDA runtime; sources that are compiled as CUDA get -std=c++20
# Each function creates its target when it can, says why not when asked for it, and never downloads anything.

function(ttensor_find_xsimd)
  if(TARGET ttensor::xsimd)
    return()
  endif()
  if(NOT TARGET xsimd)
    # No version here: xsimd's version file accepts its own major version only, and 8.1 to 14 all work.
    find_package(xsimd QUIET)
    if(NOT xsimd_FOUND)
      message(FATAL_ERROR "ttensor needs xsimd 8.1 or newer: install it (Debian and Ubuntu: apt-get install libxsimd-dev; "
        "Conan and vcpkg: xsimd), or build without SIMD: configure ttensor with -DTTENSOR_NO_SIMD=ON.")
    elseif(xsimd_VERSION VERSION_LESS 8.1)
      message(FATAL_ERROR "ttensor needs xsimd 8.1 or newer, found ${xsimd_VERSION} in ${xsimd_DIR}: install a newer one, "
        "or build without SIMD: configure ttensor with -DTTENSOR_NO_SIMD=ON.")
    endif()
  endif()
  # Only the include directory: Debian 12's xsimd target links a library xtl, which it neither needs nor brings.
  # An imported target's headers are SYSTEM, so xsimd's warnings are never ours.
  add_library(ttensor::xsimd INTERFACE IMPORTED GLOBAL)
  get_target_property(includes xsimd INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(ttensor::xsimd PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${includes}")
endfunction()

function(_ttensor_add_component name)
  # Imported also in ttensor's own build: a library that links one can then be installed and exported.
  set(target ttensor::${name})
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${target} INTERFACE ttensor::ttensor)
  set(target ${target} PARENT_SCOPE)
endfunction()

function(_ttensor_check_choice variable value)
  if(NOT "${value}" IN_LIST ARGN)
    list(JOIN ARGN ", " allowed)
    message(FATAL_ERROR "${variable} is \"${value}\"; it must be one of ${allowed}.")
  endif()
endfunction()

function(ttensor_component_threads choice)
  _ttensor_check_choice(TTENSOR_THREADS "${choice}" AUTO OPENMP TBB OFF)
  if(TARGET ttensor::threads OR choice STREQUAL "OFF")
    return()
  endif()
  if(choice MATCHES "AUTO|OPENMP")
    find_package(OpenMP QUIET COMPONENTS CXX)
    if(TARGET OpenMP::OpenMP_CXX)
      _ttensor_add_component(threads)
      target_link_libraries(${target} INTERFACE OpenMP::OpenMP_CXX)
      target_compile_definitions(${target} INTERFACE TTENSOR_USE_OPENMP)
      return()
    endif()
  endif()
  if(choice MATCHES "AUTO|TBB")
    find_package(TBB QUIET)
    if(TARGET TBB::tbb)
      _ttensor_add_component(threads)
      target_link_libraries(${target} INTERFACE TBB::tbb)
      target_compile_definitions(${target} INTERFACE TTENSOR_USE_TBB)
      return()
    endif()
  endif()
  if(NOT choice STREQUAL "AUTO")
    message(FATAL_ERROR "TTENSOR_THREADS=${choice} was asked for but not found: install it (Debian and Ubuntu: g++ brings "
      "OpenMP, clang needs libomp-dev, oneTBB is libtbb-dev), or set TTENSOR_THREADS=AUTO or OFF.")
  endif()
endfunction()

function(ttensor_component_blas choice)
  _ttensor_check_choice(TTENSOR_BLAS "${choice}" AUTO ON OFF)
  if(TARGET ttensor::blas OR choice STREQUAL "OFF")
    return()
  endif()
  find_package(BLAS QUIET)
  if(TARGET BLAS::BLAS)
    _ttensor_add_component(blas)
    target_link_libraries(${target} INTERFACE BLAS::BLAS)
    target_compile_definitions(${target} INTERFACE TTENSOR_USE_BLAS)
  elseif(choice STREQUAL "ON")
    message(FATAL_ERROR "TTENSOR_BLAS=ON but no BLAS was found: install one (Debian and Ubuntu: libopenblas-dev), or set "
      "TTENSOR_BLAS=AUTO; ttensor's own matrix product is used then.")
  endif()
endfunction()

function(ttensor_component_runtime)
  set(source "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/ttensor_runtime.cpp")
  # It must see no other header of ttensor first. Such properties hold in one directory: docs/packaging.md.
  set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
  if(TARGET ttensor::runtime)
    return()
  endif()
  _ttensor_add_component(runtime)
  target_compile_definitions(${target} INTERFACE TTENSOR_RUNTIME)
  target_sources(${target} INTERFACE "${source}")
endfunction()

function(ttensor_component_device choice)
  _ttensor_check_choice(TTENSOR_CUDA "${choice}" AUTO ON OFF)
  if(TARGET ttensor::device OR choice STREQUAL "OFF")
    return()
  endif()
  find_package(CUDAToolkit 12.0 QUIET)
  if(TARGET CUDA::cudart_static)
    _ttensor_add_component(device)
    # Static: the program has no CUDA library to miss and starts on a machine without a driver.
    target_link_libraries(${target} INTERFACE CUDA::cudart_static)
    target_compile_definitions(${target} INTERFACE TTENSOR_USE_CUDA)
    # Not CUDA_STANDARD 20: CMake 3.25 knows no C++20 for nvcc 13 and drops it without a word.
    target_compile_options(${target} INTERFACE $<$<COMPILE_LANG_AND_ID:CUDA,NVIDIA>:-std=c++20>)
  elseif(choice STREQUAL "ON")
    message(FATAL_ERROR "TTENSOR_CUDA=ON but no CUDA toolkit 12 or newer was found: install it, put its nvcc on PATH or set "
      "CUDAToolkit_ROOT, or set TTENSOR_CUDA=AUTO.")
  endif()
endfunction()
