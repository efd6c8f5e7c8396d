// Answers kept for tests/dev/openapi_test.py, which compares them with the OpenAPI document.
#pragma once

#include "tests/support/http/http.h"

#include <string>

namespace festa::test {

// Appends one JSON line to the file that the environment variable FESTA_TEST_RECORD names; nothing
// without it. Thread-safe; several processes may share the file.
void recordExchange(const std::string& method, const std::string& path, const std::string& sent,
                    const Response& response);

}  // namespace festa::test
