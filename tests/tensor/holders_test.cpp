// Blocks whose holders are on several threads: none is freed or written under a holder, none is kept without one.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <ttensor/all.hpp>
#include <vector>

namespace tt = ttensor;
namespace mem = tt::mem;
using vec = tt::tensor<double, 1>;

namespace {
struct counted_memory : mem::memory_resource {
  std::atomic<long> blocks{0};
  void* allocate(std::size_t bytes) override {
    void* p = std::aligned_alloc(64, bytes);
    if (!p) throw std::bad_alloc();
    ++blocks;
    return p;
  }
  void deallocate(void* p, std::size_t) noexcept override {
    --blocks;
    std::free(p);
  }
};
struct uses {
  explicit uses(counted_memory& m) { mem::default_resource = &m; }
  ~uses() { mem::default_resource = nullptr; }
};
template <class F> void on_thread(F f) { std::thread(f).join(); }
}  // namespace

TEST_CASE("copies of what another thread has copied hold the elements, also when the first tensor is gone") {
  counted_memory memory;
  {
    const uses here(memory);
    vec t = tt::full<double>({1000}, 7.0), u;
    on_thread([&] { u = t; });
    t = vec();
    const vec w = u;
    const auto e = u * 2.0;
    const auto gradient = tt::grad([&](const auto& x) { return sum(x * u * x); })(w);
    u += 1.0;
    CHECK(w(5) == 7);
    CHECK(u(5) == 8);
    u = vec();
    const vec other = tt::full<double>({1000}, 1.0);
    CHECK(w(5) == 7);
    CHECK(tt::eval(e)(5) == 14);
    CHECK(gradient(5) == 98);
    CHECK(other(5) == 1);
  }
  CHECK(memory.blocks == 0);
}

TEST_CASE("a tensor that came back is written in place when nobody else holds it") {
  vec t = tt::full<double>({100}, 7.0), u;
  on_thread([&] { u = t; });
  t = vec();
  const double* before = std::as_const(u).data();
  u *= 2.0;
  u(3) = 5;
  CHECK(std::as_const(u).data() == before);
  CHECK(u(4) == 14);
}

namespace {
/// The second of two holds that are dropped together. Between them another thread finds itself alone with the block of the first, and drops it.
struct dropped_between : mem::one_hold {
  vec* first;
  std::int64_t count_down() const {
    if (first) on_thread([this] { *first = vec(); });
    return mem::one_hold::count_down();
  }
};
}  // namespace

TEST_CASE("holds that are dropped together are not counted again") {
  counted_memory memory;
  {
    const uses here(memory);
    vec a = tt::full<double>({100}, 1.0), b = tt::full<double>({100}, 2.0);
    const mem::hold of_a = a.elements().hold(), of_b = b.elements().hold();
    b = vec();  // the hold is the last
    mem::drop_each(dropped_between{{of_a}, nullptr}, dropped_between{{of_b}, &a});
    CHECK(memory.blocks == 0);
  }
}

TEST_CASE("what another thread drops last is freed there, also while its first thread waits") {
  counted_memory memory;
  const uses here(memory);
  std::vector<vec> copies;
  for (int i = 0; i < 20; ++i) {
    const vec t(1000);
    copies.push_back(t);
  }
  on_thread([&] { copies.clear(); });
  CHECK(memory.blocks == 0);
}

TEST_CASE("a thread ends while others drop what it counted") {
  counted_memory memory;
  for (int round = 0; round < 200; ++round) {
    using expression = decltype(std::declval<vec&>() + 1.0);
    std::vector<expression> left, right;
    std::atomic<bool> ready = false;
    std::thread owner([&] {
      const uses here(memory);
      vec t = tt::full<double>({8}, 7.0);
      for (int i = 0; i < 50; ++i) {
        left.push_back(t + 1.0);
        right.push_back(t + 1.0);
      }
      ready = true;
    });
    const auto drop = [&](std::vector<expression>& list) {
      while (!ready) std::this_thread::yield();
      while (!list.empty()) list.pop_back();
    };
    std::thread a([&] { drop(left); }), b([&] { drop(right); });
    owner.join();
    a.join();
    b.join();
  }
  CHECK(memory.blocks == 0);
}

TEST_CASE("a tensor is not written under a copy of a copy that its first thread makes") {
  vec t, copy;
  std::atomic<int> turn{0};
  std::thread other([&] {
    for (;;) {
      int now = turn.load();
      for (; now != 1 && now >= 0; now = turn.load()) std::this_thread::yield();
      if (now < 0) return;
      vec mine = std::move(t);
      copy = mine;
      turn = 2;
      mine(0) = -1;
      turn.fetch_add(1);
    }
  });
  int wrong = 0;
  const auto stop = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (std::chrono::steady_clock::now() < stop) {
    t = tt::full<double>({8}, 7.0);
    turn = 1;
    while (turn.load() < 2) std::this_thread::yield();
    vec second;
    {
      const vec first = std::move(copy);
      second = first;
    }
    while (turn.load() != 3) std::this_thread::yield();
    wrong += std::as_const(second)(0) != 7;
    turn = 0;
  }
  turn = -1;
  other.join();
  CHECK(wrong == 0);
}

namespace {
vec late;
/// Runs when thread-local objects of the main thread are gone: what it makes has no owner that counts.
struct at_exit {
  ~at_exit() {
    late = tt::full<double>({64}, 2.0);
    const double* before = std::as_const(late).data();
    late *= 3.0;
    late(1) = 1;
    bool right = std::as_const(late).data() == before;
    std::vector<std::thread> readers;
    std::atomic<int> sum{0};
    for (int k = 0; k < 4; ++k)
      readers.emplace_back([&] {
        for (int i = 0; i < 100; ++i) {
          const vec copy = late;
          const auto e = copy + late;
          sum += tt::eval(e)(0) == 12;
        }
      });
    for (std::thread& r : readers) r.join();
    right = right && sum == 400;
    if (!right) std::_Exit(1);
  }
} const last_object;
}  // namespace
TEST_CASE("a cache that is full of other sizes makes room for one that is asked for") {  // every array of a new size took fresh memory: 15 ms for 1 at 4 million elements
  const auto make = [](tt::index_t n) { const tt::tensor<double, 1> x = tt::tensor<double, 1>(n); return x.size(); };
  {
    const tt::tensor<double, 1> a(5'600'000), b(5'600'000), c(5'600'000), d(5'600'000);  // of these, three are kept
  }
  const auto before = tt::mem::stats.system;
  for (int i = 0; i < 10; ++i) make(7'500'000);
  if (TTENSOR_KEEPS_BLOCKS) CHECK(tt::mem::stats.system <= before + 1);
}
