// Types that stand in kernel arguments, with all their parts: X(number, type). Host and device must agree on every byte.
#pragma once
#include <cstddef>
#include "../run/device_programs.hpp"

namespace layout_types {
using namespace ttensor;
using program_t = program<2, ld<0>, ld<1>, ins<mul_op, 0, 1>>;
template <class T> using flat = run::plane_leaf<run::flat_plane<const T>>;
template <class T, int R, class I> using grid = run::plane_leaf<run::strided_plane<const T, R, I>>;
using map_linear = run::map_body<program_t, run::linear_walk<4>, run::flat_plane<float>, flat<float>, run::number_leaf<float>>;
using map_mixed = run::map_body<program_t, run::linear_walk<2>, run::flat_plane<bool>, flat<half>, run::number_leaf<double>, run::number_leaf<bool>, flat<double>>;
using map_grid = run::map_body<program_t, run::grid_walk<4, 3, std::uint32_t>, run::strided_plane<float, 3, std::uint32_t>, grid<float, 3, std::uint32_t>, run::number_leaf<std::int8_t>>;
using back = run::back_body<program_t, 1, run::linear_walk<4>, run::plane_leaf<run::flat_plane<const float>>,
                            type_list<run::plane_target<run::flat_plane<float>>, run::no_target, run::sum_target<float>, run::no_target>,
                            flat<float>, run::number_leaf<float>, flat<float>, run::number_leaf<double>>;
using back_of_sum = run::back_body<program_t, 1, run::linear_walk<4>, run::ones<float>, type_list<run::plane_target<run::flat_plane<float>>, run::no_target>, flat<float>, run::number_leaf<float>>;
using back_grid = run::back_body<program_t, 1, run::grid_walk<1, 2, index_t>, run::plane_leaf<run::strided_plane<const double, 2, index_t>>,
                                 type_list<run::plane_target<run::strided_plane<double, 2, index_t>>, run::no_target>, grid<double, 2, index_t>, run::number_leaf<double>>;
using fold = run::fold_body<run::value_of, program_t, sum_op, double, 4, true, 1, index_t, run::strided_plane<float, 1, index_t>, run::value_of::empty, grid<float, 2, index_t>, run::number_leaf<double>>;
using fold_axes = run::fold_body<run::adjoint_of<0>, program_t, sum_op, double, 4, false, 2, std::uint32_t, run::strided_plane<float, 2, std::uint32_t>,
                                 run::plane_leaf<run::strided_plane<const float, 4, std::uint32_t>>, grid<float, 4, std::uint32_t>, run::number_leaf<float>>;
using map_tiles = run::map_body<program_t, run::tile_walk<4, 3, std::uint32_t>, run::strided_plane<float, 3, std::uint32_t>, grid<float, 3, std::uint32_t>, run::number_leaf<float>>;
}  // namespace layout_types

#define TTENSOR_LAYOUT_TYPES(X)                                                                                              \
  X(0, layout_types::map_linear) X(1, layout_types::map_mixed) X(2, layout_types::map_grid) X(3, layout_types::back)         \
  X(4, layout_types::back_grid) X(5, layout_types::fold) X(6, layout_types::fold_axes) X(7, layout_types::map_tiles)         \
  X(8, layout_types::back_of_sum)

namespace layout_types {
struct empty {};
struct disagreed {  // the negative control: the two compilers are known to lay this out differently
  [[no_unique_address]] empty a;
  [[no_unique_address]] empty b;
  int leaves;
};
template <class... L> TTENSOR_HD const void* last_part(const bundle<L...>& b) { return &at<static_cast<int>(sizeof...(L)) - 1>(b); }
TTENSOR_HD inline const void* last_part(const int& i) { return &i; }

/// Size, alignment and the offsets of the leaves and of the last one, in one number.
template <class T> TTENSOR_HD unsigned long long layout(const T* p) {
  const auto at = [&](const void* part) { return static_cast<unsigned long long>(static_cast<const char*>(part) - reinterpret_cast<const char*>(p)); };
  return sizeof(T) * 1000000000ull + at(&p->leaves) * 1000000ull + at(last_part(p->leaves)) * 1000ull + alignof(T);
}
}  // namespace layout_types
