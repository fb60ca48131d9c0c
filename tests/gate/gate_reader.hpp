// Reads the reference values of the gate (the .txt files of this folder; README.md says what they mean). Standard library only.
#pragma once

#include <cstddef>   // size_t
#include <cstdio>    // fopen
#include <cstdlib>   // strtod
#include <map>
#include <stdexcept> // runtime_error
#include <string>
#include <utility> // pair
#include <vector>

namespace gate {

/// One stored array, row-major. An empty shape is rank 0 with one value.
struct array {
  std::vector<std::size_t> shape;
  std::vector<double> values;
};

/// Where the input of a body comes from: the first elements of a sequence, shape (2,)*(number of V) + shape.
struct body {
  std::string sequence;
  std::vector<std::size_t> shape;
};

/// "2x3" -> {2, 3}; "-" -> {}.
inline std::vector<std::size_t> parse_shape(const std::string& text) {
  std::vector<std::size_t> shape;
  if (text == "-") return shape;
  for (const char* at = text.c_str();;) {
    char* end = nullptr;
    const unsigned long extent = std::strtoul(at, &end, 10);
    if (end == at || (*end != 'x' && *end != '\0')) throw std::runtime_error("gate: bad shape '" + text + "'");
    shape.push_back(extent);
    if (*end == '\0') return shape;
    at = end + 1;
  }
}

inline std::size_t count(const std::vector<std::size_t>& shape) {
  std::size_t n = 1;
  for (const std::size_t extent : shape) n *= extent;
  return n;
}

/// Every string of `alphabet` letters with length first..last, shorter ones first: strings(1, 3) are the 155 of the gate.
inline std::vector<std::string> strings(std::size_t first, std::size_t last, const std::string& alphabet = "GJVFR") {
  std::vector<std::string> all, layer{""};
  for (std::size_t length = 0; length <= last; ++length) {
    if (length >= first) all.insert(all.end(), layer.begin(), layer.end());
    std::vector<std::string> next;
    for (const std::string& s : layer)
      for (const char letter : alphabet) next.push_back(s + letter);
    layer = next;
  }
  return all;
}

/// All lines of one file. Throws std::runtime_error naming the file and the line when something is missing or malformed.
class table {
public:
  explicit table(const std::string& path) : path_(path) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (!file) throw std::runtime_error("gate: cannot open " + path);
    std::string text;
    char block[65536];
    for (std::size_t n = 0; (n = std::fread(block, 1, sizeof block, file)) > 0;) text.append(block, n);
    std::fclose(file);
    std::size_t number = 0;
    for (std::size_t begin = 0; begin < text.size();) {
      std::size_t end = text.find('\n', begin);
      if (end == std::string::npos) end = text.size();
      ++number;
      if (end > begin && text[begin] != '#') parse(text.substr(begin, end - begin), number);
      begin = end + 1;
    }
  }

  /// The value of a body (or of a named entry of special_values.txt, closures.txt and random_values.txt, with the string ".") under a
  /// composition string. "" means "."; R is looked up as F, because the two have the same value.
  const array& value(const std::string& name, std::string string = ".") const {
    if (string.empty()) string = ".";
    for (char& letter : string)
      if (letter == 'R') letter = 'F';
    const auto found = values_.find({name, string});
    if (found == values_.end()) throw std::runtime_error("gate: no value '" + name + " " + string + "' in " + path_);
    return found->second;
  }
  bool has(const std::string& name) const { return values_.count({name, "."}) != 0; }

  const std::vector<double>& sequence(const std::string& name) const {
    const auto found = sequences_.find(name);
    if (found == sequences_.end()) throw std::runtime_error("gate: no sequence '" + name + "' in " + path_);
    return found->second;
  }

