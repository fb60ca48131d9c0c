// pack<T, N>: N lanes of T, the value a fused loop computes with. A pack is `count` registers where T has a register and
// N is a multiple of its width, and N plain elements otherwise; every operation is a loop over them that disappears.
// Within one build a lane gives the same bits whatever N is and wherever it stands.
#pragma once
#include "half.hpp"
#include "simd.hpp"

TTENSOR_BEGIN

template <class T, int N>
struct pack;

namespace simd {

template <class T, int N>
inline constexpr bool in_registers = has_register<T> && N % native_width_v<T> == 0;

// Integers wrap: arithmetic is done on the unsigned type (never narrower than int).
template <class T> struct unsigned_of { using type = T; };
template <class T> requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct unsigned_of<T> {
  using type = typename std::conditional_t<(sizeof(T) < 4), std::type_identity<std::uint32_t>, std::make_unsigned<T>>::type;
};

template <class T, bool Registers> struct register_of { using type = T; using wrapping = typename unsigned_of<T>::type; };
template <class T> struct register_of<T, true> { using type = vec<T>; using wrapping = vec<typename unsigned_of<T>::type>; };

/// Integers of one or two bytes, which have no register of their own: N of them are copied to a vector of the compiler's and back. Written lane by lane, g++ 12 takes
/// loads, stores and selections apart (measured: 10 to 20 times as long).
template <class T, int N> inline constexpr bool in_small_vector = TTENSOR_HAS_REGISTERS && std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 2 && (N & (N - 1)) == 0;

// Up to eight bytes times as many: g++ 12 multiplies those one by one, but not short integers.
template <class V> TTENSOR_INLINE V times(V x, V y) {
  if constexpr (sizeof(x) < 16 && sizeof(x[0]) == 1) {
    using W = vec<std::uint16_t, 2 * int(sizeof(x))>;
    return __builtin_convertvector(__builtin_convertvector(x, W) * __builtin_convertvector(y, W), V);
  } else {
    return x * y;
  }
}

template <class T>
TTENSOR_HD constexpr T div(T a, T b) {
  if constexpr (std::numeric_limits<T>::is_integer) {
    if (b == T(0)) return T(0);
    if constexpr (std::numeric_limits<T>::is_signed)
      if (b == T(-1)) return T(typename unsigned_of<T>::type(0) - typename unsigned_of<T>::type(a));
  }
  return T(a / b);
}
template <class T>
TTENSOR_HD constexpr T mod(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (std::numeric_limits<T>::is_signed)
    if (b == T(-1)) return T(0);
  return T(a % b);
}

// Shifts by any count: outside of [0, bits) every bit leaves, and the sign stays to the right.
template <class T> inline constexpr auto bits = static_cast<typename unsigned_of<T>::type>(8 * sizeof(T));
template <class T, class R>
TTENSOR_HD TTENSOR_INLINE R shift_left(R a, R s) {
  using W = typename register_of<T, !__is_same(T, R)>::wrapping;
  if constexpr (__is_same(T, R)) return static_cast<W>(s) < bits<T> ? static_cast<T>(static_cast<W>(a) << s) : T(0);
  else return (R)(((W)a << ((W)s & (bits<T> - 1))) & (W)((W)s < bits<T>));
}
template <class T, class R>
TTENSOR_HD TTENSOR_INLINE R shift_right(R a, R s) {
  using W = typename register_of<T, !__is_same(T, R)>::wrapping;
  if constexpr (__is_same(T, R)) {
    return static_cast<T>(static_cast<W>(s) < bits<T> ? a >> s : std::numeric_limits<T>::is_signed ? a >> (bits<T> - 1) : 0);
  } else {
    const W in = (W)((W)s < bits<T>);
    return a >> (R)(((W)s & in) | (~in & (bits<T> - 1)));
  }
}

template <int N>
constexpr int mask_lane_bytes() {
  if (TTENSOR_HAS_REGISTERS == 0) return 0;
  return N % (TTENSOR_SIMD_BYTES / 4) == 0 ? 4 : N % (TTENSOR_SIMD_BYTES / 8) == 0 ? 8 : 0;
}
#if TTENSOR_HAS_REGISTERS
template <int LaneBytes> struct mask_register {
  using type = mask<LaneBytes>;
  static constexpr int width = TTENSOR_SIMD_BYTES / LaneBytes;
};
template <> struct mask_register<0> { using type = bool; static constexpr int width = 1; };
#else
template <int LaneBytes> struct mask_register { using type = bool; static constexpr int width = 1; };
#endif

}  // namespace simd

