#include "controllers/http/preference.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace festa {

double weightOf(const std::string& header, const std::string& name) {
  double best = 0;
  std::istringstream ranges(header);
  for (std::string range; std::getline(ranges, range, ',');) {
    std::transform(range.begin(), range.end(), range.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    range.erase(std::remove(range.begin(), range.end(), ' '), range.end());
    const auto tag = range.substr(0, range.find(';'));
    const auto quality = range.find(";q=");
    if (tag != name && !tag.starts_with(name + '-')) continue;
    best = std::max(best, quality == std::string::npos
                              ? 1.0
                              : std::strtod(range.c_str() + quality + 3, nullptr));
  }
  return best;
}

bool wantsEnglish(const drogon::HttpRequest& request) {
  const auto& header = request.getHeader("accept-language");
  return !header.empty() && weightOf(header, "en") > weightOf(header, "ko");
}

bool wantsHtml(const drogon::HttpRequest& request) {
  const auto& header = request.getHeader("accept");
  const auto html = weightOf(header, "text/html");
  const auto json =
      std::max({weightOf(header, "application/json"), weightOf(header, "application/problem+json"),
                weightOf(header, "application/*")});
  return html > json && html >= weightOf(header, "*/*");
}

}  // namespace festa
