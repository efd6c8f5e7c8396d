#include "tests/support/loops.h"
#include "tests/support/servers/service.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>

namespace festa::test {
namespace {

// The tests of the ASan build rely on it: a check that finds nothing would let every leak pass.
TEST(LeakCheck, AServiceThatHasLostMemoryFailsItsTest) {
  auto service = std::make_unique<Service>(sharedPg().createDatabase());
  service->process().signal(SIGUSR1);
  ASSERT_TRUE(
      eventually([&] { return service->log().find("leak check: lost") != std::string::npos; }));
  EXPECT_NONFATAL_FAILURE(service.reset(), "detected memory leaks");
}

}  // namespace
}  // namespace festa::test
