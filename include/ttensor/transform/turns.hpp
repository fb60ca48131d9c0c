// The recording of a pullback or of a linear map, which several threads may apply at once: they take turns.
#pragma once
#include "../ad/tape.hpp"

TTENSOR_BEGIN

namespace transform_detail {
class turns {
 public:
  turns() = default;
  turns(const turns&) = delete;
  ~turns() { lock_.end(); }
  class turn {
   public:
    explicit turn(turns& t) : t_(t) {
      if (t.whose_.load(mem::order::relaxed) == __builtin_addressof(mem::this_thread))
        raise<level_error>(
            "[vjp] a pullback or linear map is applied inside its own backward pass, which has one recording; make another one there [TT-L05]");
      t.lock_.lock();
      t.whose_.store(__builtin_addressof(mem::this_thread), mem::order::relaxed);
    }
    ~turn() {
      t_.whose_.store(nullptr, mem::order::relaxed);
      t_.lock_.unlock();
    }
    turn(const turn&) = delete;

   private:
    turns& t_;
  };

 private:
  mem::mutex lock_;
  mem::atomic<const void*> whose_{nullptr};  // the thread whose turn it is, by an address of its own
};
}  // namespace transform_detail

TTENSOR_END
