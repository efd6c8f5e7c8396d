#include "controllers/http/idempotency.h"

#include "controllers/json/responses.h"

#include <gtest/gtest.h>

namespace festa::test {

TEST(HadNoEffect, IsTrueOfRefusalsAndOutagesNotOfSuccessesAndUnknownOutcomes) {
  const auto judged = [](int status) {
    return hadNoEffect(emptyResponse(static_cast<drogon::HttpStatusCode>(status)));
  };
  for (const int status : {200, 201, 202, 204, 500}) EXPECT_FALSE(judged(status)) << status;
  for (const int status : {400, 401, 403, 404, 409, 413, 422, 429, 503})
    EXPECT_TRUE(judged(status)) << status;
}

}  // namespace festa::test