#define TTENSOR_EACH(i) TTENSOR_UNROLL for (int i = 0; i < count; ++i)

/// Integers whose quotients a division of floating point numbers gives: float holds 16 bits and double 32 exactly, and neither rounds a quotient up to the next
/// whole number, for it is 1 / b below that at least and at most a / b. (Of unsigned 32 bits too, but few processors convert those; bytes take longer so with 16-byte registers.)
template <class T, int N> inline constexpr bool divides_in_floats = TTENSOR_HAS_REGISTERS && std::is_integral_v<T> && !__is_same(T, bool) &&
    ((simd::in_small_vector<T, N> && simd::in_registers<float, N> && sizeof(T) * TTENSOR_SIMD_BYTES > 16) || (__is_same(T, std::int32_t) && simd::in_registers<T, N> && simd::in_registers<double, N>));
template <class T, int N> TTENSOR_INLINE pack<T, N> whole_quotient(pack<T, N> a, pack<T, N> b);  // pack_convert.hpp

/// The mask of N lanes: result of a comparison of packs of any element type, selector for packs of any element type.
template <int N>
struct pack<bool, N> {
  static constexpr int lane_bytes = simd::mask_lane_bytes<N>();
  static constexpr int width = simd::mask_register<lane_bytes>::width, count = N / width, size = N;
  using value_type = bool;
  using reg = typename simd::mask_register<lane_bytes>::type;
  reg r[count];

  pack() = default;
  TTENSOR_HD TTENSOR_INLINE pack(bool b) {
    if constexpr (lane_bytes == 0) { TTENSOR_EACH(i) r[i] = b; }
#if TTENSOR_HAS_REGISTERS
    else { TTENSOR_EACH(i) r[i] = simd::mask_splat<reg>(b); }
#endif
  }
  TTENSOR_INLINE bool operator[](int i) const {
    if constexpr (lane_bytes == 0) return r[i];
#if TTENSOR_HAS_REGISTERS
    else return simd::mask_lane(r[i / width], i % width);
#endif
  }
  TTENSOR_INLINE static pack load(const bool* p) {
    pack m;
    if constexpr (lane_bytes == 0) { TTENSOR_EACH(i) m.r[i] = p[i]; }
#if TTENSOR_HAS_REGISTERS
    else { TTENSOR_EACH(i) m.r[i] = simd::mask_from_bools<reg>(p + i * width); }
#endif
    return m;
  }
  TTENSOR_INLINE void store(bool* p) const {
    if constexpr (lane_bytes == 0) { TTENSOR_EACH(i) p[i] = r[i]; }
#if TTENSOR_HAS_REGISTERS
    else { TTENSOR_EACH(i) simd::store_mask(r[i], p + i * width); }
#endif
  }

#if TTENSOR_HAS_REGISTERS
  // From and to masks of one element size: 8-byte masks pair up into 4-byte ones where N fills whole 4-byte registers.
  template <int B>
  TTENSOR_INLINE static pack from_masks(const simd::mask<B>* m) {
    static_assert(lane_bytes == B || (lane_bytes == 4 && B == 8));
    pack out;
    TTENSOR_EACH(i) {
      if constexpr (lane_bytes == B) out.r[i] = m[i];
      else out.r[i] = simd::join(m[2 * i], m[2 * i + 1]);
    }
    return out;
  }
  template <int B>
  TTENSOR_INLINE simd::mask<B> mask_at(int i) const {
    if constexpr (lane_bytes == B) return r[i];
    else return i % 2 == 0 ? simd::low_half(r[i / 2]) : simd::high_half(r[i / 2]);
  }
#endif

