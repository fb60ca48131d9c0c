// dual<T, N>: forward mode. A value and N tangents; every operator follows one rule, the sum of partial times tangent.
//   y = f(x1, x2)   ->   y_dot = df/dx1 * x1_dot + df/dx2 * x2_dot
// As an element type a dual is stored in planes, never as an array of structs.
#pragma once
#include "../expr/level_call.hpp"
#include "../ops/cast.hpp"
#include "../ops/selection.hpp"
#include "../tensor/store.hpp"
#include "dual_lanes.hpp"

TTENSOR_HD_BEGIN

namespace dual_detail {
template <class T, int N> struct members {
  T value;
  array<T, N> tangent;
  TTENSOR_DUAL_CALL(level_call call{};)
  TTENSOR_HD constexpr T& tangent_at(int k) { return tangent[k]; }
  TTENSOR_HD constexpr const T& tangent_at(int k) const { return tangent[k]; }
};
template <class T> struct members<T, 1> {
  T value;
  T tangent;
  TTENSOR_DUAL_CALL(level_call call{};)
  TTENSOR_HD constexpr T& tangent_at(int) { return tangent; }
  TTENSOR_HD constexpr const T& tangent_at(int) const { return tangent; }
};
}  // namespace dual_detail

template <class T, int N> struct dual : dual_detail::members<T, N> {
  using base = dual_detail::members<T, N>;
  dual() = default;
  TTENSOR_HD constexpr dual(const T& v, const T& t) requires(N == 1) : base{v, t} {}
  TTENSOR_HD constexpr dual(const T& v, const array<T, N>& t) requires(N > 1) : base{v, t} {}
  /// A constant: numbers and values of older levels have tangent 0.
  template <class U> requires((any_scalar<U> || is_pack_v<U>) && std::is_convertible_v<U, T> &&
                              !std::is_same_v<std::remove_cvref_t<U>, dual>)
  TTENSOR_HD constexpr dual(const U& c) : base{} {
    if constexpr (cpp_number<U>) this->value = T(static_cast<lane_t<elem_t<T>>>(c));
    else this->value = T(c);
    for (int k = 0; k < N; ++k) this->tangent_at(k) = T(lane_t<elem_t<T>>(0));
  }
  template <class U> void operator=(const probe<U>& p) & { static_cast<void>(probe<dual>(p)); }  // refuses what has no place here
  TTENSOR_HD static constexpr dual convert(const auto& o) {  // from a dual of another lane type
    dual r;
    r.value = convert_value<T>(o.value);
    for (int k = 0; k < N; ++k) r.tangent_at(k) = convert_value<T>(o.tangent_at(k));
    TTENSOR_DUAL_CALL(r.call = o.call;)
    return r;
  }
  template <class Self, class F> static constexpr void each_call(Self& x, F&& f) {
    TTENSOR_DUAL_CALL(f(level_calls::name<dual>, x.call);)
    level_calls::each(x.value, f);
    for (int k = 0; k < N; ++k) level_calls::each(x.tangent_at(k), f);
  }
  /// Of the value part(-1) and the tangents part(k), each made in its place.
  template <class F> static dual of_parts(const F& part) { return dual(part, std::make_integer_sequence<int, N>{}); }
  bool is_copy_of(const dual& o) const {
    bool yes = this->value.is_copy_of(o.value);
    for (int k = 0; k < N; ++k) yes = yes && this->tangent_at(k).is_copy_of(o.tangent_at(k));
    return yes;
  }
  /// This number, which has no elements then: for a temporary that nobody uses again.
  dual taken() noexcept {
    dual x = of_parts([this](int k) { return (k < 0 ? this->value : this->tangent_at(k)).taken(); });
    TTENSOR_DUAL_CALL(x.call = this->call;)
    return x;
  }
  bool same(const dual& o) const requires(depth_v<T> == 0 || has_same<T>) {
    bool yes = expr::same_number(this->value, o.value);
    TTENSOR_DUAL_CALL(yes = yes && this->call == o.call;)
    for (int k = 0; k < N; ++k) yes = yes && expr::same_number(this->tangent_at(k), o.tangent_at(k));
    return yes;
  }
  template <class F> void planes(F&& f) const {  // as a scalar leaf
    scalar_leaf_planes(this->value, f);
    for (int k = 0; k < N; ++k) scalar_leaf_planes(this->tangent_at(k), f);
  }

 private:
  template <class F, int... K> dual(const F& part, std::integer_sequence<int, K...>) requires(N == 1) : base{part(-1), part(0)} {}
  template <class F, int... K> dual(const F& part, std::integer_sequence<int, K...>) requires(N > 1) : base{part(-1), {{part(K)...}}} {}
  template <class U, class F> static void scalar_leaf_planes(const U& u, F& f) {
    if constexpr (depth_v<U> == 0) f(std::type_identity<U>{}, plane<0>{&u, {}, {}, nullptr});
    else u.planes(f);
  }
};

