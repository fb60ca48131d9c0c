// Finds the conductivity k(x) of a rod from noisy temperatures: u_t = (k u_x)_x on 0 < x < 1, both ends insulated.
// The solver is ordinary code; its gradient with respect to all 40 unknowns goes backwards through 500 time steps.
//
// Exits with 1 when the gradient disagrees with finite differences by more than 1e-5 or the profile is not found.
#include <ttensor/all.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>


namespace {
namespace tt = ttensor;
using tt::end, tt::index_t, tt::range, tt::tensor;

constexpr index_t cells = 40;
constexpr int snapshots = 20, steps_between = 25;  // 500 steps of explicit Euler
constexpr double dx = 1.0 / cells, dt = 1e-4, noise = 0.005;

// ---- the solver, for any scalar T ---------------------------------------------------------------------------------------------
/// Conductivity at the inner faces, the harmonic mean of the two cells; exp keeps it positive.
template <class T> tensor<T, 1> face_conductivity(const tensor<T, 1>& log_k) {
  const tensor<T, 1> resistance = exp(-log_k);
  return 2 / (resistance(range(0, -1)) + resistance(range(1, end)));
}

/// 25 time steps: what flows through a face leaves one cell and enters the next, so heat is conserved exactly.
constexpr auto advance = []<class T>(tensor<T, 1> u, const tensor<T, 1>& face) {
  for (int step = 0; step < steps_between; ++step) {
    const tensor<T, 1> flow = dt / (dx * dx) * face * (u(range(1, end)) - u(range(0, -1)));
    u(range(0, -1)) += flow;
    u(range(1, end)) -= flow;
  }
  return u;
};

tensor<double, 1> centres() { return (tt::arange<double>(cells) + 0.5) * dx; }
tensor<double, 1> start() { return cos(9.42477796 * centres()) + sin(7.0 * centres()); }

/// Squared misfit to the observed snapshots (20, cells) in units of the noise, and a little smoothness.
struct misfit {
  tensor<double, 2> observed;

