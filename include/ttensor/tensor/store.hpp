// store<S>: the elements of one array of scalars S, in row-major order and without a rank. Tensors and views of any rank
// stand over a store; kinds of scalars add theirs (ad/, transform/) by specialising it, and nothing else of tensor changes.
//
// A store is an alias when copied with alias(), a value (O(1), copy on write) when copied with value().
#pragma once
#include <cstring>
#include "../expr/apply.hpp"
#include "../mem/cell.hpp"

TTENSOR_BEGIN

namespace eval_detail {
[[noreturn]] void batch_mismatch(index_t a, index_t b, const char* op = "vmap");
#if defined(TTENSOR_BODY)
TTENSOR_BODY void batch_mismatch(index_t a, index_t b, const char* op) {
  raise<shape_error>(message("[") + op + "] mapped sizes differ: " + to_message(a) + " and " + to_message(b) +
                     "; mapped axes must have one extent [TT-S05]");
}
#endif
/// b becomes the extent of a batch axis that b and n have in common, which are equal unless one of them is 1 (for all examples); an empty batch stays empty.
TTENSOR_INLINE void meet_batch(index_t& b, index_t n) {
  if (n == 1 || n == b) return;
  if (b != 1) batch_mismatch(b, n);
  b = n;
}
}  // namespace eval_detail

/// Of an element type: the block, held.
template <class T, bool Owns> requires(depth_v<T> == 0) struct snapshot<T, Owns> {
  std::conditional_t<Owns, mem::block_ref, mem::bare_hold> block;
  const T* base;
  static constexpr int holds = 1;
  bool same(const snapshot& o) const { return base == o.base; }
  template <class F> TTENSOR_INLINE void each_hold(F&& f) { f(block.word); }
  TTENSOR_INLINE snapshot<T, false> release() { return {block.release(), base}; }
  snapshot<T> owning() const { return {mem::block_ref(hold()), base}; }
  snapshot<T, false> borrowed() const { return {hold(), base}; }
  mem::hold hold() const {
    if constexpr (Owns) return block.word();
    else return block.word;
  }
  template <class F> TTENSOR_INLINE void planes(F&& f) const { f(std::type_identity<T>{}, base, dims<0>{}, dims<0>{}, block.get()); }
};

template <class S> class store;

