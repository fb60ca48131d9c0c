// Compilers and CUDA: what their macros say, for all headers. (num/simd*.hpp choose instructions by them too, with instruction_set.hpp.)
// Everything that may contain SIMD code lives in an inline namespace named after the instruction set the translation
// unit is compiled for, so objects built with different -march never share a symbol.
#pragma once
#if __cplusplus < 202002L
#error "ttensor: a C++20 library; compile with -std=c++20"
#endif
#include <cstddef>
#include <cstdint>
#include "instruction_set.hpp"

// Parts of it too: all but __FINITE_MATH_ONLY__ are g++'s; clang has no such macros, but keeps the order of sums where it is told to (TTENSOR_BEGIN).
#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__NO_SIGNED_ZEROS__) || \
    defined(__RECIPROCAL_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "ttensor: -ffast-math and its parts break NaN, inf and signed-zero rules and round quotients twice, and with sums in another order sin, cos and exp of ordinary numbers are wrong; remove them for the files that include ttensor"
#endif

// x87 rounds late: what takes a number's bits apart by adding and subtracting a large one is wrong then (387: 2, both: -1).
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16  // 16: halves as they are
#error "ttensor: float and double must be rounded after each operation (FLT_EVAL_METHOD 0); compile the files that include ttensor with -msse2 -mfpmath=sse, without -ffp-eval-method"
#endif

#if defined(TTENSOR_USE_BLAS)
#define TTENSOR_HAS_BLAS 1
#else
#define TTENSOR_HAS_BLAS 0
#endif
#if __has_builtin(__builtin_clear_padding)
#define TTENSOR_HAS_CLEAR_PADDING 1
#else
#define TTENSOR_HAS_CLEAR_PADDING 0
#endif

#define TTENSOR_VERSION_MAJOR 0
#define TTENSOR_VERSION_MINOR 1
#define TTENSOR_VERSION_PATCH 0

#if defined(__CUDACC__)
#define TTENSOR_HD __host__ __device__
#define TTENSOR_DEVICE_CODE 1
#else
#define TTENSOR_HD
#define TTENSOR_DEVICE_CODE 0
#endif

#if defined(__CUDA_ARCH__)
#define TTENSOR_DEVICE_PASS 1
#else
#define TTENSOR_DEVICE_PASS 0
#endif

#if defined(__clang__)
#define TTENSOR_COMPILER "clang " __clang_version__
#else
#define TTENSOR_COMPILER "gcc " __VERSION__
#endif

// Under AddressSanitizer freed blocks go back to the system at once, so that it sees every use after the end.
#if defined(__SANITIZE_ADDRESS__)
#define TTENSOR_KEEPS_BLOCKS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TTENSOR_KEEPS_BLOCKS 0
#endif
#endif
#if !defined(TTENSOR_KEEPS_BLOCKS)
#define TTENSOR_KEEPS_BLOCKS 1
#elif __has_include(<sanitizer/asan_interface.h>)  // clang's keeps locals apart from the stack; this says where they belong
#define TTENSOR_FAKE_STACK <sanitizer/asan_interface.h>
#endif

// Counts that one thread writes and others read may be written by plain stores where a store of a word is atomic and ordered after earlier
// accesses. Not under ThreadSanitizer.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TTENSOR_PLAIN_COUNTS 1
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef TTENSOR_PLAIN_COUNTS
#endif
#endif
#endif
#if !defined(TTENSOR_PLAIN_COUNTS)
#define TTENSOR_PLAIN_COUNTS 0
#endif

// Without optimisation a contained body is compiled again at each of its calls: tests took 1.2 times as long to build, and half as much memory again.
#if defined(__OPTIMIZE__) || defined(__CUDACC__)
#define TTENSOR_INLINE inline __attribute__((always_inline))
#else
#define TTENSOR_INLINE inline
#endif
#define TTENSOR_NOINLINE __attribute__((noinline))
// Shared libraries of one program, those compiled with -fvisibility=hidden too, have one state: they pass each other arrays, whose counts name threads, and
// scalars, which name recordings. As the standard library's, its names are visible, types too: what is a template over them is as visible as they are.
#define TTENSOR_VISIBLE __attribute__((visibility("default")))
// Short loops, as over the registers of a pack, have constant trip counts and must vanish at -O2 already.
#if defined(__clang__)
#define TTENSOR_UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__CUDACC__)
#define TTENSOR_UNROLL
#else
#define TTENSOR_UNROLL _Pragma("GCC unroll 64")
#endif
// Functions that know nothing of the user's program are declared plainly and defined with BODY, where there is one. Header-only they are
// inline, and each file compiles those that it needs. With TTENSOR_RUNTIME (CMake: ttensor::runtime) the headers only declare them, and
// <ttensor/runtime.hpp> defines them; weakly, so that libraries which bring them may be linked together. KNOWN does the same for templates
// of common arguments. A .cu file has an instruction set of its own (below), and so code of its own.
#if defined(TTENSOR_RUNTIME_SOURCE)
#define TTENSOR_BODY __attribute__((noinline, weak))
#define TTENSOR_KNOWN template
#elif defined(TTENSOR_RUNTIME) && !defined(__CUDACC__)
#define TTENSOR_KNOWN extern template
#else
#define TTENSOR_BODY TTENSOR_NOINLINE inline
#endif
// offsetof of members whose classes have parts of different access, which compilers support and warn of.
#if defined(__CUDACC__)
#define TTENSOR_OFFSETS_BEGIN
#define TTENSOR_OFFSETS_END
#else
#define TTENSOR_OFFSETS_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Winvalid-offsetof\"")
#define TTENSOR_OFFSETS_END _Pragma("GCC diagnostic pop")
#endif
#define TTENSOR_LIKELY(x) __builtin_expect(!!(x), 1)
#define TTENSOR_UNLIKELY(x) __builtin_expect(!!(x), 0)

#if defined(TTENSOR_CHECK_BOUNDS) && 1 - TTENSOR_CHECK_BOUNDS - 1 == 2  // defined without a value, which reads 1 - -1: on
#undef TTENSOR_CHECK_BOUNDS
#define TTENSOR_CHECK_BOUNDS 1
#endif
#if !defined(TTENSOR_CHECK_BOUNDS)
#if defined(NDEBUG)
#define TTENSOR_CHECK_BOUNDS 0
#elif defined(__OPTIMIZE__)
#define TTENSOR_CHECK_BOUNDS 0
#else
#define TTENSOR_CHECK_BOUNDS 1
#endif
#endif
// Checked builds also find duals outside the call of the transform that made them (expr/level_call.hpp); a .cu file does not.
#if TTENSOR_CHECK_BOUNDS && !defined(__CUDACC__)
#define TTENSOR_CHECK_LEVELS 1
#else
#define TTENSOR_CHECK_LEVELS 0
#endif

// `v1_avx512`: ABI version and instruction set in one inline namespace; threads, bounds checks, loops that are not fused and errors that end the program
// (-fno-exceptions) change inline code, so they count too, as does BLAS: `v1_openmp_blas_checked_unfused_aborting_avx512`.
#if defined(TTENSOR_USE_TBB)
#define TTENSOR_ABI_THREADS v1_tbb_
#elif defined(TTENSOR_USE_OPENMP)
#define TTENSOR_ABI_THREADS v1_openmp_
#elif defined(TTENSOR_USE_STD_THREADS)
#define TTENSOR_ABI_THREADS v1_threads_
#else
#define TTENSOR_ABI_THREADS v1_
#endif
#if TTENSOR_HAS_BLAS
#define TTENSOR_ABI_BLAS TTENSOR_CAT(TTENSOR_ABI_THREADS, blas_)
#else
#define TTENSOR_ABI_BLAS TTENSOR_ABI_THREADS
#endif
#if TTENSOR_CHECK_LEVELS
#define TTENSOR_ABI_BOUNDS TTENSOR_CAT(TTENSOR_ABI_BLAS, checked_)
#elif TTENSOR_CHECK_BOUNDS
#define TTENSOR_ABI_BOUNDS TTENSOR_CAT(TTENSOR_ABI_BLAS, bounds_)
#else
#define TTENSOR_ABI_BOUNDS TTENSOR_ABI_BLAS
#endif
#if defined(TTENSOR_NO_FUSION)  // for debugging: a loop, and a node of a tape, for each operator
#define TTENSOR_FUSES false
#define TTENSOR_ABI_FUSION TTENSOR_CAT(TTENSOR_ABI_BOUNDS, unfused_)
#else
#define TTENSOR_FUSES true
#define TTENSOR_ABI_FUSION TTENSOR_ABI_BOUNDS
#endif
#if defined(__cpp_exceptions)
#define TTENSOR_ABI TTENSOR_CAT(TTENSOR_ABI_FUSION, TTENSOR_ISA)
#else
#define TTENSOR_ABI TTENSOR_CAT(TTENSOR_ABI_FUSION, TTENSOR_CAT(aborting_, TTENSOR_ISA))
#endif
#if defined(__clang__) && !defined(__CUDACC__) && (defined(__x86_64__) || defined(__aarch64__))  // elsewhere some clangs warn of float_control
#define TTENSOR_BEGIN _Pragma("float_control(push)") _Pragma("clang fp reassociate(off)") namespace ttensor TTENSOR_VISIBLE { inline namespace TTENSOR_ABI {
#define TTENSOR_END } } _Pragma("float_control(pop)")
#else
#define TTENSOR_BEGIN namespace ttensor TTENSOR_VISIBLE { inline namespace TTENSOR_ABI {
#define TTENSOR_END } }
#endif
// The same for headers whose host/device templates serve values of the host too, as the operators' rules do packs and taped scalars: nvcc would warn of
// each such use. Not for kernels and what only they call: there a host function is a mistake, and nvcc's warning is all that tells.
#if defined(__CUDACC__)
#define TTENSOR_HD_BEGIN _Pragma("nv_diagnostic push") _Pragma("nv_diag_suppress 20011, 20013, 20014, 20015") TTENSOR_BEGIN
#define TTENSOR_HD_END TTENSOR_END _Pragma("nv_diagnostic pop")
#define TTENSOR_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")  // before a function that converts or copies: those warnings have no place
#else
#define TTENSOR_HD_BEGIN TTENSOR_BEGIN
#define TTENSOR_HD_END TTENSOR_END
#define TTENSOR_NO_EXEC_CHECK
#endif

#if defined(__cpp_exceptions)
#define TTENSOR_THROW(...) throw __VA_ARGS__
#define TTENSOR_THROW_BAD_ALLOC() throw std::bad_alloc()
#else
#define TTENSOR_THROW_BAD_ALLOC() std::abort()
#define TTENSOR_THROW(...) ::ttensor::terminate_with(__VA_ARGS__)
#endif

namespace ttensor TTENSOR_VISIBLE {
using index_t = std::ptrdiff_t;
inline constexpr index_t dyn = -1;               // an extent known at run time only
inline constexpr std::size_t heap_alignment = 64;  // bytes, whatever the instruction set
}  // namespace ttensor