  template <class T> T operator()(const tensor<T, 1>& log_k) const {
    const tensor<T, 1> face = face_conductivity(log_k);
    tensor<T, 1> u = start();
    T total = 0.5 * smoothness * sum(square(log_k(range(1, end)) - log_k(range(0, -1))));
    for (int s = 0; s < snapshots; ++s) {
      u = tt::checkpoint(advance)(u, face);  // the tape keeps u here; the 25 steps run again on the way back
      total += 0.5 / (noise * noise) * sum(square(u - observed(s)));
    }
    return total;
  }
  static constexpr double smoothness = 100;
};

// ---- what we pretend not to know ------------------------------------------------------------------------------------------------
tensor<double, 1> true_conductivity() {
  const auto x = centres();
  return 1 + 1.2 * exp(-square((x - 0.3) / 0.08)) - 0.6 * tt::sigmoid((x - 0.6) / 0.02) + 0.6 * tt::sigmoid((x - 0.8) / 0.02);
}
tensor<double, 2> observe() {
  const tensor<double, 1> face = face_conductivity<double>(log(true_conductivity()));
  tensor<double, 2> seen(snapshots, cells);
  tensor<double, 1> u = start();
  for (int s = 0; s < snapshots; ++s) {
    u = advance(u, face);
    seen(s) = u;
  }
  seen += noise * tt::normal<double>(tt::rng(2024), seen.shape());
  return seen;
}

// ---- the minimiser ----------------------------------------------------------------------------------------------------------------
/// L-BFGS (Nocedal and Wright, Numerical Optimization, algorithm 7.4) with a halving line search.
template <class F> tensor<double, 1> minimise(const F& f, tensor<double, 1> x, int iterations) {
  struct pair {
    tensor<double, 1> s, y;
  };
  std::vector<pair> memory;
  std::vector<double> a;
  auto at = tt::value_and_grad(f)(x);
  for (int k = 0; k < iterations && norm(at.grad) > 1e-2; ++k) {
    tensor<double, 1> p = -at.grad;
    a.assign(memory.size(), 0);
    for (std::size_t i = memory.size(); i-- > 0;) {
      a[i] = dot(memory[i].s, p) / dot(memory[i].s, memory[i].y);
      p -= a[i] * memory[i].y;
    }
    if (memory.empty()) p /= norm(p);
    else p *= dot(memory.back().s, memory.back().y) / dot(memory.back().y, memory.back().y);
    for (std::size_t i = 0; i < memory.size(); ++i) p += (a[i] - dot(memory[i].y, p) / dot(memory[i].s, memory[i].y)) * memory[i].s;

    double length = 1;
    const double slope = dot(p, at.grad);
    while (length > 1e-10 && !(f(tensor<double, 1>(x + length * p)) <= at.value + 1e-4 * length * slope)) length /= 2;
    const tensor<double, 1> next = x + length * p;
    auto there = tt::value_and_grad(f)(next);
    if (k % 10 == 0) std::printf("   iteration %3d   misfit %12.3f   gradient %10.3e\n", k, at.value, norm(at.grad));
    pair step{next - x, there.grad - at.grad};
    if (dot(step.s, step.y) > 0) memory.push_back(std::move(step));
    if (memory.size() > 10) memory.erase(memory.begin());
    x = next;
    at = std::move(there);
  }
  std::printf("   end             misfit %12.3f   gradient %10.3e\n", at.value, norm(at.grad));
  return x;
}

/// Largest difference from central differences, relative to the largest component.
template <class F> double gradient_error(const F& f, const tensor<double, 1>& x) {
  const tensor<double, 1> g = tt::grad(f)(x);
  double worst = 0;
  for (index_t i = 0; i < x.size(); ++i) {
    const double h = 1e-5;
    auto left = x, right = x;
    left(i) -= h;
    right(i) += h;
    worst = std::max(worst, std::abs((f(right) - f(left)) / (2 * h) - g(i)));
  }
  return worst / max(abs(g));
}

void plot(const tensor<double, 1>& truth, const tensor<double, 1>& found) {
  std::printf("\n    x   k from 0 to 2.4: o true, * recovered, @ both\n");
  for (index_t i = 0; i < cells; ++i) {
    std::string line(61, ' ');
    auto column = [](double k) { return static_cast<std::size_t>(std::lround(std::clamp(k / 2.4, 0.0, 1.0) * 60)); };
    line[column(truth(i))] = 'o';
    char& c = line[column(found(i))];
    c = c == 'o' ? '@' : '*';
    std::printf("%.3f  |%s|\n", (double(i) + 0.5) * dx, line.c_str());
  }
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
}  // namespace

int main() try {
  const misfit f{observe()};
  const auto guess = tt::zeros<double>(cells);  // k = 1 everywhere

  const double wrong = gradient_error(f, guess);
  std::printf("gradient through %d steps against finite differences: largest relative error %.2e\n", snapshots * steps_between, wrong);
  if (!(wrong < 1e-5)) {
    std::fprintf(stderr, "the gradient is wrong: %.2e is more than 1e-5\n", wrong);
    return 1;
  }
  double begin = seconds();
  f(guess);
  const double run = seconds() - begin;
  begin = seconds();
  tt::grad(f)(guess);
  std::printf("one run %.2f ms, its gradient %.2f ms\n", 1e3 * run, 1e3 * (seconds() - begin));

  begin = seconds();
  const tensor<double, 1> found = exp(minimise(f, guess, 100)), truth = true_conductivity();
  const double error = norm(found - truth) / norm(truth), initial = norm(1 - truth) / norm(truth);
  plot(truth, found);
  std::printf("relative error of k: %.4f (the guess: %.4f), found in %.2f s\n", error, initial, seconds() - begin);
  if (!(error < 0.05)) {
    std::fprintf(stderr, "the profile was not found: error %.4f is more than 0.05\n", error);
    return 1;
  }
  return 0;
} catch (const tt::error& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
