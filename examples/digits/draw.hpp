// Pictures of digits for the terminal and as a PPM file, and a progress bar. Nothing here is about ttensor.
#pragma once
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "data.hpp"

namespace digits {

/// The digits side by side, two characters a pixel.
inline void draw(const images& all, const std::vector<index_t>& which) {
  for (index_t row = 0; row < 8; ++row) {
    for (index_t n : which) {
      std::printf("   ");
      for (index_t column = 0; column < 8; ++column) {
        const char shade = " .:-=+*#@"[static_cast<int>(all.pixel(n, 8 * row + column) * 8)];
        std::printf("%c%c", shade, shade);
      }
    }
    std::printf("\n");
  }
}

/// The digits side by side, 16 x 16 dots a pixel, black on white.
inline void write_ppm(const std::string& path, const images& all, const std::vector<index_t>& which) {
  const index_t zoom = 16, width = 9 * zoom * static_cast<index_t>(which.size()), height = 8 * zoom;
  std::ofstream file(path, std::ios::binary);
  file << "P6\n" << width << ' ' << height << "\n255\n";
  for (index_t y = 0; y < height; ++y)
    for (index_t x = 0; x < width; ++x) {
      const index_t column = x / zoom % 9;  // the ninth is the gap between two digits
      const float ink = column < 8 ? float(all.pixel(which[static_cast<std::size_t>(x / zoom / 9)], y / zoom * 8 + column)) : 0;
      for (int colour = 0; colour < 3; ++colour) file.put(static_cast<char>(255 - static_cast<int>(ink * 255)));
    }
  if (!file.flush()) throw tt::io_error("[digits] cannot write " + path + ": " + std::strerror(errno) + "; give another path as the second argument [TT-O03]");
}

/// One line that is written over itself.
inline void progress(int step, int steps, double loss, double train, double test) {
  const int width = 30, filled = width * step / steps;
  std::printf("\r[%s%s] epoch %2d/%d  loss %.4f  accuracy: train %.4f test %.4f ", std::string(static_cast<std::size_t>(filled), '#').c_str(),
              std::string(static_cast<std::size_t>(width - filled), '.').c_str(), step, steps, loss, train, test);
  if (step == steps) std::printf("\n");
  std::fflush(stdout);
}

}  // namespace digits