template <class T> requires(depth_v<T> == 0) class store<T> {
 public:
  store() = default;
  static store make(index_t n, const dims<0>& = {}) { return store(static_cast<std::size_t>(n) * sizeof(T), n); }
  static store over(const snapshot<T>& v, index_t n) { return store(v.block, n); }  // a value over elements that others hold
  static store borrowed(T* p, index_t n) {  // memory of the caller, who keeps it alive; its expressions are not snapshots
    store s;
    s.borrowed_ = p;
    s.size_ = n;
    return s;
  }
  /// The same of an object that has a name, such as a fixed tensor: written in place, but expressions get copies, so that they may outlive it.
  static store of_object(T* p, index_t n) {
    store s = borrowed(p, n);
    s.read_by_copy_ = true;
    return s;
  }
  index_t size() const { return size_; }
  bool valid() const { return static_cast<bool>(cell_) || borrowed_; }
  bool is_borrowed() const { return borrowed_ != nullptr; }
  TTENSOR_INLINE const T* data() const { return TTENSOR_LIKELY(!borrowed_) ? static_cast<const T*>(cell_.data()) : borrowed_; }
  TTENSOR_INLINE char* memory() const {
    return reinterpret_cast<char*>(
        const_cast<T*>(TTENSOR_LIKELY(cell_) ? static_cast<const T*>(cell_.data()) : borrowed_));
  }
  TTENSOR_INLINE T* writable() {  // detaches from values, keeping the contents
    if (TTENSOR_UNLIKELY(borrowed_ != nullptr)) return borrowed_;
    if (TTENSOR_UNLIKELY(!cell_.unique())) detach();
    return static_cast<T*>(cell_.data());
  }
  TTENSOR_INLINE T get(index_t i) const { return data()[i]; }
  TTENSOR_INLINE void set(index_t i, const T& v) { writable()[i] = v; }
  void zero() {
    if (size_) std::memset(static_cast<void*>(writable()), 0, static_cast<std::size_t>(size_) * sizeof(T));
  }
  TTENSOR_INLINE snapshot<T> snap() const {
    if (TTENSOR_UNLIKELY(!cell_)) return read_by_copy_ ? copied() : snapshot<T>{{}, borrowed_};
    return {cell_.value(), static_cast<const T*>(cell_.data())};
  }
  TTENSOR_INLINE mem::hold hold() const { return cell_.hold_value(); }
  /// For a leaf inside a tree, held once more for the tree's root. Of an object that is read by copy: copied(map) instead.
  TTENSOR_INLINE snapshot<T, false> bare() const noexcept {
    if (TTENSOR_LIKELY(cell_)) return {cell_.hold_value(), static_cast<const T*>(cell_.data())};
    return {mem::no_hold, borrowed_};
  }
  bool reads_by_copy() const { return !cell_ && read_by_copy_; }
  /// A leaf of a region of such an object, whose elements alone are copied.
  template <int R> TTENSOR_NOINLINE leaf<T, R> copied(const layout_map<R>& m) const {
    const index_t n = shape::size(m.extent);
    store s = make(n);
    T* to = s.writable();
    const bool adjacent = shape::is_row_major(m.extent, m.stride);
    if (adjacent && n) std::memcpy(static_cast<void*>(to), borrowed_ + m.offset, sizeof(T) * static_cast<std::size_t>(n));
    dims<R> at{};
    for (index_t k = 0, from = m.offset; k < n && !adjacent; ++k) {
      to[k] = borrowed_[from];
      for (int d = R - 1; d >= 0; --d) {  // the next position
        from += m.stride[d];
        if (++at[d] < m.extent[d]) break;
        from -= m.extent[d] * m.stride[d];
        at[d] = 0;
      }
    }
    return {s.snap(), layout_map<R>::row_major(m.extent)};
  }
  store alias() const { return *this; }
  TTENSOR_NOINLINE store value() const {
    if (TTENSOR_LIKELY(cell_)) return store(cell_.value(), size_);
    if (!borrowed_) return {};
    store s = make(size_);
    std::memcpy(s.cell_.data(), borrowed_, static_cast<std::size_t>(size_) * sizeof(T));
    return s;
  }

  /// Number stores of all planes, in plane order.
  template <class F> TTENSOR_INLINE void cells(F&& f) { f(*this); }
  /// True when nobody but this store and `leaves` leaves of the running statement hold the elements.
  bool unique_except(int leaves) const { return cell_ ? cell_.unique_except(leaves) : borrowed_ != nullptr; }
  /// The common case of unique_except(0): a tensor over its own first block, which nobody else holds.
  TTENSOR_INLINE bool alone() const { return TTENSOR_LIKELY(cell_) && cell_.alone(); }
  mem::block* block() const { return cell_ ? cell_.current() : nullptr; }
  /// Takes the elements of `fresh`, which has none then; views of this store see them too. From one that was moved from: none.
  void adopt(store&& fresh) {
    if (cell_ && fresh.cell_ && size_ == fresh.size_ && cell_.has_views()) cell_.adopt(fresh.cell_);
    else cell_ = static_cast<mem::cell_ref&&>(fresh.cell_);
    size_ = std::exchange(fresh.size_, 0);
  }
  template <class F> TTENSOR_INLINE void planes(F&& f) {
    f(std::type_identity<T>{}, const_cast<T*>(data()), dims<0>{}, dims<0>{}, block());
  }
  dims<0> batch() const { return {}; }
  void require_batch(const dims<0>&) {}
  /// The one element of a store of size 1 that nobody else uses.
  T scalar() const { return get(0); }

 private:
  store(std::size_t bytes, index_t n) : cell_(bytes), size_(n) {}
  store(const mem::block_ref& b, index_t n) : cell_(mem::cell_ref::sharing(b)), size_(n) {}
  TTENSOR_NOINLINE void detach() {
    const std::size_t bytes = static_cast<std::size_t>(size_) * sizeof(T);
    mem::block_ref old = cell_.detach(bytes);
    if (bytes) std::memcpy(cell_.data(), old.get()->data(), bytes);
  }
  TTENSOR_NOINLINE snapshot<T> copied() const {
    const store s = value();
    return {s.cell_.value(), static_cast<const T*>(s.cell_.data())};
  }
  mem::cell_ref cell_;
  T* borrowed_ = nullptr;
  index_t size_ = 0;
  bool read_by_copy_ = false;
};

/// Every plane of a store in memory that no value shares, with its contents: what may fail, done before anything is changed.
template <class Store> TTENSOR_INLINE void own_memory(Store& s) {
  s.cells([](auto& plane) { static_cast<void>(plane.writable()); });
}

TTENSOR_END
