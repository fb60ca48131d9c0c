// For every operator and each of its operands: the check of the table fails when that partial is 0.1 % wrong.
#include <set>

#include "gate/seeded.hpp"

namespace {
using forward_and_reverse = gate::string_list<gate::string<'J'>, gate::string<'G'>>;
int seeds = 0;
std::set<std::string> tried;  // operators

template <class List> void check_seeds(List list) {
  using Seeded = decltype(gate::all_seeded(list));
  const auto programs = gate::scalars<Seeded>(forward_and_reverse{});
  const auto has = gate::with_partials(list);
  int k = 0;
  for (const char* name : gate::names(list)) {
    CAPTURE(name);
    gate::wrong_operand = -1;
    CHECK(gate::disagreements(k, name, programs) == "");
    for (std::size_t i = 0; i < has[static_cast<std::size_t>(k)].size(); ++i) {
      if (!has[static_cast<std::size_t>(k)][i]) continue;
      CAPTURE(i);
      gate::wrong_operand = static_cast<int>(i);
      for (const auto& one : programs) CHECK(gate::disagreements(k, name, {one}) != "");
      ++seeds;
    }
    tried.insert(name);
    ++k;
  }
}
}  // namespace

TEST_CASE("elementwise operators") {
  check_seeds(ttensor::all_unary{});
  check_seeds(ttensor::all_binary{});
  check_seeds(gate::all_other{});
  std::set<std::string> stored;  // those of the table
  for (const auto& [point, body] : gate::table_values().bodies()) stored.insert(point.substr(0, point.find(':')));
  CHECK(tried == stored);
  CHECK(seeds > 60);  // imag, arg and what gives masks and integers have no partial of a real number
}
