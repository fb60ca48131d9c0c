// Stand-in for printing, which is on its way into the library.
#pragma once
#include <ttensor/all.hpp>
#include <iostream>
namespace ttensor {
template <class T> std::ostream& operator<<(std::ostream& o, const tensor<T, 1>& x) {
  o << "[";
  for (index_t i = 0; i < x.extent(0); ++i) o << (i ? " " : "") << static_cast<const tensor<T, 1>&>(x)(i);
  return o << "]";
}
template <class T> std::ostream& operator<<(std::ostream& o, const tensor<T, 2>& x) {
  for (index_t i = 0; i < x.extent(0); ++i) o << (i ? "\n " : "[") << tensor<T, 1>(x(i));
  return o << "]";
}
}
