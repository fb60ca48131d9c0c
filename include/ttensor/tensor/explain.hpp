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
template <class S> std::string scalar_type_text() {
  if constexpr (depth_v<S> == 0) return type_text<S>();
  else if constexpr (is_dual_v<S>) return "dual<" + scalar_type_text<inner_t<S>>() + ">";
  else if constexpr (is_var_v<S>) return "var<" + scalar_type_text<inner_t<S>>() + ">";
  else if constexpr (is_batched_v<S>) return "batched<" + scalar_type_text<inner_t<S>>() + ">";
  else return "probe<" + scalar_type_text<inner_t<S>>() + ">";
}
template <int K> std::string instruction(ld<K>) { return "load x" + std::to_string(K); }
template <class Op, int... I> std::string instruction(ins<Op, I...>) {
  std::string s = Op::name;
  if constexpr (requires { typename Op::target; }) s += std::string("<") + type_text<typename Op::target>() + ">";
  ((s += " %" + std::to_string(I)), ...);
  return s;
}
template <int Root, class... Ins> std::string listing(program<Root, Ins...>) {
  std::string s;
  int i = 0;
  ((s += "  %" + std::to_string(i) + " = " + instruction(Ins{}) + "\n", ++i), ...);
  return s + "  y = %" + std::to_string(Root) + "\n";
}
inline const char* plan_text(run::plan_kind k) {
  switch (k) {
    case run::plan_kind::flat: return "flat (one run over all elements)";
    case run::plan_kind::inner: return "inner (runs along the innermost axis)";
    case run::plan_kind::tiled: return "tiled (transposed operands are gathered in blocks)";
    default: return "general (strided operands pass through tiles)";
  }
}
inline std::string counted(index_t n, const char* one, const char* many) { return std::to_string(n) + ' ' + (n == 1 ? one : many); }
/// What ran before the loop that is explained.
struct work {
  std::uint64_t loops = 0, blocks = 0, regions = 0;
  static work done() { return {counts.loops, mem::stats.blocks, run::thread_stats.regions}; }
  work since(const work& o) const { return {loops - o.loops, blocks - o.blocks, regions - o.regions}; }
};
inline std::string threads_text(index_t n) {
  return "\nthreads: " + std::to_string(n) + " of " + std::to_string(num_threads()) + (run::has_threads ? "" : " (built without ttensor::threads)");
}
/// loops: those of the plan, beside what ran before it.
inline std::string passes_text(index_t loops, const work& before) {
  const std::string all = std::to_string(loops + static_cast<index_t>(before.loops));
  return "\npasses: " + all + ", loops: " + all + ", temporaries: " + std::to_string(before.blocks);
}
inline std::string before_text(const work& before) {
  if (before.loops + before.blocks == 0) return {};
  return "\nbefore this loop: " + counted(static_cast<index_t>(before.loops), "loop", "loops") + (before.regions > 0 ? ", some on several threads, " : ", ") + counted(static_cast<index_t>(before.blocks), "temporary", "temporaries");
}
inline std::string buffers_text(const run::map_plan& m) {
  const int n = (m.gathered > 0) + m.tiles;
  if (n == 0) return {};
  std::string s = ", buffers: " + std::to_string(n) + " (";
  if (m.gathered > 0) s += counted(m.gathered, "operand that is", "operands that are") + " gathered once" + (m.tiles ? "; " : "");
  if (m.tiles) s += m.threads > 1 ? "tiles, for each piece of a thread" : "tiles";
  return s + ')';
}
}  // namespace explain_detail

