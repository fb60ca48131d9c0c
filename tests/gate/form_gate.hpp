// Forms of operators under compositions, compiled once for a long list of forms. A form is a body of op_values.txt taken apart: what an
// operator is applied to, and what follows, are evaluated arrays of rank 2, so that all forms share these statements and a form costs its
// own operator only. Views of one rank have one type, so views cost nothing.
//
//   struct forms { static std::vector<gate::form> list(); template <class X> auto operator()(const X& x) const; };   // of gate::chosen_body
//   gate::check_forms<forms, gate::all_two>();
//
// Arguments and results have rank 2: an x of another rank gets axes of extent 1 in front, or its first axes are one.
#pragma once
#include <algorithm>

#include "body_gate.hpp"

namespace gate {
struct form {
  const char* body;  // its values
  const char* text;
};
namespace form_detail {
/// As the shape of an argument of rank 2 behind the mapped axes.
inline array with_rank_2(array x, std::size_t mapped) {
  auto& s = x.shape;
  const auto first = [&] { return s.begin() + static_cast<std::ptrdiff_t>(mapped); };
  while (s.size() < 2 + mapped) s.insert(first(), 1);
  while (s.size() > 2 + mapped) s[mapped + 1] *= s[mapped], s.erase(first());
  return x;
}
/// The extents that are not 1; of an argument whose axes were put together, how many elements.
inline std::vector<std::size_t> comparable(const array& a, bool whole) {
  std::vector<std::size_t> s = a.shape;
  if (!whole) return {a.values.size()};
  std::erase(s, std::size_t{1});
  return s;
}
}  // namespace form_detail

template <class Forms, class Strings> void check_forms() {
  const auto programs = compile<Forms, 2>(Strings{});
  chosen_body = 0;
  for (const form& f : Forms::list()) {
    std::string wrong;
    for (const compiled& p : programs) {
      const auto mapped = static_cast<std::size_t>(std::count(p.want.begin(), p.want.end(), 'V'));
      const array x = op_values().input(f.body, p.want), want = op_values().value(f.body, p.want);
      const bool whole = x.shape.size() <= 2 + mapped;
      const array got = p.run(form_detail::with_rank_2(x, mapped));
      if (form_detail::comparable(got, whole) != form_detail::comparable(want, whole) || !(distance(got.values, want.values) <= tolerance)) wrong += p.want + " ";
    }
    INFO(std::string(f.body), ": ", std::string(f.text));
    CHECK(wrong == "");
    ++chosen_body;
  }
}
}  // namespace gate
