// To a device and back.
#pragma once
#include <ttensor/run/cuda/memory.hpp>
#include <vector>

template <class T> ttensor::device_array<T, 1> on_device(const std::vector<T>& v) {
  ttensor::device_array<T, 1> a(static_cast<ttensor::index_t>(v.size()));
  a.copy_from(v.data());
  return a;
}
template <class T, int R> std::vector<T> fetch(const ttensor::device_array<T, R>& a) {
  std::vector<T> h(static_cast<std::size_t>(a.size()));
  a.copy_to(h.data());
  return h;
}