namespace explain_detail {
template <class A> std::string plan_of(const A& a, const work& before, const char* note) {
  const auto e = as_expression(a);
  using E = std::remove_const_t<decltype(e)>;
  using S = storage_scalar_t<typename E::scalar>;
  using T = statement<S, E>;
  using P = program_of<E>;
  using tree_type = std::remove_cvref_t<decltype(expr::tree(e))>;
  const auto shape = e.shape();
  T st(e, batch_of<S>(e), shape);
  const auto stride = shape::row_major(st.extent);
  const index_t elements = shape::size(st.extent);
  index_t written = 0;
  for (int k = 0; k < T::outs; ++k) written += elements * T::plane_facts[k].bytes;
  const mem::room result(static_cast<std::size_t>(written) + 64);
  for (index_t k = 0, at = 0; k < T::outs; at += elements * T::plane_facts[static_cast<int>(k++)].bytes) st.set_output(static_cast<int>(k), result.ptr + at, stride);

  std::string s = scalar_type_text<S>() + ' ' + shape::text(shape).c_str();
  if constexpr (T::levels > 0) s += std::string(", batch axes in front: ") + shape::text(st.extent).c_str();
  const bool* again = nullptr;  // of every leaf: it is an array that has a leaf already
  if constexpr (T::levels == 0 && depth_v<S> == 0 && whole_tree<tree_type>) {
    using names = merged<tree_type>;
    if constexpr (names::exists) {
      static constexpr auto repeats = [] {
        array<bool, names::same.size()> r{};
        for (int i = 0; i < r.size(); ++i) r[i] = names::same.v[i] != i;
        return r;
      }();
      if (names::holds(expr::tree(e))) again = repeats.v;
    }
    if (again) s += "\nprogram: " + counted(names::program::length, "instruction", "instructions") + ", names of one array merged\n" + listing(typename names::program{});
  }
  if (!again) s += "\nprogram: " + counted(P::length, "instruction", "instructions") + "\n" + listing(P{});
  s += "leaves:\n";
  index_t read = 0;
  int k = T::outs, slot = 0;
  e.leaves([&]<class L>(const L& l) {
    if (again && again[slot]) return static_cast<void>(++slot, ++k);
    s += "  x" + std::to_string(slot++) + ": " + scalar_type_text<typename L::scalar>();
    constexpr bool uniform = run::is_uniform_v<eval_detail::leaf_core<L>>;
    if constexpr (is_scalar_leaf_v<L> && depth_v<typename L::scalar> == 0) s += " scalar " + print_detail::text(l.value, {});
    else s += std::string(" ") + shape::text(l.shape()).c_str();
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
    if (!uniform) s += ", strides " + strides + ", " + counted(bytes, "byte", "bytes");
    else s += ", in a register";
    s += '\n';
    read += bytes;
  });
  using fixed = fixed_elements<S, tree_type>;
  if constexpr (fixed::exists) {
    s += "plan: fixed (a known number of packs, into a fixed tensor)\nlanes: " + std::to_string(fixed::lanes);
    if constexpr (fixed::singles > 0) s += ", 1 for the last " + counted(fixed::singles, "element", "elements");
    s += threads_text(1) + passes_text(1, before) + before_text(before);
  } else {
    const run::map_plan plan = st.planned();
    s += std::string("plan: ") + plan_text(plan.kind);
    if (plan.kind != run::plan_kind::flat) {
      s += ", axes after collapsing: (";
      for (int d = 0; d < plan.rank; ++d) s += (d ? "," : "") + std::to_string(plan.extent[d]);
      s += ')';
    }
    s += "\nlanes: " + std::to_string(T::kernel::N) + threads_text(plan.threads) + passes_text(1, before) + buffers_text(plan) + before_text(before) + note;
  }
  return s + "\nbytes: " + std::to_string(read) + " read, " + std::to_string(written) + " written\n";
}
}  // namespace explain_detail

/// The plan by which an expression is evaluated into a fresh tensor (of fixed tensors: into a fixed one), as text: the one loop that is still to run. What an operand is the
/// result of, a product or a sum, ran when the expression was made; without fusion, every operator but the last.
template <array_like A> std::string explain(const A& a) {
  using namespace explain_detail;
  if constexpr (requires { typename A::ttensor_tensor; }) {
    return scalar_type_text<typename A::scalar>() + ' ' + shape::text(a.shape()).c_str() + "\nplan: none (a tensor, whose copy is no loop)" + passes_text(0, {}) + '\n';
  } else {
    return plan_of(a, {}, TTENSOR_FUSES ? "" : "\nbefore this loop: without fusion, a loop for every operator but the last; explain([&] { return ...; }) counts them");
  }
}
/// The same of the expression that f() makes, with the loops and blocks of memory that making it took: explain([&] { return matmul(a, b) + c; }). What f() computes
/// it computes here; where that is a tensor or a number, they are all there is.
template <class F> requires(!array_like<F> && std::is_invocable_v<const F&>) std::string explain(const F& f) {
  using namespace explain_detail;
  const work start = work::done();
  const auto& a = f();
  work before = work::done().since(start);
  using A = std::remove_cvref_t<decltype(a)>;
  if constexpr (array_like<A> && !requires { typename A::ttensor_tensor; }) {
    return plan_of(a, before, "");
  } else {
    std::string s = scalar_type_text<scalar_t<A>>();
    if constexpr (array_like<A>) {
      s += std::string(" ") + shape::text(a.shape()).c_str();
      before.blocks -= before.blocks > 0;  // the result
    }
    return s + passes_text(0, before) + (before.regions > 0 ? ", some on several threads\n" : "\n");
  }
}

#define TTENSOR_TEXT_(x) #x
#define TTENSOR_TEXT(x) TTENSOR_TEXT_(x)
/// Version, instruction set, lanes, compiler and switches of this translation unit.
inline std::string build_info() {
  std::string s = "ttensor " TTENSOR_TEXT(TTENSOR_VERSION_MAJOR) "." TTENSOR_TEXT(TTENSOR_VERSION_MINOR) "." TTENSOR_TEXT(TTENSOR_VERSION_PATCH);
  s += ", instruction set " TTENSOR_TEXT(TTENSOR_ISA) ", lanes " + std::to_string(native_width_v<float>) + " float " + std::to_string(native_width_v<double>) + " double";
  s += ", fused multiply-add ";
  s += TTENSOR_HAS_FMA ? "yes" : "no";
  s += ", fused statements ";
  s += TTENSOR_FUSES ? "yes" : "no";
  s += ", threads from ";
  s += run::has_threads ? run::threads_from : "nothing";
  s += ", bounds checks ";
  s += TTENSOR_CHECK_BOUNDS ? "on" : "off";
  return s + ", compiler " + TTENSOR_COMPILER;
}
#undef TTENSOR_TEXT
#undef TTENSOR_TEXT_

TTENSOR_END