template <class T, int N> struct kind_rule<dual<T, N>> {
  static constexpr int depth = depth_v<dual<T, N>>;
  template <class A> static constexpr bool is_ours = depth_v<std::remove_cvref_t<A>> == depth;
  using lane_type = lane_t<elem_t<T>>;  // double for duals of double and of pack<double, N>

  template <class A> TTENSOR_HD TTENSOR_INLINE static constexpr decltype(auto) value(const A& a) {
    if constexpr (is_ours<A>) return (a.value);
    else if constexpr (cpp_number<A> && !std::is_same_v<A, bool>) return static_cast<weak_t<lane_type, A>>(a);
    else return (a);
  }
  template <class Op, class... A> TTENSOR_HD TTENSOR_INLINE static constexpr auto apply(const A&... a) {
    if constexpr (Op::differentiable && batch_levels_v<T> > 0) {
      return kind_rule<batched<elem_t<T>>>::template apply<Op>(a...);  // of examples: one loop for the value and the tangents
    } else if constexpr (!Op::differentiable) {
      TTENSOR_DUAL_CALL(static_cast<void>(met(a...));)
      return ttensor::apply<Op>(value(a)...);
    } else {
      TTENSOR_DUAL_CALL(const level_call call = met(a...);)
      const auto y = ttensor::apply<Op>(value(a)...);
      const auto p = Op::partials(value(a)..., y);
      using Y = std::remove_cv_t<decltype(y)>;
      dual<Y, N> r;
      r.value = y;
      TTENSOR_DUAL_CALL(r.call = call;)
      [&]<int... I>(std::integer_sequence<int, I...>) {
        using active = int_list<(is_active<A, partial_t<I, decltype(p)>>() ? I : -1)...>;
        const bundle<const A&...> operands{{{a}...}};
        if constexpr ((fits_lanes<Y, A, partial_t<I, decltype(p)>>() && ...))
          if (!std::is_constant_evaluated()) return dual_lanes::combine<Op>(r.tangent, p, operands, active{});
        static_for<N>([&](auto k) { r.tangent_at(k) = sum<Op, Y>(k, p, operands, active{}); });
      }(std::make_integer_sequence<int, static_cast<int>(sizeof...(A))>{});
      return r;
    }
  }

 private:
  TTENSOR_DUAL_CALL(template <class... A> static constexpr level_call met(const A&... a) {
    level_call c;
    if constexpr (!is_pack_v<elem_t<T>>) ([&] {
      if constexpr (is_ours<A>)
        if (a.call.open) level_calls::meet(c, a.call);  // never in a constant expression
    }(), ...);
    return c;
  })
  template <class A, class P> static constexpr bool is_active() { return is_ours<A> && !std::is_same_v<P, no_partial>; }
  template <int I, class P> using partial_t = std::remove_cvref_t<decltype(at<I>(std::declval<P>()))>;
  template <class Y, class A, class P> static constexpr bool fits_lanes() {  // adds nothing, or tangents of the result's type
    if constexpr (N == 1 || dual_lanes::width<Y, N>() == 0) return false;
    else return !is_active<A, P>() || (std::is_same_v<T, Y> && dual_lanes::is_shared<P, Y>);
  }
  template <class Op, int I, class K, class P, class As>
  TTENSOR_HD TTENSOR_INLINE static constexpr auto term(K k, const P& p, const As& a) {
    return sweeping::forward_term<Op>(at<I>(a).tangent_at(k), at<I>(p));
  }
  // sum over the active operands, left to right
  template <class Op, class Y, class K, class P, class As, int... Todo>
  TTENSOR_HD TTENSOR_INLINE static constexpr Y sum(K k, const P& p, const As& a, int_list<Todo...>) {
    if constexpr (((Todo < 0) && ...)) return Y(lane_type(0));
    else return total<Op, Y>(k, p, a, int_list<Todo...>{});
  }
  template <class Op, class Y, class K, class P, class As, int First, int... Rest>
  TTENSOR_HD TTENSOR_INLINE static constexpr Y total(K k, const P& p, const As& a, int_list<First, Rest...>) {
    if constexpr (First < 0) return total<Op, Y>(k, p, a, int_list<Rest...>{});
    else if constexpr (((Rest < 0) && ...)) return convert_value<Y>(term<Op, First>(k, p, a));
    else return ttensor::apply<add_op>(convert_value<Y>(term<Op, First>(k, p, a)), total<Op, Y>(k, p, a, int_list<Rest...>{}));
  }
};

