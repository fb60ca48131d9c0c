// Which call of a transform a mapped value belongs to, and in checked builds (TTENSOR_CHECK_LEVELS) a dual.
//
// The level of a value is the depth of its type. A value that outlives its transform, or reaches another function past the probe
// (a global, std::any, a pointer), can so have the type of a level that it is not of. Taped values know their tape; mapped ones, and duals
// of checked builds, carry the call that made them, and an operation throws where it meets one that has ended, or two at one depth.
// What the library makes inside a transform without arguments of a level counts as a constant, which meets anything.
#pragma once
#include "../base/error.hpp"
#include "../mem/atomic.hpp"
#include "kinds.hpp"

// Code about the calls of duals: only where they have them, since a dual is two numbers in a register elsewhere.
#if TTENSOR_CHECK_LEVELS
#define TTENSOR_DUAL_CALL(...) __VA_ARGS__
#else
#define TTENSOR_DUAL_CALL(...)
#endif

TTENSOR_BEGIN

/// The call of a transform; `open` is null for a constant, and where it is not known (number 1), since parts of an array are of several calls.
struct level_call {
  const mem::atomic<std::uint64_t>* open = nullptr;  // holds `number` while the call runs: not looked up, since each shared library may have its own words
  std::uint64_t number = 0;
  bool live() const { return open->load(mem::order::relaxed) == number; }
  bool operator==(const level_call&) const = default;
};

namespace level_calls {
/// Functions of the user that a sweep runs once more, whose captures may be of a vmap that has ended since, and copies: they may touch what must not be used.
inline constinit thread_local int unchecked_now = 0;
struct unchecked {
  unchecked() { ++unchecked_now; }
  unchecked(const unchecked&) = delete;
  unchecked& operator=(const unchecked&) = delete;
  ~unchecked() { --unchecked_now; }
};
/// `a` becomes the call of a result of values of a and b. Throws level_error [TT-L06, TT-L07].
void meet(level_call& a, const level_call& b);
/// `a` becomes the call of an array into which values of b are written. What it held of calls that have ended, or of an outer one, is not read any more: memory is
/// used again. Throws where b is of an outer call.
void write(level_call& a, const level_call& b);
#if defined(TTENSOR_BODY)
TTENSOR_BODY void meet(level_call& a, const level_call& b) {
  if (!b.open || a == b) return;
  if (!b.live() && unchecked_now == 0)
    raise<level_error>(
        "[dual, batched] a value of a transform is used after the transform has ended; return it from the function instead [TT-L06]");
  if (a.open)
    raise<level_error>(
        "[dual, batched] values of two calls of a transform meet, and their types do not show which is inside: one of them reached the function past "
        "its captures (a global, std::any, a pointer); capture it, pass it as an argument, or name it in closing_over(x...) [TT-L07]");
  a = b;
}
TTENSOR_BODY void write(level_call& a, const level_call& b) {
  if (a.open && !a.live()) a = {};
  if (!b.open || a == b) return;
  if (a.open && a.number > b.number) meet(a, b);
  a = a.open || a.number ? level_call{nullptr, 1} : b;
}
#endif

/// Names of levels: mapped ones are counted without other kinds, since mapped integers store no others.
template <class S> inline constexpr int name = is_batched_v<S> ? 2 * batch_levels_v<S> : 2 * depth_v<S> + 1;
/// f(name, call) for each level of a scalar, a store, a snapshot or a leaf that says its calls.
template <class X, class F> constexpr void each(X& x, F&& f) {
  using T = std::remove_const_t<X>;
  if constexpr (requires { T::each_call(x, f); }) T::each_call(x, f);
  else if constexpr (requires { T::holds; x.data; }) each(x.data, f);
  else if constexpr (requires { T::holds; x.value; }) each(x.value, f);
}
/// Whether a statement of scalar E into scalars S has calls to look at. Either may have levels that the other lacks: masks keep none but mapped ones, constants gain some.
template <class S, class E>
inline constexpr bool tracked = batch_levels_v<S> > 0 || batch_levels_v<E> > 0 ||
                                (TTENSOR_CHECK_LEVELS && (scalar_traits<S>::has_dual || scalar_traits<E>::has_dual));
/// The calls that such a statement meets.
template <class S, class E> struct met {};
template <class S, class E> requires tracked<S, E> struct met<S, E> {
  static constexpr int count = 2 * (depth_v<S> > depth_v<E> ? depth_v<S> : depth_v<E>) + 2;
  level_call at[count];
  template <class X> void look(const X& x) {
    each(x, [&](int level, const level_call& c) {
      if (level < count && c.open && !(at[level] == c)) meet(at[level], c);
    });
  }
  template <class X> void give(X& x) const {
    each(x, [&](int level, level_call& c) { c = at[level]; });
  }
  template <class X> void give_part(X& x) const {
    each(x, [&](int level, level_call& c) { write(c, at[level]); });
  }
};

/// A call that runs: gives itself to the leaves of its arguments.
class running {
 public:
  running();
  running(const running&) = delete;
  running& operator=(const running&) = delete;
  ~running();
  template <class X> void give(X& x, int level) const {
    each(x, [&](int l, level_call& c) {
      if (l == level) c = call_;
    });
  }
  /// Throws where a leaf of the result is of another call.
  template <class X> void check(const X& x, int level) const {
    each(x, [&](int l, const level_call& c) {
      level_call a = call_;
      if (l == level && call_.open) meet(a, c);
    });
  }

 private:
  struct words {
    mem::atomic<std::uint64_t> last;
    mem::atomic<std::uint64_t> word[64];  // with more calls at once the others count as constants
  };
  static words& all();
  level_call call_;
};
#if defined(TTENSOR_BODY)
TTENSOR_BODY running::words& running::all() {
  static constinit words w;
  return w;
}
TTENSOR_BODY running::running() {
  words& w = all();
  const std::uint64_t number = w.last.fetch_add(1, mem::order::relaxed) + 1;
  for (auto& word : w.word)
    if (word.load(mem::order::relaxed) == 0 && word.replace(0, number)) {
      call_ = {&word, number};
      return;
    }
}
TTENSOR_BODY running::~running() {
  if (call_.open) const_cast<mem::atomic<std::uint64_t>*>(call_.open)->store(0, mem::order::relaxed);
}
#endif
}  // namespace level_calls

TTENSOR_END
