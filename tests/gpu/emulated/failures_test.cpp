// What device code does when something fails, and in which order it asks for things: what only an emulated device can be told to do. Each case but the
// last failed before what it names was mended; the last notices barriers of run/cuda/reduce.hpp that are taken away, but for the one before the ticket, which matters where blocks run at one time.
#include <doctest/doctest.h>
#include <ttensor/run/cuda/launch.hpp>
#include <ttensor/tensor.hpp>
#include <string>
#include <vector>
#include "../on_device.hpp"

using namespace ttensor;

namespace {
cuda_emulator::device& emulated = cuda_emulator::the_device();

template <class F> std::string said(F&& f) {
  try {
    f();
    device::synchronize();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "nothing";
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }
device_array<float, 0> scalar_on_device(float x) {
  device_array<float, 0> a(dims<0>{});
  a.copy_from(&x);
  return a;
}
struct own_stream {  // cudaStreamNonBlocking: only events order it
  cudaStream_t stream = nullptr;
  own_stream() { cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
  ~own_stream() { cudaStreamDestroy(stream); }
};
using floats = std::vector<float>;
}  // namespace

TEST_CASE("a memory pool that is refused once is asked for again") {  // the first case: who was given memory once asks no more
  emulated.pool_error = cudaErrorNotSupported;
  CHECK(said([] { device_array<float, 1> a(3); }) == "[device] default memory pool: cudaErrorNotSupported: operation not supported [TT-G02]");
  emulated.pool_error = cudaSuccess;
  const auto x = on_device<float>({1, 2, 3});
  device_array<float, 1> y;
  CHECK(said([&] { assign(y, x * 2.0f); }) == "nothing");
}

TEST_CASE("after an allocation that failed the next launch works") {
  const auto x = on_device<float>({1, 2, 3});
  device_array<float, 1> y(3);
  CHECK(said([] { device_array<float, 1> big(index_t(1) << 45); }) == "[device] allocate: cudaErrorMemoryAllocation: out of memory [TT-G02]");
  CHECK(said([&] { assign(y, x * 2.0f); }) == "nothing");
  CHECK(fetch(y) == floats{2, 4, 6});
}

TEST_CASE("an array of rank 0 that was made by default gets its memory from assign") {
  const auto x = on_device<float>({5});
  const device_leaf<float, 0> first{x.data(), {0, {}, {}}};
  device_array<float, 0> y;
  CHECK(y.size() == 1);
  REQUIRE(said([&] { assign(y, first * 2.0f); }) == "nothing");
  REQUIRE(y.data() != nullptr);
  CHECK(fetch(y) == floats{10});
}
TEST_CASE("and from wrt") {
  const auto x = on_device<float>({1, 2, 3}), ct = on_device<float>({1, 1, 1});
  const auto s = scalar_on_device(2);
  device_array<float, 0> gs;
  REQUIRE(said([&] { backward(x * s, ct, wrt(s, gs)); }) == "nothing");
  REQUIRE(gs.data() != nullptr);
  CHECK(fetch(gs) == floats{6});
}

TEST_CASE("an array that was moved from is empty and can be assigned to") {
  const auto x = on_device<float>({1, 2, 3});
  device_array<float, 1> a(3);
  const device_array<float, 1> b = std::move(a);
  CHECK(b.size() == 3);
  CHECK(a.size() == 0);
  REQUIRE(said([&] { assign(a, x * 2.0f); }) == "nothing");
  REQUIRE(a.data() != nullptr);
  CHECK(fetch(a) == floats{2, 4, 6});
}
TEST_CASE("an array that another was moved to has as many elements as its memory") {
  device_array<float, 1> big(1000), small(2);
  small = std::move(big);
  CHECK(small.size() == 1000);
  for (const auto* a : {&big, &small}) {
    const auto given = emulated.memory.find(const_cast<float*>(a->data()));
    const std::size_t bytes = given == emulated.memory.end() ? 0 : given->second;
    CHECK(static_cast<std::size_t>(a->size()) * sizeof(float) == bytes);
  }
}

TEST_CASE("extents are checked as those of tensors are") {
  const std::size_t given = emulated.memory.size();
  CHECK(has(said([] { device_array<float, 1> a(-1); }), "[TT-S24]"));
  CHECK(has(said([] { device_array<float, 2> a(-2, -2); }), "[TT-S24]"));
  CHECK(has(said([] { device_array<float, 2> a(index_t(1) << 32, index_t(1) << 32); }), "[TT-S25]"));
  CHECK(emulated.memory.size() == given);
  CHECK_FALSE(std::is_constructible_v<device_array<float, 1>, double>);
}

TEST_CASE("on a non-blocking stream assign waits for the memory of its temporary, and what comes after waits for assign") {
  const index_t n = 1000;
  floats h(n);
  for (index_t i = 0; i < n; ++i) h[static_cast<std::size_t>(i)] = static_cast<float>(i);
  const own_stream own;
  auto a = on_device(h);
  const device_leaf<float, 1> backwards{a.data(), {n - 1, {{n}}, {{-1}}}};
  assign(a, a + 2.0f * backwards, gpu::on_stream{own.stream});
  SUBCASE("the stream runs first") { cudaStreamSynchronize(own.stream); }
  SUBCASE("the default stream runs first") {}
  const auto got = fetch(a);
  int wrong = 0;
  for (index_t i = 0; i < n; ++i) wrong += got[static_cast<std::size_t>(i)] != static_cast<float>(i + 2 * (n - 1 - i));
  CHECK(wrong == 0);
}

namespace {
void everything() {  // each kind of statement; numbers that floats have exactly
  const floats ones(600, 1.0f);
  const own_stream own;
  device_array<float, 2> a(20, 30), y, ga, ct(20, 30);
  device_array<float, 1> b(30), gb, rows(20);
  a.copy_from(ones.data()), ct.copy_from(ones.data()), b.copy_from(ones.data());
  const auto s = scalar_on_device(1);
  device_array<float, 0> gs;
  const device_leaf<float, 2> backwards{a.data(), {599, {{20, 30}}, {{-30, -1}}}};
  assign(y, (a + b) * s);
  assign(a, a + backwards, gpu::on_stream{own.stream});
  const device_leaf<float, 2> again{a.data(), {599, {{20, 30}}, {{-30, -1}}}};
  assign(a, a + again);
  backward((a + b) * s, ct, wrt(a, ga), wrt(b, gb), wrt(s, gs));
  const float flat = sum_on_device(a * a), broadcast = sum_on_device(a * b);
  sum_into(rows, a * b, axes{1});
  device::synchronize();
  const floats hy = fetch(y), hga = fetch(ga), hgb = fetch(gb), hgs = fetch(gs), hrows = fetch(rows);
  REQUIRE(hy == floats(600, 2));
  REQUIRE(hga == ones);
  REQUIRE(hgb == floats(30, 20));
  REQUIRE(hgs == floats{3000});
  REQUIRE(hrows == floats(20, 120));
  REQUIRE(flat == 9600);
  REQUIRE(broadcast == 2400);
}
}  // namespace

TEST_CASE("whatever fails, one error says so, nothing is left behind, and the next try works") {
  const struct {
    cuda_emulator::call kind;
    const char *what, *error;
  } kinds[] = {{cuda_emulator::allocate, "allocate", "cudaErrorMemoryAllocation"},
               {cuda_emulator::launching, "launch", "cudaErrorInvalidConfiguration"},
               {cuda_emulator::zero, "zero", "cudaErrorUnknown"},
               {cuda_emulator::copying, "copy", "cudaErrorUnknown"},
               {cuda_emulator::event, "event", "cudaErrorUnknown"}};
  const std::size_t given = emulated.memory.size();
  for (const auto& k : kinds) {
    CAPTURE(k.what);
    emulated.made[k.kind] = 0;
    everything();
    CHECK(emulated.memory.size() == given);
    const long calls = emulated.made[k.kind];
    CHECK(calls > 0);
    for (long failing = 1; failing <= calls; ++failing) {
      CAPTURE(failing);
      emulated.made[k.kind] = 0, emulated.fail_at[k.kind] = failing;
      std::string text;
      try {
        everything();
      } catch (const device_error& e) {
        text = e.what();
      }
      emulated.fail_at[k.kind] = 0;
      const bool named = has(text, k.what) || (k.kind == cuda_emulator::event && has(text, "order of two streams"));
      CHECK_MESSAGE((named && has(text, k.error) && has(text, "[TT-G02]")), text);
      cudaDeviceSynchronize();
      CHECK(emulated.memory.size() == given);
      CHECK_NOTHROW(everything());
    }
  }
}

TEST_CASE("what backward cannot write is refused") {
  const auto x = on_device<float>({1, 2, 3, 4});
  auto ct = on_device<float>({1, 1, 1, 1});
  device_array<float, 2> ct2(2, 2);
  ct2.copy_from(fetch(ct).data());
  device_array<float, 1> g, h;
  CHECK(has(said([&] { backward(x * x, ct, wrt(x, g), wrt(x, h)); }), "[TT-G03]"));
  const device_leaf<float, 2> window{x.data(), {0, {{2, 2}}, {{1, 1}}}};
  CHECK(has(said([&] { backward(window * 1.0f, ct2, wrt(x, g)); }), "[TT-G04]"));
  CHECK(has(said([&] { backward(x * x, ct, wrt(x, ct)); }), "[TT-G05]"));
  auto own = on_device<float>({1, 2, 3, 4});
  CHECK(has(said([&] { backward(own * own, ct, wrt(own, own)); }), "[TT-G05]"));
  CHECK(said([&] { backward(x * x, ct, wrt(x, g)); }) == "nothing");
  CHECK(fetch(g) == floats{2, 4, 6, 8});
}

TEST_CASE("why a device is not usable is told as it is") {
  const auto why = [](auto change) {
    const auto devices = emulated.devices, driver = emulated.driver_version;
    change();
    const auto found = gpu::probe_now();
    emulated.devices = devices, emulated.driver_version = driver, emulated.last_error = cudaSuccess;
    emulated.count_error = emulated.code_error = emulated.attribute_error = cudaSuccess;
    CHECK(found.usable == (gpu::reason(found)[0] == 0));
    return std::string(gpu::reason(found));
  };
  CHECK(why([] {}) == "");
  CHECK(why([] { emulated.remove_driver(); }) == "no NVIDIA driver on this machine");
  CHECK(why([] { emulated.devices = 0; }) == "no NVIDIA device on this machine");
  CHECK(why([] { emulated.driver_version = 12040, emulated.count_error = cudaErrorInsufficientDriver; }) ==
        "the NVIDIA driver supports CUDA 12.4, this program was built with 13.0");
  CHECK(has(why([] { emulated.code_error = cudaErrorNoKernelImageForDevice; }), "no code for the device's architecture"));
  CHECK(why([] { emulated.code_error = cudaErrorDevicesUnavailable; }) == "cudaErrorDevicesUnavailable: CUDA-capable device(s) is/are busy or unavailable");
  CHECK(why([] { emulated.attribute_error = cudaErrorUnknown; }) == "cudaErrorUnknown: unknown error");
}

TEST_CASE("the sums of many short rows have a kernel of their own") {
  const index_t rows = gpu::on_stream::filling();
  device_array<float, 1> x(rows * 36), s;
  x.copy_from(floats(static_cast<std::size_t>(rows * 36), 1).data());
  for (const index_t cols : {32, 36, 28}) {
    const device_leaf<float, 2> m{x.data(), layout_map<2>::row_major({{rows, cols}})};
    emulated.exchanges = 0;
    sum_into(s, m * m, axes{1});
    CHECK(fetch(s) == floats(static_cast<std::size_t>(rows), static_cast<float>(cols)));
    CHECK(emulated.exchanges == (cols < 32 ? 0 : rows * 7));  // eight rows a thread in three rounds: 4 + 2 + 1
  }
}

TEST_CASE("sums with barriers are right in whatever order the threads of a block run") {
  int wrong = 0;
  for (unsigned seed = 1; seed < 9; ++seed) {
    emulated.random.seed(seed);
    for (index_t n : {1, 255, 1027, 9001}) {
      std::vector<double> h(static_cast<std::size_t>(n));
      double want = 0;
      for (index_t i = 0; i < n; ++i) want += h[static_cast<std::size_t>(i)] = static_cast<double>(i * 7919 % 1000);
      wrong += sum_on_device(on_device(h) * 1.0) != want;
    }
    const index_t rows = 40, cols = 300;
    std::vector<double> h(rows * cols), want(rows);
    for (index_t k = 0; k < rows * cols; ++k) want[static_cast<std::size_t>(k / cols)] += h[static_cast<std::size_t>(k)] = static_cast<double>(k * 7919 % 1000);
    device_array<double, 2> x(rows, cols);
    x.copy_from(h.data());
    device_array<double, 1> y(rows);
    sum_into(y, x * 1.0, axes{1});
    wrong += fetch(y) != want;
  }
  CHECK(wrong == 0);
}
