// fixed<T, E...>: all extents in the type, elements inside the object: no allocation, usable in constant expressions.
#pragma once
#include "fixed_elements.hpp"
#include "tensor.hpp"

TTENSOR_BEGIN

template <class T, auto Shape> requires(depth_v<T> == 0 && shape::all_static<Shape>())
class tensor<T, Shape, host, row_major> : public array_interface<tensor<T, Shape, host, row_major>, T, shape::rank_of<Shape>()> {
  static constexpr int R = shape::rank_of<Shape>();
  static constexpr index_t N = shape::type_of<Shape>::static_size;
  using base = array_interface<tensor, T, R>;

 public:
  using ttensor_tensor = void;
  static constexpr int rank() { return R; }
  static constexpr auto shape_parameter = Shape;

  constexpr tensor() : v_{} {}
  explicit tensor(const dims<R>& e) : v_{} { check(e); }
  constexpr tensor(const tensor_detail::nested_t<T, R>& l) requires(R > 0) : v_{} {
    index_t at = 0;
    fill<R>(l, at, 0);
  }
  constexpr tensor(const T& v) requires(R == 0) : v_{} { v_[0] = v; }
  template <class E> requires(expression<E> || (array_object<E> && !std::is_same_v<std::remove_cvref_t<E>, tensor>))
  tensor(const E& e) : v_{} {
    *this = e;
  }
  tensor(const store<T>& s, const dims<R>& e) : v_{} {
    check(e);
    for (index_t i = 0; i < N; ++i) v_[i] = s.get(i);
  }
  template <class E> requires(expression<E> || (array_object<E> && !std::is_same_v<std::remove_cvref_t<E>, tensor>))
  tensor& operator=(const E& e) {
    static_assert(rank_v<E> == R, "ttensor: a fixed tensor is assigned from an expression of the same rank");
    if constexpr (requires { E::shape_parameter; })
      static_assert(shape::may_be_equal<Shape, E::shape_parameter>(),
                    "ttensor: the extents of a fixed tensor differ from those of the array that it is assigned from");
    if constexpr (expression<E> && std::is_same_v<scalar_t<E>, T> && fills<E>()) return take(e);
    else if constexpr (array_object<E> && std::is_same_v<scalar_t<E>, T> && requires { e.elements().data(); })
      return copy(e.map(), e.elements().data());
    else return take(tensor_detail::as_elem<T>(e));
  }
  template <any_scalar V> tensor& operator=(const V& v) {
    const T value = tensor_detail::weak_scalar<T>(v);
    for (T& x : v_) x = value;
    return *this;
  }
  template <class E> tensor& operator+=(const E& e) { return *this = *this + e; }
  template <class E> tensor& operator-=(const E& e) { return *this = *this - e; }
  template <class E> tensor& operator*=(const E& e) { return *this = *this * e; }
  template <class E> tensor& operator/=(const E& e) { return *this = *this / e; }
  template <class E> tensor& operator%=(const E& e) { return *this = *this % e; }
  template <class E> tensor& operator&=(const E& e) { return *this = *this & e; }
  template <class E> tensor& operator|=(const E& e) { return *this = *this | e; }
  template <class E> tensor& operator^=(const E& e) { return *this = *this ^ e; }
  template <class E> tensor& operator<<=(const E& e) { return *this = *this << e; }
  template <class E> tensor& operator>>=(const E& e) { return *this = *this >> e; }

  constexpr layout_map<R> map() const { return layout_map<R>::row_major(shape::static_dims<Shape>()); }
  store<T> elements() const {
    store<T> s = store<T>::make(N);
    std::memcpy(s.writable(), v_.v, sizeof(T) * static_cast<std::size_t>(N));
    return s;
  }
  store<T> place() { return store<T>::of_object(v_.v, N); }  // for views that alias this object, which must stay alive; expressions over them need not
  TTENSOR_INLINE fixed_leaf<T, Shape> as_leaf() const {
    fixed_leaf<T, Shape> l;
    l.copy(v_);
    return l;
  }

