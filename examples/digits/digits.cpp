// Trains a 64-128-10 network on 1797 real handwritten digits, then asks three questions that need derivatives of other
// kinds: which digits are the strangest, how curved is the loss, and what loops does a forward pass run.
//
//   example_digits [digits.csv [picture.ppm]]
//
// Exits with 0 when at least 0.97 of the test digits are read correctly and both answers agree with formulas by hand and with
// differences, with 1 when not or when the data file is bad.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "data.hpp"
#include "draw.hpp"

namespace {
using namespace digits;
using tt::fold_in, tt::index_t, tt::permutation, tt::rng, tt::tensor;

// ---- the model: any aggregate templated on its scalar is a tree, no macro ---------------------------------------------------
template <class T> struct mlp {
  tensor<T, 2> w1;  // (64, 128)
  tensor<T, 1> b1;
  tensor<T, 2> w2;  // (128, 10)
  tensor<T, 1> b2;
};

/// Class scores, before softmax: x is one image (64) or many (n, 64).
constexpr auto scores = [](const auto& p, const auto& x) { return matmul(tanh(matmul(x, p.w1) + p.b1), p.w2) + p.b2; };

/// Cross-entropy of one image x (64) whose class is the 1 in y (10): -log softmax(z)[class].
constexpr auto image_loss = [](const auto& p, const auto& x, const auto& y) {
  const auto z = eval(scores(p, x));
  return logsumexp(z) - dot(z, y);
};

/// Mean loss of many images: image_loss is written for one, vmap makes it loops over the batch.
constexpr auto loss = [](const auto& p, const auto& xs, const auto& ys) {
  return mean(tt::vmap(image_loss, tt::in_axes<tt::none, 0, 0>)(p, xs, ys));
};

// ---- the optimiser: a loop over the leaves of the tree ------------------------------------------------------------------------
/// Adam (Kingma and Ba 2015, algorithm 1 with the bias corrections in the rate).
template <class Tree> struct adam {
  Tree mean, square;  // of the gradients so far; start at zero
  double keep_mean = 0.9, keep_square = 0.999;
  int steps = 0;

  void update(Tree& p, const Tree& gradient, double rate) {
    ++steps;
    const double a = rate * std::sqrt(1 - std::pow(keep_square, steps)) / (1 - std::pow(keep_mean, steps));
    tt::tree::for_each(
        [&](auto& p, auto& m, auto& v, const auto& g) {
          m += (1 - keep_mean) * (g - m);
          v += (1 - keep_square) * (g * g - v);
          p -= a * m / (sqrt(v) + 1e-8);
        },
        p, mean, square, gradient);
  }
};

/// Inner product of two trees of one shape.
template <class Tree> double inner(const Tree& a, const Tree& b) {
  double total = 0;
  tt::tree::for_each([&](const auto& x, const auto& y) { total += sum(x * y); }, a, b);
  return total;
}
/// p *= s
template <class Tree> void scale(Tree& p, double s) {
  tt::tree::for_each([&](auto& x) { x *= s; }, p);
}

// ---- data ---------------------------------------------------------------------------------------------------------------------
struct examples {
  tensor<float, 2> x;  // (n, 64)
  tensor<float, 2> y;  // (n, 10), one-hot
  tensor<int, 1> label;

  examples(const images& all, const tensor<std::int64_t, 1>& which)
      : x(take(all.pixel, which, 0)), y(which.extent(0), classes), label(take(all.label, which, 0)) {
    y = tt::to<float>(unsqueeze(label, 1) == tt::arange<int>(classes));
  }
  index_t size() const { return x.extent(0); }
};

/// Fraction of images whose own class has the largest score.
double accuracy(const mlp<float>& p, const examples& e) {
  return mean(tt::to<double>(argmax(scores(p, e.x), 1) == e.label));
}

// ---- training -----------------------------------------------------------------------------------------------------------------
mlp<float> random_start(rng key) {
  auto layer = [&](std::uint64_t n, index_t in, index_t out) -> tensor<float, 2> {
    return (tt::uniform<float>(fold_in(key, n), {in, out}) * 2 - 1) * std::sqrt(3.0 / double(in));
  };
  return {layer(0, pixels, 128), tt::zeros<float>(128), layer(1, 128, classes), tt::zeros<float>(classes)};
}
mlp<float> zeros_like(mlp<float> p) {
  scale(p, 0);
  return p;
}

mlp<float> train(const examples& training, const examples& test, int epochs) {
  const rng key(42);
  const index_t batch = 32;
  mlp<float> p = random_start(key);
  adam<mlp<float>> optimiser{zeros_like(p), zeros_like(p)};
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const rng k = fold_in(key, static_cast<std::uint64_t>(epoch));
    const auto order = permutation(fold_in(k, 0), training.size());
    const tensor<float, 2> y = take(training.y, order, 0);
    const tensor<float, 2> x = take(training.x, order, 0) + 0.2 * tt::normal<float>(fold_in(k, 1), training.x.shape());  // noise: no image twice
    const double rate = 0.01 * (0.5 + 0.5 * std::cos(3.14159 * (epoch - 1) / epochs));
    double total = 0;
    for (index_t i = 0; i < training.size(); i += batch) {
      const auto rows = tt::range(i, std::min(i + batch, training.size()));
      const auto [value, gradient] = tt::value_and_grad(loss)(p, x(rows, tt::all), y(rows, tt::all));
      optimiser.update(p, gradient, rate);
      total += value * double(rows.stop - rows.start);
    }
    progress(epoch, epochs, total / double(training.size()), accuracy(p, training), accuracy(p, test));
  }
  return p;
}

