// Where a request really comes from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace festa {

// One address or a network of them: 10.0.0.7, 10.0.0.0/8, ::1, fd00::/8.
class AddressRange {
 public:
  // Returns nothing when the text is no address or network.
  static std::optional<AddressRange> parse(const std::string& text);
  // Returns false also when the text is no address.
  bool contains(const std::string& address) const;

 private:
  std::array<std::uint8_t, 16> bytes_{};  // IPv4 as IPv4-mapped IPv6
  int prefix_ = 128;
};

// The peer, unless it is a proxy of ours: then the last address in X-Forwarded-For that is not.
// The client may have invented the addresses before that one.
std::string clientAddress(const std::string& peer, const std::string& forwardedFor,
                          const std::vector<AddressRange>& proxies);

// The name under which a limit counts this address: an IPv4 address, or the /64 network of an IPv6
// address, because one host may use all addresses of such a network.
std::string limitedName(const std::string& address);

}  // namespace festa
