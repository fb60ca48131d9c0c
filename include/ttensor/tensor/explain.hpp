// explain(expression): the plan of a statement, asked of the same objects that run it: the flat program, the planes of its
// leaves, the driver of its loops. explain(f): with the loops that ran for its operands. build_info(): what this translation unit was compiled for.
#pragma once
#include "print.hpp"

TTENSOR_BEGIN

namespace explain_detail {
template <class T> const char* type_text() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  else if constexpr (std::is_same_v<T, half>) return "half";
  else if constexpr (std::is_same_v<T, bfloat16>) return "bfloat16";
  else if constexpr (is_floating_v<T>) return sizeof(T) == 4 ? "float" : sizeof(T) == 8 ? "double" : "long double";
  else if constexpr (is_complex_v<T>) return sizeof(T) == 8 ? "complex<float>" : "complex<double>";
  else if constexpr (std::is_signed_v<T>) return sizeof(T) == 1 ? "int8" : sizeof(T) == 2 ? "int16" : sizeof(T) == 4 ? "int32" : "int64";
  else return sizeof(T) == 1 ? "uint8" : sizeof(T) == 2 ? "uint16" : sizeof(T) == 4 ? "uint32" : "uint64";
}
// Words that follow each other. Not with +: the compiler would try all of the library's.
inline void add(std::string& s, const char* word) { s.append(word); }
inline void add(std::string& s, const std::string& words) { s.append(words); }
template <class N> requires std::is_integral_v<N> void add(std::string& s, N n) { s.append(std::to_string(n)); }
template <class... A> std::string joined(const A&... a) {
  std::string s;
  (add(s, a), ...);
  return s;
}
template <class S> std::string scalar_type_text() {
  if constexpr (depth_v<S> == 0) return type_text<S>();
  else if constexpr (is_dual_v<S>) return joined("dual<", scalar_type_text<inner_t<S>>(), ">");
  else if constexpr (is_var_v<S>) return joined("var<", scalar_type_text<inner_t<S>>(), ">");
  else if constexpr (is_batched_v<S>) return joined("batched<", scalar_type_text<inner_t<S>>(), ">");
  else return joined("probe<", scalar_type_text<inner_t<S>>(), ">");
}
template <int K> std::string instruction(ld<K>) { return joined("load x", K); }
template <class Op, int... I> std::string instruction(ins<Op, I...>) {
  std::string s = Op::name;
  if constexpr (requires { typename Op::target; }) add(s, joined("<", type_text<typename Op::target>(), ">"));
  (add(s, joined(" %", I)), ...);
  return s;
}
template <int Root, class... Ins> std::string listing(program<Root, Ins...>) {
  std::string s;
  int i = 0;
  (add(s, joined("  %", i++, " = ", instruction(Ins{}), "\n")), ...);
  return joined(s, "  y = %", Root, "\n");
}
inline const char* plan_text(run::plan_kind k) {
  switch (k) {
    case run::plan_kind::flat: return "flat (one run over all elements)";
    case run::plan_kind::inner: return "inner (runs along the innermost axis)";
    case run::plan_kind::tiled: return "tiled (transposed operands are gathered in blocks)";
    default: return "general (strided operands pass through tiles)";
  }
}
template <class N> std::string counted(N n, const char* one, const char* many) { return joined(n, " ", n == 1 ? one : many); }
/// What ran before the loop that is explained.
struct work {
  std::uint64_t loops = 0, blocks = 0, regions = 0;
  static work done() { return {counts.loops, mem::stats.blocks, run::thread_stats.regions}; }
  work since(const work& o) const { return {loops - o.loops, blocks - o.blocks, regions - o.regions}; }
};
inline std::string threads_text(int n) {
  return joined("\nthreads: ", n, " of ", num_threads(), run::has_threads ? "" : " (built without ttensor::threads)");
}
/// loops, temporaries: those of the plan, beside what ran before it.
inline std::string passes_text(std::uint64_t loops, const work& before, std::uint64_t temporaries = 0) {
  const std::uint64_t all = loops + before.loops;
  return joined("\npasses: ", all, ", loops: ", all, ", temporaries: ", temporaries + before.blocks);
}
inline std::string before_text(const work& before) {
  if (before.loops + before.blocks == 0) return {};
  return joined("\nbefore this loop: ", counted(before.loops, "loop", "loops"),
                before.regions > 0 ? ", some on several threads, " : ", ",
                counted(before.blocks, "temporary", "temporaries"));
}
inline std::string buffers_text(const run::nest_plan& m) {
  const index_t n = (m.gathered > 0) + m.tiles * m.pieces + m.sums;
  if (n == 0) return {};
  std::string why;
  if (m.gathered > 0) add(why, joined("; ", counted(m.gathered, "operand that is", "operands that are"), " gathered once"));
  if (m.tiles) add(why, m.threads > 1 ? "; tiles, for each piece of a thread" : m.pieces > 1 ? "; tiles, for each piece" : "; tiles");
  if (m.sums > 0) add(why, "; sums of pieces");
  return joined(", buffers: ", n, " (", why.c_str() + 2, ")");
}
inline std::string nest_text(const run::nest_plan& m, int lanes) {
  std::string axes;
  for (int d = 0; d < m.rank && m.kind != run::plan_kind::flat; ++d)
    add(axes, joined(d ? "," : ", axes after collapsing: (", m.extent[d], d + 1 < m.rank ? "" : ")"));
  return joined("plan: ", plan_text(m.kind), axes, "\nlanes: ", lanes, threads_text(m.threads));
}
inline std::string bytes_text(index_t read, index_t written, const work& before) {
  return joined("\nbytes: ", read, " read, ", written, before.loops > 0 ? " written, by this loop\n" : " written\n");
}
/// The program and the leaves of a statement T, whose kernel merges names of one array if Merges. read: the bytes of the leaves.
template <bool Merges, class T, class E> std::string operands_text(const E& e, const T& st, index_t& read) {
  using P = program_of<E>;
  std::string s;
  const bool* again = nullptr;  // of every leaf: it is an array that has a leaf already
  if constexpr (Merges) {
    using names = merged<std::remove_cvref_t<decltype(expr::tree(e))>>;
    if constexpr (names::exists) {
      static constexpr auto repeats = [] {
        array<bool, names::same.size()> r{};
        for (int i = 0; i < r.size(); ++i) r[i] = names::same.v[i] != i;
        return r;
      }();
      if (names::holds(expr::tree(e))) again = repeats.v;
    }
    if (again)
      add(s, joined("\nprogram: ", counted(names::program::length, "instruction", "instructions"),
                    names::pattern.names ? ", names of one expression merged\n" : ", names of one array merged\n", listing(typename names::program{})));
  }
  if (!again) add(s, joined("\nprogram: ", counted(P::length, "instruction", "instructions"), "\n", listing(P{})));
  add(s, "leaves:\n");
  int k = T::outs, slot = 0;
  e.leaves([&]<class L>(const L& l) {
    if (again && again[slot]) return static_cast<void>(++slot, k += planes_v<typename L::scalar>);
    add(s, joined("  x", slot++, ": ", scalar_type_text<typename L::scalar>()));
    constexpr bool uniform = run::is_uniform_v<eval_detail::leaf_core<L>>;
    if constexpr (is_scalar_leaf_v<L> && depth_v<typename L::scalar> == 0) add(s, joined(" scalar ", print_detail::text(l.value, {})));
    else add(s, joined(" ", shape::text(l.shape()).c_str()));
    index_t bytes = 0;
    std::string strides;
    l.planes([&](auto, const auto&) {
      index_t own = st.plane[k].bytes;
      dims<T::full_rank> t{};
      for (int d = 0; d < T::full_rank; ++d) {
        t[d] = st.plane[k].stride[d];
        if (t[d] != 0) own *= st.extent[d];
      }
      if (strides.empty()) strides = shape::text(t).c_str();
      if (!uniform) bytes += own;
      ++k;
    });
    add(s, uniform ? std::string(", in a register\n") : joined(", strides ", strides, ", ", counted(bytes, "byte", "bytes"), "\n"));
    read += bytes;
  });
  return s;
}
template <class A> std::string plan_of(const A& a, const work& before, const char* note) {
  const auto e = as_expression(a);
  using E = std::remove_const_t<decltype(e)>;
  using S = storage_scalar_t<typename E::scalar>;
  using T = statement<S, E>;
  using tree_type = std::remove_cvref_t<decltype(expr::tree(e))>;
  using fixed = fixed_elements<S, tree_type>;
  const auto shape = e.shape();
  T st(e, batch_of<S>(e), shape);
  const auto stride = shape::row_major(st.extent);
  const index_t elements = shape::size(st.extent);
  index_t written = 0;
  for (int k = 0; k < T::outs; ++k) written += elements * T::plane_facts[k].bytes;
  const mem::room result(static_cast<std::size_t>(written) + 64);
  char* to = result.ptr;
  for (int k = 0; k < T::outs; to += elements * T::plane_facts[k++].bytes) st.set_output(k, to, stride);

  std::string s = joined(scalar_type_text<S>(), " ", shape::text(shape).c_str());
  if constexpr (T::levels > 0) add(s, joined(", batch axes in front: ", shape::text(st.extent).c_str()));
  index_t read = 0;
  add(s, operands_text<!fixed::exists && (has_names_v<tree_type> || (depth_v<S> == 0 && whole_tree<tree_type>))>(e, st, read));
  if constexpr (fixed::exists) {
    add(s, joined("plan: fixed (a known number of packs, into a fixed tensor)\nlanes: ", fixed::lanes));
    if constexpr (fixed::singles > 0) add(s, joined(", 1 for the last ", counted(fixed::singles, "element", "elements")));
    add(s, joined(threads_text(1), passes_text(1, before), before_text(before)));
  } else {
    const run::nest_plan plan = st.planned();
    add(s, joined(nest_text(plan, T::kernel::N), passes_text(1, before), buffers_text(plan), before_text(before), note));
  }
  return joined(s, bytes_text(read, written, before));
}
/// In the place of sum_how: says what that does, all but the result's type and shape.
struct sum_how {
  static constexpr const char* name = "explain_sum";
  using has_total = void;
  std::string& text;
  work start;
  template <class Q, bool Merges, class T, class E> static std::string head(const E& e, const T& st, index_t& read) {
    using W = typename T::out_core;
    return joined(", a sum of ", shape::text(e.shape()).c_str(),
                  std::is_same_v<Q, W> ? std::string() : joined(" in ", scalar_type_text<W>()),
                  operands_text<Merges>(e, st, read));
  }
  template <class E> static index_t counted(const E&) { return 0; }
  template <class E> auto total(const E& e) const {
    using Q = reduction_scalar_t<sum_op, typename E::scalar>;
    using W = collected_t<sum_op, Q>;
    using sums = reduce_detail::total_of<sum_op, typename E::scalar, W, E>;
    using T = typename sums::types;
    const work before = work::done().since(start);
    W value{};
    T st(e, dims<0>{}, e.shape());
    st.set_output(0, &value, dims<E::rank>{});
    index_t read = 0;
    text = head<Q, sums::names::exists>(e, st, read);
    run::nest_plan plan;
    if constexpr (fixed_elements<W, E>::few) {
      add(text, joined("plan: fixed (a known number of elements, in order)\nlanes: 1", threads_text(1)));
    } else {
      bool in_registers = false;
      if constexpr (whole_tree<E>)
        if constexpr (sums::few) {
          typename sums::operands::numbers numbers;
          const typename sums::operands o(e, numbers);
          in_registers = sums::fits(o, shape::size(o.extent));
        }
      if (!in_registers) plan = run::plan_sum<E::rank>(st, sums::kernel::sums);
      add(text, nest_text(plan, sums::kernel::N));
    }
    add(text, joined(passes_text(1, before), buffers_text(plan), before_text(before), bytes_text(read, sizeof(Q), before)));
    return Q{};
  }
  template <bool Columns, class E> auto run(const E& e, const dims<E::rank>& shape, const axis_set<E::rank>& set) const {
    using Q = reduction_scalar_t<sum_op, typename E::scalar>;
    using W = collected_t<sum_op, Q>;
    using types = reduce_detail::types<sum_op, Columns, typename E::scalar, E>;
    using kernel = typename types::kernel;
    using T = typename types::statement;
    const work before = work::done().since(start);
    store<Q> result = store<Q>::make(shape::elements(reduce_detail::reduced_shape_kept(shape, set)));
    result.zero();
    const mem::room sums(sizeof(W) * static_cast<std::size_t>(result.size()) + 64);
    T st(e, dims<0>{}, shape);
    st.set_output(0, sums.ptr, reduce_detail::output_strides(st.extent, set));
    index_t read = 0;
    text = head<Q, has_names_v<E>>(e, st, read);
    run::nest_plan plan;
    if (!run::is_one_call<E::rank>(st, kernel::sums)) plan = run::plan_sum<E::rank>(st, kernel::sums);
    add(text, joined(nest_text(plan, kernel::N), passes_text(1, before, !std::is_same_v<Q, W>), buffers_text(plan),
                     before_text(before), bytes_text(read, index_t(sizeof(Q)) * result.size(), before)));
    return result;
  }
  template <class X> static X finish(X&& x, index_t) { return static_cast<X&&>(x); }
};
}  // namespace explain_detail

