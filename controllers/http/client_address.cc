#include "controllers/http/client_address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace festa {

namespace {

using Bytes = std::array<std::uint8_t, 16>;

constexpr int kMappedPrefix = 96;

struct Parsed {
  Bytes bytes{};
  bool isV4 = false;
};

std::optional<Parsed> parseAddress(const std::string& text) {
  Parsed parsed;
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    parsed.isV4 = true;
    parsed.bytes[10] = parsed.bytes[11] = 0xFF;
    const auto* const from = reinterpret_cast<const std::uint8_t*>(&v4);
    std::copy_n(from, 4, parsed.bytes.begin() + 12);
    return parsed;
  }
  if (inet_pton(AF_INET6, text.c_str(), parsed.bytes.data()) == 1) return parsed;
  return std::nullopt;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

// 192.0.2.1:8080, [2001:db8::1]:8080
std::string withoutPort(const std::string& text) {
  if (text.starts_with('[')) return text.substr(1, text.find(']') - 1);
  const auto colon = text.find(':');
  const bool isOnlyOne =
      colon != std::string::npos && text.find(':', colon + 1) == std::string::npos;
  return isOnlyOne ? text.substr(0, colon) : text;
}

bool anyContains(const std::vector<AddressRange>& ranges, const std::string& address) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const AddressRange& range) { return range.contains(address); });
}

}  // namespace

std::optional<AddressRange> AddressRange::parse(const std::string& text) {
  const auto slash = text.find('/');
  const auto address = parseAddress(text.substr(0, slash));
  if (!address) return std::nullopt;
  AddressRange range;
  range.bytes_ = address->bytes;
  if (slash == std::string::npos) return range;
  const int longest = address->isV4 ? 32 : 128;
  int prefix = -1;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + slash + 1, end, prefix);
  if (read.ec != std::errc() || read.ptr != end || prefix < 0 || prefix > longest)
    return std::nullopt;
  range.prefix_ = prefix + (address->isV4 ? kMappedPrefix : 0);
  return range;
}

bool AddressRange::contains(const std::string& address) const {
  const auto parsed = parseAddress(address);
  if (!parsed) return false;
  for (int bit = 0; bit < prefix_; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((bytes_[byte] & mask) != (parsed->bytes[byte] & mask)) return false;
  }
  return true;
}

std::string clientAddress(const std::string& peer, const std::string& forwardedFor,
                          const std::vector<AddressRange>& proxies) {
  std::string client = peer;
  std::string rest = forwardedFor;
  while (anyContains(proxies, client) && !rest.empty()) {
    const auto comma = rest.rfind(',');
    const auto named =
        withoutPort(trimmed(comma == std::string::npos ? rest : rest.substr(comma + 1)));
    if (!parseAddress(named)) break;
    client = named;
    rest = comma == std::string::npos ? "" : rest.substr(0, comma);
  }
  return client;
}

std::string limitedName(const std::string& address) {
  static const auto kAllOfIPv4 = *AddressRange::parse("0.0.0.0/0");
  const auto parsed = parseAddress(address);
  if (!parsed || kAllOfIPv4.contains(address)) return address;
  return std::string(parsed->bytes.begin(), parsed->bytes.begin() + 8);
}

}  // namespace festa