  friend TTENSOR_INLINE pack operator&(pack a, pack b) { TTENSOR_EACH(i) a.r[i] = (reg)(a.r[i] & b.r[i]); return a; }
  friend TTENSOR_INLINE pack operator|(pack a, pack b) { TTENSOR_EACH(i) a.r[i] = (reg)(a.r[i] | b.r[i]); return a; }
  friend TTENSOR_INLINE pack operator^(pack a, pack b) { TTENSOR_EACH(i) a.r[i] = (reg)(a.r[i] ^ b.r[i]); return a; }
  friend TTENSOR_INLINE pack operator&&(pack a, pack b) { return a & b; }
  friend TTENSOR_INLINE pack operator||(pack a, pack b) { return a | b; }
  friend TTENSOR_INLINE pack operator!=(pack a, pack b) { return a ^ b; }
  friend TTENSOR_INLINE pack operator==(pack a, pack b) { return !(a ^ b); }
  friend TTENSOR_INLINE pack operator!(pack a) {
    if constexpr (lane_bytes == 0) { TTENSOR_EACH(i) a.r[i] = !a.r[i]; }
    else { TTENSOR_EACH(i) a.r[i] = (reg)~a.r[i]; }
    return a;
  }
  friend TTENSOR_INLINE pack operator~(pack a) { return !a; }
  friend TTENSOR_INLINE pack operator<(pack a, pack b) { return ~a & b; }  // false < true
  friend TTENSOR_INLINE pack operator>(pack a, pack b) { return a & ~b; }
  friend TTENSOR_INLINE pack operator<=(pack a, pack b) { return ~a | b; }
  friend TTENSOR_INLINE pack operator>=(pack a, pack b) { return a | ~b; }
  friend TTENSOR_INLINE pack select(pack m, pack a, pack b) { return (m & a) | (~m & b); }
  friend TTENSOR_INLINE bool all_lanes(pack a) {
    bool yes = true;
    if constexpr (lane_bytes == 0) { TTENSOR_EACH(i) yes = yes && a.r[i]; }
#if TTENSOR_HAS_REGISTERS
    else { reg m = a.r[0]; TTENSOR_EACH(i) m = (reg)(m & a.r[i]); yes = simd::all(m); }
#endif
    return yes;
  }
  friend TTENSOR_INLINE bool any_lane(pack a) {
    bool yes = false;
    if constexpr (lane_bytes == 0) { TTENSOR_EACH(i) yes = yes || a.r[i]; }
#if TTENSOR_HAS_REGISTERS
    else { reg m = a.r[0]; TTENSOR_EACH(i) m = (reg)(m | a.r[i]); yes = simd::any(m); }
#endif
    return yes;
  }
};

template <class T, int N>
struct pack {
  static constexpr bool registers = simd::in_registers<T, N>, small = simd::in_small_vector<T, N>;
  static constexpr int width = registers ? native_width_v<T> : 1, count = N / width, size = N;
  using value_type = T;
  using reg = typename simd::register_of<T, registers>::type;
  using wrapping = typename simd::register_of<T, registers>::wrapping;
  using mask = pack<bool, N>;
  reg r[count];

  pack() = default;
  TTENSOR_HD TTENSOR_INLINE pack(T x) {
    if constexpr (registers) { TTENSOR_EACH(i) r[i] = x - reg{}; }  // scalar - vector broadcasts; -0 - 0 is -0
    else { TTENSOR_EACH(i) r[i] = x; }
  }
  TTENSOR_INLINE static pack load(const T* p) {
    pack a;
    if constexpr (small) __builtin_memcpy(a.r, p, sizeof(a.r));
    else if constexpr (registers) { TTENSOR_EACH(i) __builtin_memcpy(&a.r[i], p + i * width, sizeof(reg)); }
    else { TTENSOR_EACH(i) a.r[i] = p[i]; }
    return a;
  }
  TTENSOR_INLINE void store(T* p) const {
    if constexpr (small) __builtin_memcpy(p, r, sizeof(r));
    else if constexpr (registers) { TTENSOR_EACH(i) __builtin_memcpy(p + i * width, &r[i], sizeof(reg)); }
    else { TTENSOR_EACH(i) p[i] = r[i]; }
  }
  TTENSOR_INLINE T operator[](int i) const {
    if constexpr (registers) return r[i / width][i % width];
    else return r[i];
  }

