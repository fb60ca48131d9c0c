// Code that many programs need alike: templates for the commonest arguments, which ttensor::runtime compiles once (base/config.hpp).
#pragma once
#include "../run/contraction.hpp"
#include "../run/linalg.hpp"
#include "../run/matmul.hpp"
#include "../run/sums.hpp"
#include "evaluate.hpp"

#if defined(TTENSOR_KNOWN)
TTENSOR_BEGIN
#define TTENSOR_KNOWN_RANK(R)                                                               \
  TTENSOR_KNOWN void run::statement_planes<R>::broadcast();                                 \
  TTENSOR_KNOWN void run::statement_planes<R>::align();                                     \
  TTENSOR_KNOWN void run::statement_planes<R>::run_planned();                               \
  TTENSOR_KNOWN void run::statement_planes<R>::run_flat();                                  \
  TTENSOR_KNOWN void run::sum_planned(run::statement_planes<R>&, const run::accumulation&, int); \
  TTENSOR_KNOWN void run::sum_flat(run::statement_planes<R>&);
#define TTENSOR_KNOWN_ARRAY(T, R)                                                                       \
  TTENSOR_KNOWN store<T> eval_detail::run_fresh<T, R>(run::statement_planes<R>&);                       \
  TTENSOR_KNOWN void eval_detail::run_into<T, R>(store<T>&, dims<R>&, run::statement_planes<R>&, bool); \
  TTENSOR_KNOWN void eval_detail::run_whole<T, R>(store<T>&, dims<R>&, const run::statement_type&, const void*);
#define TTENSOR_KNOWN_ELEMENT(T)                                                    \
  TTENSOR_KNOWN store<T> store<T>::value() const;                                   \
  TTENSOR_KNOWN void store<T>::detach();                                            \
  TTENSOR_KNOWN void run::multiply<T>(const run::product&, const T*, const T*, T*); \
  TTENSOR_KNOWN void run::absorb_zeros<T>(const run::product_nest&, unsigned, const T*, const T*, T*, index_t); \
  TTENSOR_KNOWN void run::substitute<T>(bool, index_t, index_t, const T*, index_t, index_t, T*, index_t); \
  TTENSOR_KNOWN index_t run::factor_cholesky<T>(index_t, T*, index_t);              \
  TTENSOR_KNOWN_ARRAY(T, 1) TTENSOR_KNOWN_ARRAY(T, 2) TTENSOR_KNOWN_ARRAY(T, 3)

TTENSOR_KNOWN_RANK(1)
TTENSOR_KNOWN_RANK(2)
TTENSOR_KNOWN_RANK(3)
TTENSOR_KNOWN_ELEMENT(float)
TTENSOR_KNOWN_ELEMENT(double)
TTENSOR_KNOWN void mem::drop_each(mem::one_hold) noexcept;
TTENSOR_KNOWN void mem::drop_each(mem::one_hold, mem::one_hold) noexcept;
TTENSOR_KNOWN void mem::drop_each(mem::one_hold, mem::one_hold, mem::one_hold) noexcept;
TTENSOR_KNOWN void mem::drop_each(mem::one_hold, mem::one_hold, mem::one_hold, mem::one_hold) noexcept;
#undef TTENSOR_KNOWN_RANK
#undef TTENSOR_KNOWN_ARRAY
#undef TTENSOR_KNOWN_ELEMENT
TTENSOR_END
#endif
