// The sweep of a kernel: that of expr/sweep.hpp, but operators whose value and derivative come together for little more than one of them (sin and cos)
// have both computed at once where both are wanted. Such an operator names a type, `device_operand`, that its rules take in place of the operand.
#pragma once
#include "../expr/sweep.hpp"
#include "../num/device_pack.hpp"

TTENSOR_BEGIN
namespace run {
namespace device_detail {
/// What In takes in place of an operand of type V; void: V only.
template <class In, class V> struct known_operand { using type = void; };
template <class Op, int J, class T, int N> requires requires { typename Op::template device_operand<T, N>; }
struct known_operand<ins<Op, J>, device_pack<T, N>> {
  using type = std::conditional_t<std::is_same_v<T, float> || std::is_same_v<T, double>, typename Op::template device_operand<T, N>, void>;
};
template <class In> inline constexpr bool names_operand = !std::is_void_v<typename known_operand<In, device_pack<float, 1>>::type>;
}  // namespace device_detail

template <class Prog, class Leaves> struct informed_sweep;
template <int Root, class... Ins, class... L>
struct informed_sweep<program<Root, Ins...>, type_list<L...>> : sweep<program<Root, Ins...>, type_list<L...>> {
  using base = sweep<program<Root, Ins...>, type_list<L...>>;
  using typename base::leaf_values, typename base::numbers, typename base::result, typename base::values;
  using base::M;
  template <class CT> using adjoints = typename base::template adjoints<CT>;

  template <int I, class In = at_t<I, typename base::instructions>> struct asked { using type = void; };
  template <int I, class Op, int J> struct asked<I, ins<Op, J>> : device_detail::known_operand<ins<Op, J>, typename base::template value_t<J>> {};
  /// Of every instruction the first that asks for the same of the same operand, where that is wanted more than once: as values that are read, or for
  /// derivatives. It keeps what is known for all of them. Else -1: one function alone is cheaper. Active 0: no derivatives, all values.
  template <std::uint64_t Active> static constexpr array<int, M> keeper = []<int... I>(std::integer_sequence<int, I...>) {
    constexpr auto& facts = base::template known<Active>;
    const bool asks[] = {!std::is_void_v<typename asked<I>::type>...};
    const int family[] = {lowering::first_like<typename asked<I>::type, typename asked<I>::type...>()...};
    array<int, M> k{{(static_cast<void>(I), -1)...}};
    for (int i = 0; i < M; ++i) {
      int first = -1, wanted = 0;
      for (int j = 0; j < M; ++j)
        if (asks[i] && asks[j] && family[i] == family[j] && base::facts_of[i].operand[0] == base::facts_of[j].operand[0]) {
          if (first < 0) first = j;
          wanted += (Active == 0 || facts.at[j].needed) + facts.at[j].active;
        }
      if (wanted > 1) k.v[i] = first;
    }
    return k;
  }(numbers{});
  struct nothing {};
  template <std::uint64_t Active, class S> struct kept;
  template <std::uint64_t Active, int... I> struct kept<Active, std::integer_sequence<int, I...>> {
    using type = bundle<std::conditional_t<keeper<Active>.v[I] == I, typename asked<I>::type, nothing>...>;
  };
  template <std::uint64_t Active> using kept_t = typename kept<Active, numbers>::type;

  template <std::uint64_t Active, int I, int K> TTENSOR_HD TTENSOR_INLINE static constexpr void step(values& v, kept_t<Active>&, const leaf_values& l, ld<K>) {
    at<I>(v) = at<K>(l);
  }
  template <std::uint64_t Active, int I, class Op, int... J>
  TTENSOR_HD TTENSOR_INLINE static constexpr void step(values& v, kept_t<Active>& known, const leaf_values&, ins<Op, J...> in) {
    constexpr int from = keeper<Active>.v[I];
    if constexpr (from < 0) base::template step<I>(v, in);
    else {
      if constexpr (from == I) at<I>(known) = typename asked<I>::type(at<J>(v)...);
      at<I>(v) = apply<Op>(at<from>(known));
    }
  }
  template <std::uint64_t Active, int... I>
  TTENSOR_HD TTENSOR_INLINE static constexpr void forward(values& v, kept_t<Active>& known, const leaf_values& l, std::integer_sequence<int, I...>) {
    (step<Active, I>(v, known, l, at_t<I, typename base::instructions>{}), ...);
  }
  TTENSOR_HD TTENSOR_INLINE static constexpr result run(const leaf_values& l) {
    values v;
    kept_t<0> known;
    forward<0>(v, known, l, numbers{});
    return at<Root>(v);
  }

  template <std::uint64_t Active, class CT, int I, class Op, int... J>
  TTENSOR_HD TTENSOR_INLINE static constexpr void back(const values& v, const kept_t<Active>& known, adjoints<CT>& a, ins<Op, J...> in) {
    constexpr int from = keeper<Active>.v[I];
    if constexpr (from < 0) base::template back<Active, CT, I>(v, a, in);
    else base::template push<Active, I, 0, Op, CT>(a, TTENSOR_CALL_RULE(partials, at<from>(known), at<I>(v)));
  }
  template <std::uint64_t Active, class CT, int... Constant, int... I>
  TTENSOR_HD TTENSOR_INLINE static constexpr void back_all(const values& v, const kept_t<Active>& known, adjoints<CT>& a, int_list<Constant...>, int_list<I...>) {
    ((at<Constant>(a) = typename base::template adjoint_t<CT, Constant>(elem_t<typename base::template adjoint_t<CT, Constant>>(0))), ...);  // only masks read it
    (back<Active, CT, I>(v, known, a, at_t<I, typename base::instructions>{}), ...);
  }
  template <std::uint64_t Active, class CT> TTENSOR_HD TTENSOR_INLINE static constexpr adjoints<CT> reverse(const leaf_values& l, const CT& ct) {
    values v;
    kept_t<Active> known;
    forward<Active>(v, known, l, numbers{});
    adjoints<CT> a;
    at<Root>(a) = convert_value<typename base::template adjoint_t<CT, Root>>(ct);
    back_all<Active, CT>(v, known, a, list_of<base::template constants<Active>>{}, list_of<base::template swept<Active>>{});
    return a;
  }
};

namespace device_detail {
template <class Prog, class Leaves> struct choose_sweep;
template <int Root, class... Ins, class Leaves> struct choose_sweep<program<Root, Ins...>, Leaves> {
  using type = typename std::conditional_t<(names_operand<Ins> || ...), std::type_identity<informed_sweep<program<Root, Ins...>, Leaves>>, std::type_identity<sweep<program<Root, Ins...>, Leaves>>>::type;
};
template <class Prog, class... V> using sweep_of = typename choose_sweep<Prog, type_list<V...>>::type;
}  // namespace device_detail

}  // namespace run
TTENSOR_END
