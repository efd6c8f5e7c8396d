#include "controllers/http/client_address.h"

#include <gtest/gtest.h>

namespace festa::test {

namespace {

std::vector<AddressRange> ranges(const std::vector<std::string>& texts) {
  std::vector<AddressRange> all;
  for (const auto& text : texts) all.push_back(*AddressRange::parse(text));
  return all;
}

}  // namespace

TEST(AddressRange, HoldsAnAddressOrANetwork) {
  EXPECT_TRUE(AddressRange::parse("10.0.0.7")->contains("10.0.0.7"));
  EXPECT_FALSE(AddressRange::parse("10.0.0.7")->contains("10.0.0.8"));
  EXPECT_TRUE(AddressRange::parse("10.0.0.0/8")->contains("10.255.1.2"));
  EXPECT_FALSE(AddressRange::parse("10.0.0.0/8")->contains("11.0.0.1"));
  EXPECT_TRUE(AddressRange::parse("172.16.0.0/12")->contains("172.31.255.255"));
  EXPECT_FALSE(AddressRange::parse("172.16.0.0/12")->contains("172.32.0.0"));
  EXPECT_TRUE(AddressRange::parse("0.0.0.0/0")->contains("192.0.2.1"));
  EXPECT_FALSE(AddressRange::parse("0.0.0.0/0")->contains("2001:db8::1"));
  EXPECT_TRUE(AddressRange::parse("fd00::/8")->contains("fdff::1"));
  EXPECT_FALSE(AddressRange::parse("::1")->contains("::2"));
  EXPECT_FALSE(AddressRange::parse("::1")->contains("not an address"));
}

TEST(AddressRange, OtherTextsAreRefused) {
  for (const auto* text :
       {"", "proxy", "10.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/8x"})
    EXPECT_FALSE(AddressRange::parse(text)) << text;
}

TEST(ClientAddress, IsThePeerUnlessThatIsAProxy) {
  const auto proxies = ranges({"10.0.0.0/8"});
  EXPECT_EQ(clientAddress("192.0.2.1", "198.51.100.1", proxies), "192.0.2.1");
  EXPECT_EQ(clientAddress("192.0.2.1", "198.51.100.1", {}), "192.0.2.1");
  EXPECT_EQ(clientAddress("10.0.0.1", "", proxies), "10.0.0.1");
  EXPECT_EQ(clientAddress("10.0.0.1", "198.51.100.1", proxies), "198.51.100.1");
}

TEST(ClientAddress, MayComeWithAPort) {
  const auto proxies = ranges({"10.0.0.0/8"});
  EXPECT_EQ(clientAddress("10.0.0.1", "198.51.100.1:4711", proxies), "198.51.100.1");
  EXPECT_EQ(clientAddress("10.0.0.1", "[2001:db8::1]:4711", proxies), "2001:db8::1");
}

TEST(ClientAddress, IsLimitedByItsNetworkIfThatIsOneHosts) {
  EXPECT_EQ(limitedName("2001:db8::1"), limitedName("2001:db8::ffff"));
  EXPECT_NE(limitedName("2001:db8::1"), limitedName("2001:db8:0:1::1"));
  EXPECT_NE(limitedName("192.0.2.1"), limitedName("192.0.2.2"));
  EXPECT_NE(limitedName("::ffff:192.0.2.1"), limitedName("::ffff:192.0.2.2"));
}

TEST(ClientAddress, OnlyWhatProxiesAddedIsBelieved) {
  const auto proxies = ranges({"10.0.0.0/8"});
  EXPECT_EQ(clientAddress("10.0.0.1", "1.2.3.4, 198.51.100.1", proxies), "198.51.100.1");
  EXPECT_EQ(clientAddress("10.0.0.1", "198.51.100.1 , 10.0.0.2", proxies), "198.51.100.1");
  EXPECT_EQ(clientAddress("10.0.0.1", "10.0.0.3,10.0.0.2", proxies), "10.0.0.3");
  EXPECT_EQ(clientAddress("10.0.0.1", "198.51.100.1, garbage", proxies), "10.0.0.1");
}

}  // namespace festa::test
