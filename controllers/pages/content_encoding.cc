#include "controllers/pages/content_encoding.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace festa {

namespace {

// Lower case, without spaces.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '\t')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// "q=0", "q=0.0" and the like.
bool isRefused(std::string_view parameters) {
  return parameters.starts_with("q=0") &&
         parameters.find_first_not_of("0.", 2) == std::string_view::npos;
}

}  // namespace

ContentEncoding bestEncoding(std::string_view acceptEncoding) {
  const auto header = plain(acceptEncoding);
  auto best = ContentEncoding::kIdentity;
  std::string_view rest = header;
  while (!rest.empty()) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto item = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const auto semicolon = std::min(item.find(';'), item.size());
    const auto name = item.substr(0, semicolon);
    if (isRefused(item.substr(std::min(semicolon + 1, item.size())))) continue;
    if (name == "br") best = ContentEncoding::kBrotli;
    if (name == "gzip") best = std::max(best, ContentEncoding::kGzip);
  }
  return best;
}

}  // namespace festa
