// Trees with parts that are not the plain ones: static parts of any type, integers beside variables, tensors of rank 0, vectors and optionals whose number of parts differs from step to step.
#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>
#include <ttensor/all.hpp>

namespace tree_parts_test {
namespace tt = ttensor;
using tt::chunk_size;

namespace {
using vec = tt::tensor<double, 1>;
using mat = tt::tensor<double, 2>;
using number = tt::tensor<double, 0>;
template <class A, class B> bool same(const A& a, const B& b) { return a.shape() == b.shape() && tt::all(a == b); }
template <class F> bool refused(const char* code, F&& f) {
  try {
    f();
  } catch (const tt::error& e) {
    return std::string(e.what()).find(code) != std::string::npos;
  }
  return false;
}
template <class T> struct outputs { tt::tensor<T, 1> a; int step; };
template <class T> struct several { std::vector<tt::tensor<T, 1>> a; T n; };
template <class T> struct perhaps { std::optional<T> a; T n; };
template <class T> struct layer { tt::tensor<T, 1> w; std::pair<T, int> power; };
template <class T> struct model { tt::tensor<T, 1> w; tt::tensor<T, 0> s; };
template <class I> struct graph { tt::tensor<I, 1> source; I n; };
template <class T> struct net { tt::tensor<T, 1> w; T b; };
}  // namespace

TEST_CASE("scan: steps give trees of one structure") {  // was broadcast, dropped, or read past the end
  const vec xs{1, 2, 3};
  const auto with = [&](const auto& give) {
    return tt::scan([&](auto c, auto x) { return std::pair{c + x, give(c)}; }, 0.0, xs).second;
  };
  const auto values = with([](auto c) { using T = decltype(c); return outputs<T>{tt::tensor<T, 1>{c, 2 * c}, 7}; });
  CHECK(same(values.a, mat{{0, 0}, {1, 2}, {3, 6}}));
  CHECK(values.step == 7);
  CHECK(refused("TT-S26", [&] { with([](auto c) { using T = decltype(c); return outputs<T>{c < 0.5 ? tt::tensor<T, 1>{1, 2, 3} : tt::tensor<T, 1>{c}, 0}; }); }));
  for (const double from : {0.5, 2.5})
    for (const bool fewer : {false, true}) {
      CHECK(refused("TT-S10", [&] {
        with([&](auto c) { using T = decltype(c); several<T> o{{tt::tensor<T, 1>{c}, tt::tensor<T, 1>{c}}, c}; if ((c > from) == fewer) o.a.pop_back(); return o; });
      }));
      CHECK(refused("TT-S10", [&] { with([&](auto c) { using T = decltype(c); perhaps<T> o{std::optional<T>(c), c}; if ((c > from) == fewer) o.a.reset(); return o; }); }));
    }
}
TEST_CASE("a mapped condition chooses between optionals and between results of transforms") {  // did not compile
  const vec x{1, -2, 3};
  const auto maybe = [](auto t) { return tt::cond(t > 0.0, [](auto a) { return std::optional(a * 2.0); }, [](auto a) { return std::optional(a * a); }, t); };
  CHECK(same(tt::vmap([&](auto t) { return *maybe(t); })(x), vec{2, 4, 6}));
  CHECK(same(tt::vmap(tt::grad([&](auto t) { return *maybe(t); }))(x), vec{2, -4, 2}));
  const auto lacks = [](auto t) { return tt::cond(t > 0.0, [](auto a) { return std::optional(a); }, [](auto a) { return std::optional<decltype(a)>(); }, t); };
  CHECK(refused("TT-S35", [&] { tt::vmap([&](auto t) { return lacks(t).value_or(t); })(x); }));
  const auto cube = [](auto t) { return tt::cond(t > 0.0, tt::value_and_grad([](auto a) { return a * a * a; }), tt::value_and_grad([](auto a) { return -a; }), t); };
  CHECK(same(tt::vmap([&](auto t) { return cube(t).value; })(x), vec{1, 2, 27}));
  CHECK(same(tt::vmap([&](auto t) { return cube(t).grad; })(x), vec{3, -1, 27}));
}
TEST_CASE("axes of the parts of an array as an array") {  // said that nothing is mapped
  const auto product = [](const auto& p) { return p[0] * p[1]; };
  CHECK(same(tt::vmap(product, tt::in_axes_tree(std::array{tt::axis<0>, tt::axis<0>}))(std::array{vec{1, 2}, vec{3, 4}}), vec{3, 8}));
}
TEST_CASE("scan slices what vmap slices") {  // vectors of stacked aggregates, optionals and records were passed whole
  const vec x{1, 2, 3};
  const mat rows{{1, 2}, {3, 4}, {5, 6}};
  const layer<tt::stacked<double, 1>> s{rows, {x, 2}};
  const auto body = [](auto c, const auto& p) { return std::pair{c + sum(p.second[0].w) * p.first, c * 1.0}; };
  CHECK(tt::scan(body, 0.0, std::pair{x, std::array{s}}).first == 50);
  CHECK(tt::scan(body, 0.0, std::pair{x, std::vector{s}}).first == 50);
  CHECK(tt::scan([](auto c, const auto& p) { return std::pair{c + sum(*p.second) * p.first, c * 1.0}; }, 0.0, std::pair{x, std::optional(rows)}).first == 50);
  const auto squares = tt::vmap(tt::value_and_grad([](const auto& t) { return sum(t * t); }))(rows);
  const auto of_record = [](auto c, const auto& p) { return std::pair{c + sum(p.grad), c * 1.0}; };
  CHECK(tt::scan(of_record, 0.0, squares).first == 42);
  CHECK(tt::grad([&](const auto& k) { return tt::scan([&](auto c, const auto& p) { return std::pair{c + k * sum(p.second.grad) * p.first, c * 1.0}; }, 0.0, std::pair{x, squares}).first; })(1.0) == 100);
  CHECK(tt::scan(of_record, 0.0, tt::vmap(tt::value_and_grad([](const auto& t) { return sum(t * t); }))(mat(0, 2))).first == 0);
}
TEST_CASE("trees that must have one structure are compared") {
  const vec x{1, 2, 3};
  auto r = tt::vjp([](const auto& v) { return tt::value_and_grad([](const auto& t) { return sum(t * t * t); })(v); }, x);
  auto ct = r.y;
  ct.value = 0;
  ct.grad = vec{1, 1, 1};
  CHECK(same(r.pull(ct), vec{6, 12, 18}));
  ct.grad = vec(100000);
  CHECK(refused("TT-S08", [&] { r.pull(ct); }));
  const auto backwards = tt::custom_vjp([](const auto& p) { return sum(p[0] * p[1]); }, [](const auto& p) { return std::pair{sum(p[0] * p[1]), p}; },
                                        [](const auto& p, const auto& c) { std::remove_cvref_t<decltype(p)> g; g.push_back(p[1] * c); return g; });
  CHECK(refused("TT-S10", [&] { tt::grad(backwards)(std::vector<vec>{{1, 2}, {3, 4}}); }));
  const auto empty = tt::custom_vjp([](const auto& p) { return *p * 2.0; }, [](const auto& p) { return std::pair{*p * 2.0, p}; }, [](const auto& p, const auto&) { return std::remove_cvref_t<decltype(p)>{}; });
  CHECK(refused("TT-S10", [&] { tt::grad(empty)(std::optional<double>(1.0)); }));
  const auto forwards = tt::custom_jvp(
      [](const auto& v) { using T = tt::tensor<tt::scalar_t<decltype(v)>, 1>; return std::vector<T>{v * 2.0, v * 3.0}; },
      [](const auto& v, const auto& d) { using T = tt::tensor<tt::scalar_t<decltype(v), decltype(d)>, 1>; return std::pair{std::vector<T>{v * 2.0, v * 3.0}, std::vector<T>{d * 2.0}}; });
  CHECK(refused("TT-S10", [&] { tt::jvp(forwards, x, x); }));
  const std::vector<vec> two{{1, 2}, {3}}, one{{1, 2}};
  CHECK(refused("TT-S10", [&] { tt::tree::for_each([](const auto&, const auto&) {}, two, one); }));
  std::vector<vec> step{{1, 1}, {1, 1}};
  tt::tree::for_each([](auto& p, const auto& g) { p -= 0.5 * g; }, step, tt::grad([](const auto& p) { return sum(p[0] * p[1]); })(std::vector<vec>{{1, 2}, {3, 4}}));  // a temporary
  CHECK(same(step[0], vec{-0.5, -1}));
}
TEST_CASE("parts that are no numbers, in every mode") {
  const auto f = [](const auto& p) { return sum(p.first * p.first) * (p.second == "x" ? 2.0 : 1.0); };
  const std::pair<vec, std::string> p{{1, 2}, "x"};
  CHECK(same(tt::grad(f)(p).first, vec{4, 8}));
  CHECK(tt::jvp(f, p, p).y_dot == 20);
  CHECK(same(tt::hvp(f, p, p).first, vec{4, 8}));
  CHECK(same(std::get<0>(tt::jacfwd(f)(p)), vec{4, 8}));
  const auto marked = [](const auto& q) { return sum(q.first * q.first) * (q.second[0] ? 2.0 : 1.0); };
  const std::pair<vec, std::vector<bool>> flags{{1, 2}, {true}};
  CHECK(tt::jvp(marked, flags, flags).y_dot == 20);
  CHECK(same(tt::grad(marked)(flags).first, vec{4, 8}));
  CHECK(tt::value_and_grad([&](const auto& v) { return std::pair{sum(v), std::vector<bool>{true, false}}; }, tt::has_aux)(vec{1}).aux.size() == 2);
}
TEST_CASE("integers beside variables in an aggregate: mapped, in chunks, stacked") {
  const auto f = [](const auto& p, const auto& x) { return sum(p.w * x) * p.power.first * p.power.second; };
  const layer<double> p{{1, 2}, {3, 4}};
  const mat xs{{1, 1}, {2, 0}, {0, 1}};
  const auto g = tt::per_sample_grad(f)(p, xs), chunks = tt::per_sample_grad(f, chunk_size{2})(p, xs);
  const mat want{{12, 12}, {24, 0}, {0, 12}};
  CHECK(same(g.w, want));
  CHECK(same(chunks.w, want));
  CHECK(same(tt::vmap([](const auto& q) { return sum(q.w) * q.power.second; })(g), vec{24 * 4, 24 * 4, 12 * 4}));
  CHECK(tt::scan([](const auto& c, const auto& q) { return std::pair{c + sum(q.w) * q.power.second, 1.0}; }, 1.0, g).first == 1 + 60 * 4);
}
TEST_CASE("tensors of rank 0 in trees") {
  const model<double> p{{1, 2}, number(3.0)};
  const auto g = tt::per_sample_grad([](const auto& q, auto x) { return tt::scalar_t<decltype(q.w)>(sum(q.w)) * sum(q.s) * x; })(p, vec{1, 2});
  CHECK(same(g.s, vec{3, 6}));
  CHECK(same(tt::vmap([](const auto& q) { return sum(q.w) * sum(q.s); })(g), vec{18, 72}));
  CHECK(same(tt::jacfwd([](const auto& q) { return q.w * sum(q.s); }, chunk_size{2})(p).s, vec{1, 2}));
  CHECK(same(tt::jacrev([](const auto& q) { return q * vec{1, 2}; }, chunk_size{2})(number(3.0)), vec{1, 2}));
  CHECK(same(tt::scan([](auto c, auto x) { using T = decltype(c); return std::pair{c + x, tt::tensor<T, 0>(c)}; }, 0.0, vec{1, 2}).second, vec{0, 1}));
}
TEST_CASE("aggregates of integers beside parameters have no derivatives, and are stacked") {
  const graph<int> g{{0, 2, 2}, 3};
  const net<double> p{{1, 2, 3}, 2.0};
  const auto f = [](const auto& t) { return sum(take(t.first.w, t.second.source, 0) * t.first.b) * t.second.n; };
  CHECK(same(std::get<0>(tt::grad(f)(std::pair{p, g})).w, vec{6, 0, 12}));
  CHECK(same(tt::jacrev([](const auto& t) { return take(t.first.w, t.second.source, 0) * t.first.b; })(std::pair{p, g}).first.w, mat{{2, 0, 0}, {0, 0, 2}, {0, 0, 2}}));
  const auto sources = tt::scan([](auto c, const auto& x) { return std::pair{c + x, graph<int>{{static_cast<int>(c), 2}, 5}}; }, 0.0, vec{1, 2, 3}).second.source;
  CHECK(tt::all(sources == tt::tensor<int, 2>{{0, 2}, {1, 2}, {3, 2}}));
}
}  // namespace tree_parts_test
