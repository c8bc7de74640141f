// Numbers in text: the fast paths against the exact functions, and those against the C library.
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "flatout/data/formats/number_text.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

namespace {

float Library(const char* text, float) { return std::strtof(text, nullptr); }
double Library(const char* text, double) { return std::strtod(text, nullptr); }

template <typename T>
void CheckFloat(const std::string& text) {
  T exact = 0;
  const data::NumberFault fault = data::ParseFloat(text, exact);
  if (fault == data::NumberFault::kNone) {
    const T library = Library(text.c_str(), T{});
    FUZZ_CHECK(std::memcmp(&library, &exact, sizeof(T)) == 0);
    FUZZ_CHECK(std::isfinite(exact));
  } else if (fault == data::NumberFault::kRange) {
    FUZZ_CHECK(std::isinf(Library(text.c_str(), T{})));
  }
  T fast = 0;
  const char* end = text.data() + text.size();
  const char* stop = data::FastFloat(text.data(), end, fast);
  if (stop == nullptr) return;
  FUZZ_CHECK(stop > text.data() && stop <= end);
  const std::string_view taken(text.data(), static_cast<size_t>(stop - text.data()));
  FUZZ_CHECK(data::ParseFloat(taken, exact) == data::NumberFault::kNone);
  FUZZ_CHECK(std::memcmp(&fast, &exact, sizeof(T)) == 0);
}

}  // namespace

FUZZ_TARGET(bytes) {
  const std::string text(Text(bytes));
  if (text.find('\0') != std::string::npos) return;  // the C library would end there
  CheckFloat<float>(text);
  CheckFloat<double>(text);

  int64_t exact = 0, fast = 0;
  if (data::ParseInteger(text, exact) == data::NumberFault::kNone) {
    FUZZ_CHECK(std::strtoll(text.c_str(), nullptr, 10) == exact);
  }
  const char* stop = data::FastInteger(text.data(), text.data() + text.size(), fast);
  if (stop != nullptr) {
    const std::string_view taken(text.data(), static_cast<size_t>(stop - text.data()));
    FUZZ_CHECK(data::ParseInteger(taken, exact) == data::NumberFault::kNone && exact == fast);
  }
  uint64_t number = 0;
  if (data::ParseUnsigned(text, number) == data::NumberFault::kNone) {
    FUZZ_CHECK(std::strtoull(text.c_str(), nullptr, 10) == number);
  }
}

}  // namespace flatout::fuzz
