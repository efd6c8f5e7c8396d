// Exceptions of entry handlers, as text for the log.
#pragma once

#include <exception>
#include <string>

namespace festa::queue {

// Of the exception that is being handled: called inside a catch block. Handlers may throw anything.
inline std::string failureText() {
  try {
    throw;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "something was thrown that is not a std::exception";
  }
}

}  // namespace festa::queue