  /// f of the lanes as vectors of unsigned integers; of small ones only.
  template <class F> TTENSOR_INLINE static pack vectors(F f, pack a, pack b) {
    simd::vec<std::make_unsigned_t<T>, N * int(sizeof(T))> x, y;
    __builtin_memcpy(&x, a.r, sizeof(x));
    __builtin_memcpy(&y, b.r, sizeof(y));
    x = f(x, y);
    __builtin_memcpy(a.r, &x, sizeof(x));
    return a;
  }
#define TTENSOR_PACK_BINARY(op, of_vectors)                                          \
  friend TTENSOR_INLINE pack operator op(pack a, pack b) {                          \
    if constexpr (small) return vectors([](auto x, auto y) { return of_vectors; }, a, b); \
    TTENSOR_EACH(i) a.r[i] = (reg)((wrapping)a.r[i] op (wrapping)b.r[i]);           \
    return a;                                                                       \
  }                                                                                 \
  friend TTENSOR_INLINE pack& operator op##=(pack& a, pack b) { return a = a op b; }
  TTENSOR_PACK_BINARY(+, x + y)
  TTENSOR_PACK_BINARY(-, x - y)
  TTENSOR_PACK_BINARY(*, simd::times(x, y))
  TTENSOR_PACK_BINARY(&, x & y)
  TTENSOR_PACK_BINARY(|, x | y)
  TTENSOR_PACK_BINARY(^, x ^ y)
#undef TTENSOR_PACK_BINARY

  friend TTENSOR_INLINE pack operator-(pack a) {
    if constexpr (std::numeric_limits<T>::is_integer) { TTENSOR_EACH(i) a.r[i] = (reg)(wrapping{} - (wrapping)a.r[i]); }
    else { TTENSOR_EACH(i) a.r[i] = -a.r[i]; }
    return a;
  }
  friend TTENSOR_INLINE pack operator+(pack a) { return a; }
  friend TTENSOR_INLINE pack operator~(pack a) { TTENSOR_EACH(i) a.r[i] = (reg)~a.r[i]; return a; }
  /// Floating point: IEEE. Integers truncate; x / 0 = 0, x % 0 = 0, lowest / -1 wraps.
  friend TTENSOR_INLINE pack operator/(pack a, pack b) {
    if constexpr (!std::numeric_limits<T>::is_integer) { TTENSOR_EACH(i) a.r[i] = a.r[i] / b.r[i]; }
    else if constexpr (divides_in_floats<T, N>) return whole_quotient(a, b);
    else if constexpr (registers) { for (int i = 0; i < N; ++i) a.r[i / width][i % width] = simd::div<T>(a[i], b[i]); }
    else { TTENSOR_EACH(i) a.r[i] = simd::div<T>(a.r[i], b.r[i]); }
    return a;
  }
  friend TTENSOR_INLINE pack operator%(pack a, pack b) {
    if constexpr (small && divides_in_floats<T, N>) return vectors([](auto rest, auto y) { return rest & (decltype(rest))(y != 0); }, a - whole_quotient(a, b) * b, b);
    else if constexpr (divides_in_floats<T, N>) return select(b == pack(T(0)), b, a - whole_quotient(a, b) * b);
    else if constexpr (registers) { for (int i = 0; i < N; ++i) a.r[i / width][i % width] = simd::mod<T>(a[i], b[i]); }
    else { TTENSOR_EACH(i) a.r[i] = simd::mod<T>(a.r[i], b.r[i]); }
    return a;
  }
  friend TTENSOR_INLINE pack& operator/=(pack& a, pack b) { return a = a / b; }
  /// Left shifts drop bits; right shifts of signed types keep the sign. An int as the count must lie in [0, bits).
  friend TTENSOR_INLINE pack operator<<(pack a, int s) { TTENSOR_EACH(i) a.r[i] = (reg)((wrapping)a.r[i] << s); return a; }
  friend TTENSOR_INLINE pack operator>>(pack a, int s) { TTENSOR_EACH(i) a.r[i] = (reg)(a.r[i] >> s); return a; }
  friend TTENSOR_INLINE pack operator<<(pack a, pack s) { TTENSOR_EACH(i) a.r[i] = simd::shift_left<T>(a.r[i], s.r[i]); return a; }
  friend TTENSOR_INLINE pack operator>>(pack a, pack s) { TTENSOR_EACH(i) a.r[i] = simd::shift_right<T>(a.r[i], s.r[i]); return a; }

#if TTENSOR_HAS_REGISTERS
#define TTENSOR_PACK_COMPARE(op, function, x, y)                                            \
  friend TTENSOR_INLINE mask operator op(pack a, pack b) {                                  \
    if constexpr (registers) {                                                              \
      simd::mask<sizeof(T)> m[count];                                                       \
      TTENSOR_EACH(i) m[i] = simd::function(x.r[i], y.r[i]);                             \
      return mask::template from_masks<sizeof(T)>(m);                                       \
    } else {                                                                                \
      bool m[N];                                                                            \
      for (int i = 0; i < N; ++i) m[i] = a.r[i] op b.r[i];                                  \
      return mask::load(m);                                                                 \
    }                                                                                       \
  }
#else
#define TTENSOR_PACK_COMPARE(op, function, x, y)                                            \
  friend TTENSOR_INLINE mask operator op(pack a, pack b) {                                  \
    mask m;                                                                                 \
    TTENSOR_EACH(i) m.r[i] = a.r[i] op b.r[i];                                              \
    return m;                                                                               \
  }
#endif
  TTENSOR_PACK_COMPARE(==, eq, a, b)
  TTENSOR_PACK_COMPARE(!=, ne, a, b)
  TTENSOR_PACK_COMPARE(<, lt, a, b)
  TTENSOR_PACK_COMPARE(<=, le, a, b)
  TTENSOR_PACK_COMPARE(>, lt, b, a)
  TTENSOR_PACK_COMPARE(>=, le, b, a)
#undef TTENSOR_PACK_COMPARE

