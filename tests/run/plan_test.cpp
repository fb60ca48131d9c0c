// The planner: which axes are dropped, ordered and merged, and what the driver will do with what is left.
#include <doctest/doctest.h>

#include <initializer_list>
#include <ttensor/run/nest.hpp>

namespace tt = ttensor;
using tt::index_t;
using namespace tt::run;

namespace {
struct made {
  nest n;
  nest_plane plane[4];
  made(std::initializer_list<index_t> extent, std::initializer_list<std::initializer_list<index_t>> strides) {
    n.rank = static_cast<int>(extent.size());
    n.planes = static_cast<int>(strides.size());
    n.plane = plane;
    n.lanes = 8;
    int d = 0, p = 0;
    for (index_t e : extent) n.extent[d++] = e;
    for (const auto& s : strides) {
      d = 0;
      for (index_t x : s) plane[p].stride[d++] = x;
      plane[p] = {nullptr, 8, p == 0 ? access::output : access::input, {}};
      d = 0;
      for (index_t x : s) plane[p].stride[d++] = x;
      ++p;
    }
  }
};
}  // namespace

TEST_CASE("contiguous planes of any rank are one run") {
  made m({4, 5, 6}, {{30, 6, 1}, {30, 6, 1}});
  collapse(m.n, true);
  CHECK(m.n.rank == 1);
  CHECK(m.n.extent[0] == 120);
  CHECK(classify(m.n) == plan_kind::flat);
}
TEST_CASE("axes of extent 1 vanish, whatever their strides") {
  made m({1, 7, 1}, {{99, 1, 5}, {3, 1, 0}});
  collapse(m.n, true);
  CHECK(m.n.rank == 1);
  CHECK(m.n.extent[0] == 7);
  made all_one({1, 1}, {{1, 1}, {1, 1}});
  collapse(all_one.n, true);
  CHECK(all_one.n.rank == 0);
  CHECK(classify(all_one.n) == plan_kind::flat);
}
TEST_CASE("a row broadcast over a matrix keeps two axes") {
  made m({4, 6}, {{6, 1}, {6, 1}, {0, 1}});
  collapse(m.n, true);
  CHECK(m.n.rank == 2);
  CHECK(classify(m.n) == plan_kind::inner);
}
TEST_CASE("axes merge where every plane walks them as one, broadcasts included") {
  made m({3, 4, 6}, {{24, 6, 1}, {0, 0, 1}});  // a row over a stack of matrices: the two outer axes are one
  collapse(m.n, true);
  CHECK(m.n.rank == 2);
  CHECK(m.n.extent[0] == 12);
  CHECK(m.n.extent[1] == 6);
}
TEST_CASE("the output decides the order of the axes") {
  made m({4, 6}, {{1, 4}, {1, 4}});  // column-major on both sides
  collapse(m.n, true);
  CHECK(m.n.rank == 1);
  CHECK(classify(m.n) == plan_kind::flat);
  made fixed({4, 6}, {{1, 4}, {1, 4}});
  collapse(fixed.n, false);
  CHECK(fixed.n.rank == 2);
}
TEST_CASE("a transposed operand is tiled, a strided one general") {
  made t({4, 6}, {{6, 1}, {6, 1}, {1, 4}});
  collapse(t.n, true);
  CHECK(classify(t.n) == plan_kind::tiled);
  made s({4, 6}, {{6, 1}, {12, 2}});
  collapse(s.n, true);
  CHECK(classify(s.n) == plan_kind::general);
}
TEST_CASE("a longer axis takes the place of a short row, if there is one") {
  made m({40, 5, 3}, {{15, 3, 1}, {15, 3, 1}, {1, 0, 0}});
  collapse(m.n, true);
  turn_short_rows(m.n, m.n.lanes);
  CHECK(m.n.rank == 2);
  CHECK(m.n.extent[1] == 15);  // as long as two packs
  made rows({40, 3}, {{3, 1}, {3, 1}, {1, 0}});
  collapse(rows.n, true);
  turn_short_rows(rows.n, rows.n.lanes);
  CHECK(rows.n.extent[0] == 3);
  CHECK(rows.n.extent[1] == 40);
  CHECK(rows.n.plane[2].stride[1] == 1);
  CHECK(classify(rows.n) == plan_kind::tiled);
  made few({6, 3}, {{3, 1}, {3, 1}, {1, 0}});
  CHECK(!turn_short_rows(few.n, few.n.lanes));
  CHECK(few.n.extent[1] == 3);
  made longest({7, 8, 3}, {{24, 3, 1}, {24, 3, 1}, {0, 1, 0}});
  CHECK(turn_short_rows(longest.n, longest.n.lanes));
  CHECK(longest.n.extent[1] == 3);
  CHECK(longest.n.extent[2] == 8);
}
TEST_CASE("steps of either sign are merged only with their own kind") {
  made m({4, 6}, {{6, 1}, {-6, -1}});
  collapse(m.n, true);
  CHECK(m.n.rank == 1);
  made mixed({4, 6}, {{6, 1}, {-6, 1}});
  collapse(mixed.n, true);
  CHECK(mixed.n.rank == 2);
}