// ---- questions to the trained network -------------------------------------------------------------------------------------
void expect(bool agrees, const char* what) {
  if (!agrees) throw std::runtime_error(what);
}
/// The norms of the images' own gradients, from the formulas of this network.
tensor<float, 1> norms_by_hand(const mlp<float>& p, const examples& e) {
  const tensor<float, 2> h = tanh(matmul(e.x, p.w1) + p.b1);
  const tensor<float, 2> to_scores = softmax(matmul(h, p.w2) + p.b2, 1) - e.y;
  const tensor<float, 2> to_hidden = matmul(to_scores, transpose(p.w2)) * (1 - h * h);
  return sqrt(sum(square(to_scores), 1) * (1 + sum(square(h), 1)) + sum(square(to_hidden), 1) * (1 + sum(square(e.x), 1)));
}

/// The digits that pull hardest at the trained network: the norm of each image's own gradient, for all images at once.
void strangest(const mlp<float>& p, const images& all, const std::string& picture) {
  const examples every(all, tt::arange<std::int64_t>(count));
  const mlp<tt::stacked<float, 1>> g = tt::per_sample_grad(image_loss)(p, every.x, every.y);  // every leaf: one gradient a row
  tensor<float, 1> norm(count);
  tt::tree::for_each([&](const auto& leaf) { norm += sum(square(reshape(leaf, count, -1)), 1); }, g);
  norm = sqrt(norm);
  expect(max(abs(norm - norms_by_hand(p, every))) <= 1e-4 * max(norm), "the norms of the images' gradients are not those of the formula");
  std::vector<index_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + 5, order.end(), [&](index_t a, index_t b) { return norm(a) > norm(b); });
  order.resize(5);
  std::printf("\nThe five strangest digits, by the norm of their own gradient (mean %.4f):\n", double(mean(norm)));
  for (index_t n : order) std::printf("   %-16s", (std::to_string(all.label(n)) + ": " + std::to_string(norm(n))).c_str());
  std::printf("\n");
  draw(all, order);
  write_ppm(picture, all, order);
  std::printf("Also in %s\n", picture.c_str());
}

/// Largest eigenvalue of the Hessian of the training loss by power iteration: 9,610 x 9,610 numbers that are never formed.
double curvature(const mlp<float>& p, const examples& training) {
  const auto f = [&](const auto& p) { return loss(p, training.x, training.y); };
  auto v = tt::grad(f)(p);
  double eigenvalue = 0;
  for (int k = 0; k < 50; ++k) {
    scale(v, 1 / std::sqrt(inner(v, v)));
    auto hv = tt::hvp(f, p, v);
    const double before = std::exchange(eigenvalue, inner(v, hv));
    v = std::move(hv);
    if (std::abs(eigenvalue - before) < 1e-4 * std::abs(eigenvalue)) break;
  }
  // the same from two gradients, 0.02 apart along the eigenvector
  scale(v, 1 / std::sqrt(inner(v, v)));
  auto ahead = p, behind = p;
  tt::tree::for_each([](auto& a, auto& b, const auto& d) { a += 0.01 * d, b -= 0.01 * d; }, ahead, behind, v);
  const double by_difference = (inner(tt::grad(f)(ahead), v) - inner(tt::grad(f)(behind), v)) / 0.02;
  expect(std::abs(eigenvalue - by_difference) <= 0.02 * std::abs(by_difference), "the curvature is not that of differences of gradients");
  return eigenvalue;
}

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
}  // namespace

int main(int argc, char** argv) try {
  const std::string path = argc > 1 ? argv[1] : EXAMPLES_DATA_DIR "/digits.csv", picture = argc > 2 ? argv[2] : "strangest_digits.ppm";
  const images all = load(path);
  const auto order = permutation(rng(1), count);
  const examples training(all, order(tt::range(0, 1437))), test(all, order(tt::range(1437, count)));
  std::printf("%d training and %d test digits from %s\n", int(training.size()), int(test.size()), path.c_str());

  double start = seconds();
  const mlp<float> p = train(training, test, 40);
  const double training_time = seconds() - start, test_accuracy = accuracy(p, test);
  std::printf("Trained in %.2f s; test accuracy %.4f (%d of %d)\n", training_time, test_accuracy, int(std::lround(test_accuracy * double(test.size()))),
              int(test.size()));

  start = seconds();
  strangest(p, all, picture);
  std::printf("%d per-example gradients in %.2f s\n", int(count), seconds() - start);

  start = seconds();
  const double eigenvalue = curvature(p, training);
  std::printf("\nLargest curvature of the training loss: %.3f (%.2f s of Hessian-vector products)\n", eigenvalue, seconds() - start);

  std::printf("\nThe hidden layer of a forward pass is one product and one loop:\n%s",
              tt::explain([&] { return tanh(matmul(test.x, p.w1) + p.b1); }).c_str());

  if (test_accuracy < 0.97) {
    std::fprintf(stderr, "test accuracy %.4f is below 0.97\n", test_accuracy);
    return 1;
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