  /// Lane by lane m ? a : b.
  friend TTENSOR_INLINE pack select(mask m, pack a, pack b) {
#if TTENSOR_HAS_REGISTERS
    if constexpr (registers) {
      TTENSOR_EACH(i) a.r[i] = simd::select(m.template mask_at<sizeof(T)>(i), a.r[i], b.r[i]);
      return a;
    }
#endif
    if constexpr (small) {
      return vectors([&](auto x, auto y) {
        simd::vec<signed char, N> yes;
        m.store(reinterpret_cast<bool*>(&yes));
        return y ^ ((x ^ y) & __builtin_convertvector(-yes, decltype(x)));
      }, a, b);
    }
    if constexpr (!registers) { TTENSOR_EACH(i) a.r[i] = m[i] ? a.r[i] : b.r[i]; }
    return a;
  }
  /// a * b + c; one rounding where the target has FMA (TTENSOR_HAS_FMA), two where it has not.
  friend TTENSOR_INLINE pack fma(pack a, pack b, pack c) {
    if constexpr (__is_same(T, float) || __is_same(T, double)) {
      TTENSOR_EACH(i) a.r[i] = simd::fma(a.r[i], b.r[i], c.r[i]);
      return a;
    } else {
      return a * b + c;
    }
  }
  /// f over all lanes in a fixed tree: lane i with lane i + n/2, then the first half again. N must be a power of two.
  template <class F>
  friend TTENSOR_INLINE T fold(pack a, F f) {
    static_assert((N & (N - 1)) == 0, "fold: the number of lanes must be a power of two");
    T lane[N];
    a.store(lane);
    TTENSOR_UNROLL for (int h = N / 2; h > 0; h /= 2) {
      TTENSOR_UNROLL for (int i = 0; i < h; ++i) lane[i] = f(lane[i], lane[i + h]);
    }
    return lane[0];
  }
};
#undef TTENSOR_EACH

TTENSOR_END
