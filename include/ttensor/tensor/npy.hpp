// save_npy, load_npy: NumPy's array files (format 1.0; 2.0 and 3.0 are read too) in this machine's byte order (the other is read too), C or Fortran order.
// Source: numpy/lib/format.py, "NPY format".
#pragma once
#include <bit>

#include <string>
#include "array_op.hpp"

TTENSOR_BEGIN

namespace npy_detail {
template <class T> std::string type_code() {  // <f8, <i4, |b1 ...
  const char kind = std::is_same_v<T, bool> ? 'b' : is_complex_v<T> ? 'c' : is_floating_v<T> ? 'f' : std::is_signed_v<T> ? 'i' : 'u';
  return std::string(1, sizeof(T) == 1 ? '|' : std::endian::native == std::endian::little ? '<' : '>') + kind + std::to_string(sizeof(T));
}
struct file {
  std::FILE* f;
  std::string path;
  file(const std::string& p, const char* mode, const char* op) : f(p.find('\0') == std::string::npos ? std::fopen(p.c_str(), mode) : nullptr), path(p) {
    if (!f) raise<io_error>(std::string("[") + op + "] cannot open '" + p + "'; check the path and its permissions [TT-O01]");
  }
  file(const file&) = delete;
  ~file() {
    if (f) std::fclose(f);
  }
};
[[noreturn]] TTENSOR_NOINLINE inline void bad(const std::string& path, const std::string& what) {
  raise<format_error>("[load_npy] '" + path + "' " + what + " [TT-F01]");
}
/// The text after `key` in the header dictionary.
inline std::string entry(const std::string& header, const char* key, const std::string& path) {
  const std::size_t at = header.find(std::string("'") + key + "'");
  const std::size_t colon = at == std::string::npos ? at : header.find(':', at);
  if (colon == std::string::npos) bad(path, std::string("has no '") + key + "' in its header; is it a NumPy file?");
  std::size_t b = colon + 1;
  while (b < header.size() && header[b] == ' ') ++b;
  return header.substr(b);
}
}  // namespace npy_detail

/// Writes the elements of an array in row-major order; io_error names the file.
template <array_like A> void save_npy(const std::string& path, const A& a) {
  using T = elem_t<scalar_t<A>>;
  static_assert(depth_v<scalar_t<A>> == 0, "ttensor: save_npy of values inside a transform; save what the transform returns");
  static_assert(!std::is_same_v<T, bfloat16>, "ttensor: NumPy has no bfloat16; save to<float>(x)");
  const tensor<T, rank_v<A>> t(a);
  std::string shape = "(";
  for (int d = 0; d < rank_v<A>; ++d) shape += std::to_string(t.extent(d)) + (rank_v<A> == 1 ? "," : d + 1 < rank_v<A> ? ", " : "");
  std::string header = "{'descr': '" + npy_detail::type_code<T>() + "', 'fortran_order': False, 'shape': " + shape + "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  npy_detail::file f(path, "wb", "save_npy");
  const unsigned char start[10] = {0x93,
                                   'N',
                                   'U',
                                   'M',
                                   'P',
                                   'Y',
                                   1,
                                   0,
                                   static_cast<unsigned char>(header.size() & 255),
                                   static_cast<unsigned char>(header.size() >> 8)};
  const std::size_t n = static_cast<std::size_t>(t.size());
  bool ok = std::fwrite(start, 1, 10, f.f) == 10 && std::fwrite(header.data(), 1, header.size(), f.f) == header.size();
  ok = ok && (n == 0 || std::fwrite(t.data(), sizeof(T), n, f.f) == n);
  ok = std::fclose(std::exchange(f.f, nullptr)) == 0 && ok;
  if (!ok) raise<io_error>("[save_npy] writing '" + path + "' failed; is the disk full? [TT-O02]");
}

