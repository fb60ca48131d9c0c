// The order of the axes of a backward loop.
#pragma once
#include "backward.hpp"

TTENSOR_BEGIN
namespace ad {
namespace back_detail {
/// Turns the axes but for batch axes into the order in which the targets lie in memory, where these agree: a permuted array is then added to where it lies.
void turn(const back_layout& l, back_record& r, const index_t*& out_stride, slot_base* const* to, arena& memory);
}
#if defined(TTENSOR_BODY)
TTENSOR_BODY void back_detail::turn(const back_layout& l, back_record& r, const index_t*& out_stride, slot_base* const* to, arena& memory) {
  int order[run::max_rank];
  auto inside = [&](int a, int b) {  // whether axis a lies inside axis b
    bool yes = false, no = false;
    for (int g = 0; g < l.targets; ++g) {
      const index_t* const walk = r.target_stride + g * l.rank;
      const index_t s = walk[a] < 0 ? -walk[a] : walk[a], t = walk[b] < 0 ? -walk[b] : walk[b];
      if (!to[g] || s == 0 || t == 0) continue;
      yes = yes || s < t;
      no = no || s > t;
    }
    return yes && !no;
  };
  bool any = false;
  for (int i = 0; i < l.rank; ++i) {
    order[i] = i;
    for (int d = i; d > l.levels && inside(order[d - 1], order[d]); --d) std::swap(order[d - 1], order[d]), any = true;
  }
  if (!any) return;
  index_t* next = reinterpret_cast<index_t*>(memory.bytes(static_cast<std::size_t>((2 + l.values + l.targets) * l.rank) * sizeof(index_t)));
  auto turned = [&](const index_t* from, int count) {
    index_t* const first = next;
    for (int k = 0; k < count; ++k, from += l.rank)
      for (int d = 0; d < l.rank; ++d) *next++ = from[order[d]];
    return first;
  };
  r.extent = turned(r.extent, 1);
  if (!l.value) out_stride = turned(out_stride, 1);
  r.value_stride = turned(r.value_stride, l.values);
  r.target_stride = turned(r.target_stride, l.targets);
}
#endif
}  // namespace ad
TTENSOR_END