/// The plan by which an expression is evaluated into a fresh tensor (of fixed tensors: into a fixed one), as text: the one loop that is still to run. What an operand is the
/// result of, a product or a sum, ran when the expression was made; without fusion, every operator but the last.
template <array_like A> std::string explain(const A& a) {
  using namespace explain_detail;
  if constexpr (requires { typename A::ttensor_tensor; }) {
    return joined(scalar_type_text<typename A::scalar>(), " ", shape::text(a.shape()).c_str(),
                  "\nplan: none (a tensor, whose copy is no loop)", passes_text(0, {}), "\n");
  } else {
    return plan_of(
        a, {},
        TTENSOR_FUSES
            ? ""
            : "\nbefore this loop: without fusion, a loop for every operator but the last; explain([&] { return ...; }) counts them");
  }
}
/// The same of the expression that f() makes, with the loops and blocks of memory that making it took: explain([&] { return matmul(a, b) + c; }). What f() computes
/// it computes here; where that is a tensor or a number, they are all there is.
template <class F> requires(!array_like<F> && std::is_invocable_v<const F&>) std::string explain(const F& f) {
  using namespace explain_detail;
  static_assert(!std::is_void_v<std::invoke_result_t<const F&>>, "ttensor: explain(f) wants a function that returns the expression or the result: [&] { return x + 1; }");
  const work start = work::done();
  const auto& a = f();
  work before = work::done().since(start);
  using A = std::remove_cvref_t<decltype(a)>;
  if constexpr (array_like<A> && !requires { typename A::ttensor_tensor; }) {
    return plan_of(a, before, "");
  } else {
    std::string s = scalar_type_text<scalar_t<A>>();
    if constexpr (array_like<A>) {
      add(s, joined(" ", shape::text(a.shape()).c_str()));
      before.blocks -= before.blocks > 0;  // the result
    }
    return joined(s, passes_text(0, before), before.regions > 0 ? ", some on several threads\n" : "\n");
  }
}