  template <class... I> requires(sizeof...(I) == R && (shape::is_index_v<I> && ...)) constexpr T& operator()(I... i) & {
    return v_[index(i...)];
  }
  template <class... I> requires(sizeof...(I) == R && (shape::is_index_v<I> && ...))
  constexpr T operator()(I... i) const& {
    return v_[index(i...)];
  }
  template <class... I> requires((tensor_detail::is_mapped_index_v<I> || ...) &&
                                 ((tensor_detail::is_mapped_index_v<I> || shape::is_index_v<I>) && ...))
  decltype(auto) operator()(const I&... i) const& {
    return tensor_detail::read_only(take_first(*this, i...));
  }
  template <class... A>
  requires((sizeof...(A) != R || !(shape::is_index_v<A> && ...)) && (shape::is_slice_v<std::remove_cvref_t<A>> && ...))
  auto operator()(const A&... a) & {  // aliases this object, which must stay alive
    auto m = shape::slice(map(), a...);
    return view_of<T, decltype(m.extent)::size()>(place(), m);
  }
  template <class... A>
  requires((sizeof...(A) != R || !(shape::is_index_v<A> && ...)) && (shape::is_slice_v<std::remove_cvref_t<A>> && ...))
  auto operator()(const A&... a) const& {
    auto m = shape::slice(map(), a...);
    return view_of<const T, decltype(m.extent)::size()>(elements(), m);
  }
  /// What transpose gives for a matrix that cannot be written through.
  auto transposed() const requires(R == 2 && N <= 64) {
    constexpr index_t m = shape::extent_of<Shape>(0), n = shape::extent_of<Shape>(1);
    tensor<T, extents<n, m>> y;
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) y.data()[j * m + i] = v_[i * n + j];
    return y;
  }
  constexpr operator T() const requires(R == 0) { return v_[0]; }
  constexpr const T* data() const { return v_.v; }
  constexpr T* data() { return v_.v; }

 private:
  template <class E> TTENSOR_INLINE tensor& take(const E& x) {
    static_assert(
        expr::extents_fit(leaves_of_t<E>{}, shape::static_dims<Shape>()),
        "ttensor: the extents of a fixed tensor differ from those of the expression that it is assigned from");
    ++counts.loops;
    if constexpr (fills<E>()) {  // leaves are copies, so this tensor may be one
      fixed_elements<T, E>::store(x, reinterpret_cast<char*>(v_.v));
    } else {
      check(x.shape());
      statement<T, E> st(x, {}, x.shape());
      array<T, static_cast<int>(N)> y;  // through a temporary: leaves may be this very tensor
      st.set_output(0, y.v, shape::row_major(st.extent));
      st.flat() ? st.run_flat() : st.run_planned();
      v_ = y;
    }
    return *this;
  }
  tensor& copy(const layout_map<R>& m, const T* from) {  // through a temporary: it may be a view of this very tensor
    check(m.extent);
    ++counts.loops;
    array<T, static_cast<int>(N)> y;
    index_t at = 0;
    copy_axis<0>(y, at, from + m.offset, m.stride);
    v_ = y;
    return *this;
  }
  template <int D> static void copy_axis(array<T, static_cast<int>(N)>& y, index_t& at, const T* from, const dims<R>& stride) {
    if constexpr (D == R) y[at++] = *from;
    else
      for (index_t i = 0; i < shape::extent_of<Shape>(D); ++i) copy_axis<D + 1>(y, at, from + i * stride[D], stride);
  }
  template <class E> static constexpr bool fills() {
    if constexpr (fixed_elements<T, E>::exists) return fixed_elements<T, E>::size == N;
    else return false;
  }
  static void check(const dims<R>& e) {
    for (int d = 0; d < R; ++d)
      if (e[d] != shape::extent_of<Shape>(d)) tensor_detail::fixed_extent(e[d], shape::extent_of<Shape>(d), d);
  }
  template <class... I> static constexpr index_t index(I... i) {
    const index_t v[] = {tensor_detail::element_index(i)..., 0};
    index_t at = 0;
    for (int d = 0; d < R; ++d) {
      const index_t n = shape::extent_of<Shape>(d);
      at = at * n + (TTENSOR_CHECK_BOUNDS ? shape::normalize_index(v[d], n, d) : v[d] < 0 ? v[d] + n : v[d]);
    }
    return at;
  }
  template <int Q> constexpr void fill(const tensor_detail::nested_t<T, Q>& l, index_t& at, int d) {
    if (static_cast<index_t>(l.size()) != shape::extent_of<Shape>(d))
      tensor_detail::fixed_extent(static_cast<index_t>(l.size()), shape::extent_of<Shape>(d), d);
    for (const auto& x : l) {
      if constexpr (Q > 1) fill<Q - 1>(x, at, d + 1);
      else v_[at++] = x;
    }
  }
  array<T, static_cast<int>(N)> v_;
};
/// Fixed extents: fixed<double, 3, 3>.
template <class T, index_t... E> using fixed = tensor<T, extents<E...>>;

TTENSOR_END
