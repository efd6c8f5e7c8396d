#include "controllers/http/representation.h"

#include <drogon/utils/Utilities.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

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

constexpr std::size_t kDigits = 32;  // 128 bits

std::string_view withoutSeparators(std::string_view text) {
  const auto start = text.find_first_not_of(" \t,");
  return start == std::string_view::npos ? std::string_view() : text.substr(start);
}

}  // namespace

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

bool wantsPage(const drogon::HttpRequest& request) {
  const bool isRead = request.method() == drogon::Get || request.method() == drogon::Head;
  return isRead && wantsHtml(request);
}

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

std::string etagOf(std::string_view text) {
  return '"' + drogon::utils::getBlake2b(text.data(), text.size()).substr(0, kDigits) + '"';
}

bool namesEtag(std::string_view ifNoneMatch, std::string_view etag) {
  auto rest = withoutSeparators(ifNoneMatch);
  if (rest == "*") return true;
  while (!rest.empty()) {
    if (rest.starts_with("W/")) rest.remove_prefix(2);
    if (!rest.starts_with('"')) return false;
    const auto end = rest.find('"', 1);
    if (end == std::string_view::npos) return false;
    if (rest.substr(0, end + 1) == etag) return true;
    rest = withoutSeparators(rest.substr(end + 1));
  }
  return false;
}

}  // namespace festa