/// The plan of sum(x, options...), as text.
template <array_like A, class... O> requires(reduce_detail::is_option<O> && ...) std::string explain_sum(const A& a, const O&... o) {
  static_assert(depth_v<scalar_t<A>> == 0, "ttensor: explain_sum is for numbers; call it outside of transforms");
  std::string text;
  const auto result = reduce_detail::reduce(explain_detail::sum_how{text, explain_detail::work::done()}, a, o...);
  std::string s = explain_detail::scalar_type_text<scalar_t<decltype(result)>>();
  if constexpr (array_like<decltype(result)>) explain_detail::add(s, explain_detail::joined(" ", shape::text(result.shape()).c_str()));
  return explain_detail::joined(s, text);
}
template <array_like A, std::size_t N, class... O> std::string explain_sum(const A& a, const index_t (&several)[N], const O&... o) {
  return explain_sum(a, reduce_detail::as_axes(several), o...);
}

#define TTENSOR_TEXT_(x) #x
#define TTENSOR_TEXT(x) TTENSOR_TEXT_(x)
/// Version, instruction set, lanes, compiler and switches of this translation unit.
inline std::string build_info() {
  using explain_detail::joined;
  return joined("ttensor " TTENSOR_TEXT(TTENSOR_VERSION_MAJOR) "." TTENSOR_TEXT(TTENSOR_VERSION_MINOR) "." TTENSOR_TEXT(
                    TTENSOR_VERSION_PATCH) ", instruction set " TTENSOR_TEXT(TTENSOR_ISA) ", lanes ",
                native_width_v<float>, " float ", native_width_v<double>, " double, fused multiply-add ",
                TTENSOR_HAS_FMA ? "yes" : "no", ", fused statements ", TTENSOR_FUSES ? "yes" : "no", ", threads from ",
                run::has_threads ? run::threads_from : "nothing", ", large matrix products from ",
                TTENSOR_HAS_BLAS ? "BLAS" : "ttensor", ", bounds checks ", TTENSOR_CHECK_BOUNDS ? "on" : "off",
                ", compiler " TTENSOR_COMPILER);
}
#undef TTENSOR_TEXT
#undef TTENSOR_TEXT_

TTENSOR_END
