// What tapes of numbers and of duals need, which ttensor::runtime compiles once (base/config.hpp).
#pragma once
#include "reverse.hpp"

#if defined(TTENSOR_KNOWN)
TTENSOR_BEGIN
#define TTENSOR_KNOWN_TAPED(X)                                                                                                       \
  TTENSOR_KNOWN struct adjoint_slot<X>;                                                                                              \
  TTENSOR_KNOWN std::uint32_t tape::new_slot<X>(index_t);                                                                            \
  TTENSOR_KNOWN snapshot<var<X>, false> store<var<X>>::bare() const;                                                                 \
  TTENSOR_KNOWN void add_adjoint<X>(tape&, adjoint_ref, const X&);                                                                   \
  TTENSOR_KNOWN void ad::leaf_noter::note(const ::ttensor::leaf<var<X>, 1, false>&);                                                 \
  TTENSOR_KNOWN void ad::leaf_noter::note(const ::ttensor::leaf<var<X>, 2, false>&);                                                 \
  TTENSOR_KNOWN void ad::leaf_noter::note(const scalar_leaf<X>&);                                                                    \
  TTENSOR_KNOWN void ad::run_node<X>(tape&, const ad::back_layout&, const ad::back_record&, const std::uint32_t*, const index_t*);   \
  TTENSOR_KNOWN void ad::add_gradients<X>(tape&, const ad::back_layout&, const ad::back_record&, slot_base* const*, const index_t*); \
  TTENSOR_KNOWN store<var<X>> reverse_detail::input<X, X>(tape&, const store<X>&);                                                   \
  TTENSOR_KNOWN store<X> reverse_detail::gradient<X>(tape&, const store<var<X>>&);
#define TTENSOR_KNOWN_TAPED_NUMBERS(X)                                                                            \
  TTENSOR_KNOWN_TAPED(X)                                                                                          \
  TTENSOR_KNOWN struct ad::sum_node<X>;                                                                           \
  TTENSOR_KNOWN void ad::add_strided<X>(char*, const index_t*, const char*, const index_t*, const index_t*, int); \
  TTENSOR_KNOWN void ad::add_line<X>(char*, const index_t*, const char*, const index_t*, const index_t*, int);    \
  TTENSOR_KNOWN void ad::leaf_noter::note(const whole_leaf<X, 1>&);                                               \
  TTENSOR_KNOWN void ad::leaf_noter::note(const whole_leaf<X, 2>&);                                               \
  TTENSOR_KNOWN void run::back_detail::add<X>(char*, const char*, index_t);                                       \
  TTENSOR_KNOWN void ad::scale<X>(X*, const X*, index_t, X, bool);                                                \
  TTENSOR_KNOWN store<var<X>> ad::run_sum<X>(std::uint64_t, const ad::back_layout&, const ad::back_record&);

#define TTENSOR_KNOWN_BACK(Plain)                                                                            \
  TTENSOR_KNOWN void ad::run_back<Plain>(const ad::back_layout&, const ad::back_record&, slot_base* const*,  \
                                         const index_t*, slot_base* const*, void*);                          \
  TTENSOR_KNOWN void ad::run_apart<Plain>(const ad::back_layout&, const ad::back_record&, slot_base* const*, \
                                          const index_t*, const ad::gradient_parts&, ad::loose_slots&);

TTENSOR_KNOWN_BACK(true)
TTENSOR_KNOWN_BACK(false)
TTENSOR_KNOWN_TAPED_NUMBERS(float)
TTENSOR_KNOWN_TAPED_NUMBERS(double)
TTENSOR_KNOWN_TAPED(dual<double>)  // Hessians and their products
#undef TTENSOR_KNOWN_BACK
#undef TTENSOR_KNOWN_TAPED_NUMBERS
#undef TTENSOR_KNOWN_TAPED
TTENSOR_END
#endif