/// load_npy<double, 2>(path): type and rank must be those of the file.
template <class T, int R> tensor<T, R> load_npy(const std::string& path) {
  npy_detail::file f(path, "rb", "load_npy");
  unsigned char start[12];
  const bool begun = std::fread(start, 1, 8, f.f) == 8;
  if (std::ferror(f.f)) raise<io_error>("[load_npy] cannot read '" + path + "'; is it a directory? [TT-O03]");
  if (!begun || std::memcmp(start, "\x93NUMPY", 6) != 0) npy_detail::bad(path, "does not begin as a NumPy array file");
  const std::size_t wide = start[6] == 1 ? 2 : 4;
  if (start[6] < 1 || start[6] > 3) npy_detail::bad(path, "has format version " + std::to_string(start[6]) + ", known are 1 to 3");
  if (std::fread(start + 8, 1, wide, f.f) != wide) npy_detail::bad(path, "ends inside its header");
  std::size_t length = 0;
  for (std::size_t i = wide; i-- > 0;) length = length << 8 | start[8 + i];
  if (length > (std::size_t(1) << 20)) npy_detail::bad(path, "has a header of " + std::to_string(length) + " bytes");
  std::string header(length, '\0');
  if (std::fread(header.data(), 1, length, f.f) != length) npy_detail::bad(path, "ends inside its header");

  const std::string descr = npy_detail::entry(header, "descr", path), code = descr.substr(0, descr.find('\'', 1)),
                    want = npy_detail::type_code<T>();
  const bool swapped = sizeof(T) > 1 && code.size() > 1 && code[1] == (want[0] == '<' ? '>' : '<');
  if (code.size() < 3 || code[0] != '\'' || std::string("biufc").find(code[2]) == std::string::npos)
    npy_detail::bad(path, "holds elements that are no numbers (texts, records, dates or objects): " + descr.substr(0, 40));
  if (code.substr(2) != want.substr(1) || (code[1] != want[0] && !swapped))
    npy_detail::bad(path, "holds elements " + code + "', asked for '" + want + "'; load its own type and convert with to<T>(x)");
  const std::string order = npy_detail::entry(header, "fortran_order", path);
  const bool fortran = order.rfind("True", 0) == 0;
  if (!fortran && order.rfind("False", 0) != 0) npy_detail::bad(path, "has a fortran_order that is neither True nor False");
  const std::string text = npy_detail::entry(header, "shape", path);
  dims<R> e{};
  int rank = 0;
  index_t n = 1, steps = 1;  // elements; the same without empty axes, which strides may reach
  std::size_t i = 1;
  const char* const no_list = "has a shape that is no list of extents in parentheses";
  while (i < text.size() && text[i] != ')') {
    if (text[i] == ',' || text[i] == ' ' || text[i] == 'L') {  // 2L: Python 2
      ++i;
      continue;
    }
    if (text[i] < '0' || text[i] > '9') npy_detail::bad(path, no_list);
    index_t x = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      if (__builtin_mul_overflow(x, index_t(10), &x) || __builtin_add_overflow(x, index_t(text[i] - '0'), &x))
        npy_detail::bad(path, "has an extent that is too large");
    if (rank < R) e[rank] = x;
    n *= x != 0;  // an empty array has no elements, however long its other axes
    if (x != 0 && (__builtin_mul_overflow(steps, x, &steps))) npy_detail::bad(path, "has a shape that is too large");
    ++rank;
  }
  n *= steps;
  if (text[0] != '(' || i >= text.size()) npy_detail::bad(path, no_list);
  if (rank != R) npy_detail::bad(path, "has rank " + std::to_string(rank) + ", asked for " + std::to_string(R));
  // the file must hold the elements before memory for them is taken
  const long at = std::ftell(f.f);
  if (at < 0 || std::fseek(f.f, 0, SEEK_END) != 0) raise<io_error>("[load_npy] cannot move in '" + path + "', which is no regular file; copy it to one [TT-O03]");
  const long end_at = std::ftell(f.f);
  std::fseek(f.f, at, SEEK_SET);
  index_t bytes = 0;
  if (__builtin_mul_overflow(n, static_cast<index_t>(sizeof(T)), &bytes) || end_at - at < bytes)
    npy_detail::bad(path, std::string("is truncated: shape ") + shape::text(e).c_str() + " needs " + std::to_string(n) +
                              " elements, the file holds " +
                              std::to_string((end_at - at) / static_cast<long>(sizeof(T))));
  store<T> s = store<T>::make(n);
  if (n != 0 && std::fread(s.writable(), sizeof(T), static_cast<std::size_t>(n), f.f) != static_cast<std::size_t>(n))
    raise<io_error>("[load_npy] reading '" + path + "' failed [TT-O03]");
  if constexpr (std::is_same_v<T, bool>) {  // another byte would be a mask that is neither true nor false
    const auto* p = reinterpret_cast<const unsigned char*>(s.writable());
    for (index_t k = 0; k < n; ++k)
      if (p[k] > 1)
        npy_detail::bad(path, "is damaged: element " + std::to_string(k) + " of a mask is " + std::to_string(p[k]) +
                                  ", neither 0 nor 1");
  }
  if (swapped) {  // complex numbers part by part
    constexpr std::size_t width = sizeof(T) / (is_complex_v<T> ? 2 : 1);
    unsigned char* p = reinterpret_cast<unsigned char*>(s.writable());
    for (unsigned char* const last = p + bytes; p != last; p += width)
      for (std::size_t j = 0; j < width / 2; ++j) std::swap(p[j], p[width - 1 - j]);
  }
  if (!fortran || R < 2) return tensor<T, R>(static_cast<store<T>&&>(s), e);
  layout_map<R> m{0, e, {}};
  index_t stride = 1;
  for (int d = 0; d < R; ++d) m.stride[d] = stride, stride *= e[d];
  return tensor<T, R>(leaf<T, R>{s.snap(), m});
}
template <class T = void> auto load_npy(const std::string&) {
  static_assert(sizeof(T*) == 0, "ttensor: load_npy wants the element type and the rank of the file: load_npy<double, 2>(path)");
  return 0;
}

TTENSOR_END
