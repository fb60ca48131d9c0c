// Cells: the identity that a tensor shares with its views.
#pragma once
#include "hold.hpp"

TTENSOR_BEGIN
namespace mem {

/// A C with a count `holders` that starts at 1, such as what a tensor of a scalar kind shares with its views. Threads of the user may meet here: a level
/// refuses theirs with an error, and what is mapped is read by all.
template <class C> class shared_cell {
 public:
  shared_cell() = default;
  explicit shared_cell(C* fresh) : c_(fresh) {}
  shared_cell(const shared_cell& o) noexcept : c_(o.c_) {
    if (c_) mem::count(c_->holders, 1);
  }
  shared_cell(shared_cell&& o) noexcept : c_(o.c_) { o.c_ = nullptr; }
  shared_cell& operator=(shared_cell o) noexcept {
    std::swap(c_, o.c_);
    return *this;
  }
  ~shared_cell() {
    if (c_) drop(c_);
  }
  explicit operator bool() const { return c_ != nullptr; }
  C* operator->() const { return c_; }
  C& operator*() const { return *c_; }
  bool shared() const { return c_->holders.load(order::acquire) > 1; }

 protected:
  C* c_ = nullptr;

 private:
  TTENSOR_NOINLINE static void drop(C* c) noexcept {
    if (mem::count(c->holders, -1) == 1) delete c;
  }
};

/// The shared identity of a tensor and its views. The cell lives in the header of the tensor's first block.
class cell_ref {
 public:
  cell_ref() = default;
  explicit cell_ref(std::size_t data_bytes) : home_(new_block(data_bytes)) {
    home_->shared.store(2, order::relaxed);
    home_->current = home_;
    home_->counted_by = home_->owner;
    home_->cell_holders.store(1, order::relaxed);
  }
  cell_ref(const cell_ref& o) : home_(o.home_) {
    if (home_) count(1);
  }
  cell_ref(cell_ref&& o) noexcept : home_(o.home_) { o.home_ = nullptr; }
  cell_ref& operator=(cell_ref o) noexcept {
    block* h = home_;
    home_ = o.home_;
    o.home_ = h;
    return *this;
  }
  ~cell_ref() { reset(); }
  void reset() noexcept {
    if (!home_) return;
    if (home_->cell_holders.load(order::acquire) == 1 || count(-1) == 1) {
      block* cur = home_->current;
      if (TTENSOR_LIKELY(cur == home_ && unique())) return destroy_home();
      block_ref::drop(cur, home_->counted_by != nobody);
      release_shared(home_);
    }
    home_ = nullptr;
  }
  explicit operator bool() const { return home_ != nullptr; }
  block* current() const { return home_->current; }
  void* data() const { return home_->current->data(); }
  bool same(const cell_ref& o) const { return home_ == o.home_; }
  bool has_views() const { return home_->cell_holders.load(order::relaxed) > 1; }
  /// True when no value holds the elements, so that they may be written.
  bool unique() const { return TTENSOR_LIKELY(alone()) || unique_except(0); }
  TTENSOR_INLINE bool alone() const {
    return TTENSOR_LIKELY(home_->current == home_) && TTENSOR_LIKELY(home_->seen_local() == 1) &&
           TTENSOR_LIKELY(home_->shared.load(order::acquire) == 2);
  }
  /// The same, not counting `leaves` holders that this thread has.
  bool unique_except(std::int64_t leaves) const {
    const block* c = home_->current;
    const std::int64_t local = c->seen_local(), in_shared = c->shared.load(order::acquire);  // in this order: block.hpp
    return in_shared + (local > 1 ? local - 1 : 0) == (c == home_ ? 2 : 1) + leaves;
  }
  block_ref value() const { return block_ref(home_->current, home_->counted_by); }
  /// For a leaf: no_hold where there is no cell. What is rare leaves by one call, as statements have many leaves.
  TTENSOR_INLINE hold hold_value() const {
    if (TTENSOR_UNLIKELY(!home_) || TTENSOR_UNLIKELY(home_->counted_by != this_thread)) return hold_rarely(home_);
    return hold_counted(home_->current);
  }
  /// Moves the cell to a fresh block of the same size (contents NOT copied: the caller copies from `old`).
  block_ref detach(std::size_t data_bytes) {
    block_ref old = value();
    if (!has_views()) {
      *this = cell_ref(data_bytes);
    } else {
      block* fresh = new_block(data_bytes);
      block_ref::drop(home_->current, home_->counted_by != nobody);
      home_->current = fresh;
      home_->counted_by = fresh->owner;
    }
    return old;
  }
  /// Points the cell at the elements of another, which gives up its hold.
  void adopt(cell_ref& fresh) {
    block_ref v = fresh.value();
    fresh.reset();
    block_ref::drop(home_->current, home_->counted_by != nobody);
    hold_as_current(home_, static_cast<block_ref&&>(v));
  }
  /// A cell over a block that values hold already: the O(1) copy of a tensor.
  static cell_ref sharing(const block_ref& b) {
    cell_ref c(std::size_t(0));
    const bool local = c.home_->counted_by != nobody;
    hold_as_current(c.home_, block_ref(b));
    block_ref::drop(c.home_, local);  // the fresh header's own element block is not used
    return c;
  }

 private:
  static block* new_block(std::size_t data_bytes);
  static void hold_as_current(block* home, block_ref b) {
    home->current = b.get();
    home->counted_by = b.is_local() ? b.get()->owner : nobody;
    static_cast<void>(b.release());
  }
  /// Adds to the number of holders of the cell, and returns what it was.
  TTENSOR_INLINE std::int64_t count(std::int64_t by) const noexcept { return mem::count(home_->cell_holders, by); }
  void destroy_home() noexcept {
    destroy(home_);
    home_ = nullptr;
  }
  block* home_ = nullptr;
};

#if defined(TTENSOR_BODY)
TTENSOR_BODY block* cell_ref::new_block(std::size_t data_bytes) {
  if (TTENSOR_UNLIKELY(this_thread == 0)) register_thread();
  if (own_box && TTENSOR_UNLIKELY(own_box->posted.load(order::relaxed) != nullptr)) settle_mail(false);
  std::size_t bytes = sizeof(block) + data_bytes;
  memory_resource* from = nullptr;
  void* p = take_bytes(bytes, from);
  block* b = new (p) block;
  const bool late = this_thread == 0;  // of static objects, or of a thread that is ending: nobody counts locally
  b->shared.store(1, order::relaxed);
  b->local = late ? 0 : 1;
  b->owner = late ? nobody : this_thread;
  b->bytes = bytes;
  b->from = from;
  b->current = nullptr;
  b->cell_holders.store(0, order::relaxed);
  b->counted_by = nobody;
  if (data_bytes % 64 != 0) __builtin_memset(static_cast<char*>(b->data()) + data_bytes / 64 * 64, 0, 64);  // short statements compute whole packs: nothing left there by others
  return b;
}
#endif

}  // namespace mem
TTENSOR_END