// ---- arrays of duals: one store per plane -----------------------------------------------------------------------------
template <class T, int N, bool Owns> struct snapshot<dual<T, N>, Owns> {
  snapshot<T, Owns> value;
  array<snapshot<T, Owns>, N> tangent;
  TTENSOR_DUAL_CALL(level_call call{};)
  static constexpr int holds = (1 + N) * snapshot<T>::holds;
  bool same(const snapshot& o) const requires has_same<snapshot<T, Owns>> {
    bool yes = value.same(o.value);
    TTENSOR_DUAL_CALL(yes = yes && call == o.call;)
    for (int k = 0; k < N; ++k) yes = yes && tangent[k].same(o.tangent[k]);
    return yes;
  }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) {
    value.each_hold(f);
    for (int k = 0; k < N; ++k) tangent[k].each_hold(f);
  }
  snapshot<dual<T, N>, false> release() { return each<false>(*this, [](auto& p) { return p.release(); }); }
  snapshot<dual<T, N>> owning() const { return each<true>(*this, [](auto& p) { return p.owning(); }); }
  snapshot<dual<T, N>, false> borrowed() const { return each<false>(*this, [](auto& p) { return p.borrowed(); }); }
  template <class F> TTENSOR_INLINE void planes(F&& f) const {
    value.planes(f);
    for (int k = 0; k < N; ++k) tangent[k].planes(f);
  }
  template <class Self, class F> static void each_call(Self& s, F&& f) {
    TTENSOR_DUAL_CALL(f(level_calls::name<dual<T, N>>, s.call);)
    level_calls::each(s.value, f);
    for (int k = 0; k < N; ++k) level_calls::each(s.tangent[k], f);
  }

 private:
  template <bool Owning, class Self, class F> static snapshot<dual<T, N>, Owning> each(Self& self, const F& f) {
    snapshot<dual<T, N>, Owning> s{f(self.value), {}};
    for (int k = 0; k < N; ++k) s.tangent[k] = f(self.tangent[k]);
    TTENSOR_DUAL_CALL(s.call = self.call;)
    return s;
  }
};
template <class T, int N> class store<dual<T, N>> {
 public:
  using S = dual<T, N>;
  store<T> value_;
  array<store<T>, N> tangent_;
  TTENSOR_DUAL_CALL(struct call_cell {
    level_call call{};
    mem::atomic<int> holders = 1;
  };
  mutable mem::shared_cell<call_cell> told;)  // shared with views, as the elements are; null: constants

  store() = default;
  store(store<T> v, array<store<T>, N> t) : value_(static_cast<store<T>&&>(v)), tangent_(static_cast<array<store<T>, N>&&>(t)) {}
  static store make(index_t n, const dims<batch_levels_v<S>>& b = ones<batch_levels_v<S>>()) {
    store s;
    s.each([&](store<T>& p) { p = store<T>::make(n, b); });
    return s;
  }
  static store over(const snapshot<S>& v, index_t n) {
    store s;
    s.value_ = store<T>::over(v.value, n);
    for (int k = 0; k < N; ++k) s.tangent_[k] = store<T>::over(v.tangent[k], n);
    TTENSOR_DUAL_CALL(s.tell(v.call);)
    return s;
  }
  index_t size() const { return value_.size(); }
  bool valid() const { return value_.valid(); }
  bool is_borrowed() const { return value_.is_borrowed(); }
  S get(index_t i) const { return number(*this, [i](const store<T>& p) { return p.get(i); }); }
  S scalar() const& { return number(*this, [](const store<T>& p) { return p.scalar(); }); }
  S scalar() && { return number(*this, [](store<T>& p) { return static_cast<store<T>&&>(p).scalar(); }); }
  void set(index_t i, const S& x) {
    TTENSOR_DUAL_CALL(auto c = call(); level_calls::write(c, x.call); tell(c);)
    own_memory(*this);  // of all planes first, as memory may fail
    value_.set(i, x.value);
    for (int k = 0; k < N; ++k) tangent_[k].set(i, x.tangent_at(k));
  }
  void zero() { each([](store<T>& p) { p.zero(); }); }
  snapshot<S, false> bare() const {
    snapshot<S, false> s{value_.bare(), {}};
    for (int k = 0; k < N; ++k) s.tangent[k] = tangent_[k].bare();
    TTENSOR_DUAL_CALL(s.call = call();)
    return s;
  }
  snapshot<S> snap() const {
    snapshot<S> s{value_.snap(), {}};
    for (int k = 0; k < N; ++k) s.tangent[k] = tangent_[k].snap();
    TTENSOR_DUAL_CALL(s.call = call();)
    return s;
  }
  store alias() const {
    store s = map([](const store<T>& p) { return p.alias(); });
    TTENSOR_DUAL_CALL(if (!told) told = mem::shared_cell<call_cell>(new call_cell{}); s.told = told;)
    return s;
  }
  store value() const {
    store s = map([](const store<T>& p) { return p.value(); });
    TTENSOR_DUAL_CALL(s.tell(call());)
    return s;
  }
  template <class F> void cells(F&& f) { each([&](store<T>& p) { p.cells(f); }); }
  template <class F> void planes(F&& f) { each([&](store<T>& p) { p.planes(f); }); }
  void adopt(store&& o) {
    value_.adopt(static_cast<store<T>&&>(o.value_));
    for (int k = 0; k < N; ++k) tangent_[k].adopt(static_cast<store<T>&&>(o.tangent_[k]));
    TTENSOR_DUAL_CALL(tell(o.call());)
  }
  dims<batch_levels_v<S>> batch() const {  // the planes may be mapped differently
    auto b = value_.batch();
    for (int k = 0; k < N; ++k) {
      const auto c = tangent_[k].batch();
      for (int d = 0; d < c.size(); ++d) eval_detail::meet_batch(b[d], c[d]);
    }
    return b;
  }
  void require_batch(const dims<batch_levels_v<S>>& b) { each([&](store<T>& p) { p.require_batch(b); }); }
  TTENSOR_DUAL_CALL(level_call call() const { return told ? told->call : level_call{}; }
  void tell(const level_call& c) {
    if (told) told->call = c;
    else if (c != level_call{}) told = mem::shared_cell<call_cell>(new call_cell{c});
  })
  template <class Self, class F> static void each_call(Self& s, F&& f) {
    TTENSOR_DUAL_CALL(level_call c = s.call();
    f(level_calls::name<S>, c);
    if constexpr (!std::is_const_v<Self>) s.tell(c);)
    level_calls::each(s.value_, f);
    for (int k = 0; k < N; ++k) level_calls::each(s.tangent_[k], f);
  }

 private:
  template <class F> void each(F&& f) {
    f(value_);
    for (int k = 0; k < N; ++k) f(tangent_[k]);
  }
  template <class Self, class F> static S number(Self& s, const F& plane) {
    S x = S::of_parts([&](int k) { return plane(k < 0 ? s.value_ : s.tangent_[k]); });
    TTENSOR_DUAL_CALL(x.call = s.call();)
    return x;
  }
  template <class F> store map(F&& f) const {
    store s;
    s.value_ = f(value_);
    for (int k = 0; k < N; ++k) s.tangent_[k] = f(tangent_[k]);
    return s;
  }
};

TTENSOR_HD_END
