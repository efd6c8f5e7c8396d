// Arrays as parameters of statements: Drogon has no type for them, PostgreSQL reads them as text.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace festa {

// Collects the elements of one parameter, e.g. of `$1::bigint[]` or `$2::text[]`.
class SqlArray {
 public:
  SqlArray& add(std::integral auto value) {
    separate();
    text_ += std::to_string(value);
    return *this;
  }
  SqlArray& add(std::string_view value);
  SqlArray& addNull();

  // The parameter. The array is empty afterwards.
  std::string take();

 private:
  void separate() {
    if (text_.size() > 1) text_ += ',';
  }

  std::string text_ = "{";
};

template <class Values>
std::string sqlArray(const Values& values) {
  SqlArray array;
  for (const auto& value : values) array.add(value);
  return array.take();
}

}  // namespace festa