  /// The input for a body under a composition string: one leading axis of extent 2 for every V.
  array input(const std::string& name, const std::string& string) const {
    const auto found = bodies_.find(name);
    if (found == bodies_.end()) throw std::runtime_error("gate: no body '" + name + "' in " + path_);
    array x;
    for (const char letter : string)
      if (letter == 'V') x.shape.push_back(2);
    x.shape.insert(x.shape.end(), found->second.shape.begin(), found->second.shape.end());
    const std::vector<double>& all = sequence(found->second.sequence);
    if (count(x.shape) > all.size()) throw std::runtime_error("gate: sequence too short for '" + name + "' in " + path_);
    x.values.assign(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count(x.shape)));
    return x;
  }

  /// Names in file order of the map: for loops that assert that no body was forgotten.
  const std::map<std::string, body>& bodies() const { return bodies_; }
  const std::map<std::pair<std::string, std::string>, array>& values() const { return values_; }

private:
  void parse(const std::string& line, std::size_t number) {
    const char* at = line.c_str();
    const std::string kind = word(at);
    const std::string name = word(at);
    if (kind == "seq") {
      word(at); // the count, for people
      sequences_[name] = numbers(at, number);
    } else if (kind == "body") {
      const std::string sequence = word(at);
      bodies_[name] = {sequence, parse_shape(word(at))};
    } else if (kind == "value") {
      const std::string string = word(at);
      array a{parse_shape(word(at)), {}};
      a.values = numbers(at, number);
      if (a.values.size() != count(a.shape)) fail(number, "as many values as the shape has elements");
      if (!values_.insert({{name, string}, a}).second) fail(number, "a name and string seen for the first time");
    } else {
      fail(number, "seq, body or value");
    }
  }

  static std::string word(const char*& at) {
    while (*at == ' ') ++at;
    const char* const begin = at;
    while (*at != ' ' && *at != '\0') ++at;
    return std::string(begin, at);
  }

  std::vector<double> numbers(const char* at, std::size_t number) const {
    std::vector<double> all;
    for (;;) {
      while (*at == ' ' || *at == '\r') ++at;
      if (*at == '\0') return all;
      char* end = nullptr;
      all.push_back(std::strtod(at, &end)); // reads inf and nan too
      if (end == at) fail(number, "a number");
      at = end;
    }
  }

  [[noreturn]] void fail(std::size_t number, const char* expected) const {
    throw std::runtime_error("gate: " + path_ + ":" + std::to_string(number) + ": expected " + expected);
  }

  std::string path_;
  std::map<std::string, std::vector<double>> sequences_;
  std::map<std::string, body> bodies_;
  std::map<std::pair<std::string, std::string>, array> values_;
};

/// The largest |got - want| divided by max(1, largest |want|): the measure used by all comparisons of the gate.
/// NaN anywhere gives infinity unless both are NaN; equal infinities agree.
inline double distance(const std::vector<double>& got, const std::vector<double>& want) {
  const double infinite = std::strtod("inf", nullptr);
  if (got.size() != want.size()) return infinite;
  double scale = 1, worst = 0;
  for (const double w : want) {
    const double size = w < 0 ? -w : w;
    if (size > scale && size < infinite) scale = size;
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (got[i] != got[i] && want[i] != want[i])) continue;
    const double d = got[i] < want[i] ? want[i] - got[i] : got[i] - want[i];
    if (!(d < infinite)) return infinite;
    if (d > worst) worst = d;
  }
  return worst / scale;
}

#ifdef GATE_DIR
inline const table& gate_values() {
  static const table t(std::string(GATE_DIR) + "/gate_values.txt");
  return t;
}
inline const table& op_values() {
  static const table t(std::string(GATE_DIR) + "/op_values.txt");
  return t;
}
inline const table& table_values() {
  static const table t(std::string(GATE_DIR) + "/table_values.txt");
  return t;
}
inline const table& special_values() {
  static const table t(std::string(GATE_DIR) + "/special_values.txt");
  return t;
}
inline const table& closure_values() {
  static const table t(std::string(GATE_DIR) + "/closures.txt");
  return t;
}
inline const table& random_values() {
  static const table t(std::string(GATE_DIR) + "/random_values.txt");
  return t;
}
#endif

} // namespace gate
