// A statement is one kernel with 16-byte accesses and nothing in local memory, forward and backward; seen without a GPU.
#include <doctest/doctest.h>
#include "ptx.hpp"

namespace {
bool is_fused(const ptx& p, long loads, long stores) {
  return p.entries() == 1 && p.vector_loads() == loads && p.vector_stores() == stores && p.local_memory() == 0 && p.calls() == 0;
}
}  // namespace

TEST_CASE("forward: x and z are loaded once, y is stored once") {
  const ptx all(PTX_FILE);
  CHECK(is_fused(all.kernels({"map_body", "linear_walkILi4"}), 2, 1));
  CHECK(is_fused(all.kernels({"map_body", "linear_walkILi2", "sqrt_op"}), 2, 1));  // double
}
TEST_CASE("backward: x, z, the cotangent, and the two gradients where they are added to") {
  const ptx all(PTX_FILE);
  CHECK(is_fused(all.kernels({"back_body", "linear_walkILi4", "sqrt_op"}), 5, 2));
  CHECK(is_fused(all.kernels({"back_body", "linear_walkILi2", "sqrt_op"}), 5, 2));
}
TEST_CASE("an operator from outside the library: x and y; x, the cotangent and the gradient") {
  const ptx all(PTX_FILE);
  CHECK(is_fused(all.kernels({"map_body", "leaky_relu_op"}), 1, 1));
  CHECK(is_fused(all.kernels({"back_body", "leaky_relu_op"}), 3, 1));
}
TEST_CASE("sin and cos and the derivatives of both reduce an angle once: the elements of a word, and one of the rest") {
  const ptx waves = ptx(PTX_FILE).kernels({"back_body", "sin_op"});
  CHECK(waves.entries() == 2);
  CHECK(waves.count(R"((add|sub)[^;]*0fCB400000)") == 4 + 1);  // -1.5 * 2^23, behind the rounding to an integer
  CHECK(waves.count(R"((add|sub)[^;]*0dC338000000000000)") == 2 + 1);
  CHECK(waves.count(R"(mov\.f64[^;]*0dBFC5555555555548)") == 1 + 1);  // a constant of the polynomials is loaded once for all elements of a word
}
TEST_CASE("double: exp takes both elements of a word together, and what is asked for 0 is asked by its bits") {
  const ptx back = ptx(PTX_FILE).kernels({"back_body", "linear_walkILi2", "sqrt_op"});
  CHECK(back.count(R"(mov\.f64[^;]*0d3E5AD7EFD17A0DDA)") == 1 + 1);  // the first coefficient: of a word, and of the rest
  CHECK(back.count(R"(setp\.[a-z]+\.f64[^;]*0d0000000000000000)") == 0);
}
TEST_CASE("tiles: a plane has one set of loads for words that lie either way, so that all are on their way together") {
  const ptx tiles = ptx(PTX_FILE).kernels({"map_body", "tile_walk"});
  CHECK(is_fused(tiles, 2 * 4, 2 * 4));
}
TEST_CASE("a statement is one entry; beside ours there are only the probe's and the control's") {
  const ptx all(PTX_FILE);
  CHECK(all.entries() == 11);
  CHECK(all.kernels({"nothing"}).entries() == 1);
}
TEST_CASE("negative control: a scalar kernel fails the same check") {
  const ptx control = ptx(PTX_FILE).kernels({"scalar_control"});
  CHECK(control.entries() == 1);
  CHECK_FALSE(is_fused(control, 2, 1));
  CHECK(control.vector_loads() == 0);
}
