#include "tests/support/history/exchange_record.h"

#include "controllers/json/json_writer.h"
#include "controllers/json/utf8.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

namespace festa::test {

namespace {

// -1: no record is configured.
int recordFile() {
  const char* const path = std::getenv("FESTA_TEST_RECORD");
  if (path == nullptr) return -1;
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) throw std::runtime_error(std::string(path) + " cannot be written");
  return file;
}

bool isSuccess(const Response& response) {
  return response.status >= 200 && response.status < 300;
}

}  // namespace

void recordExchange(const std::string& method, const std::string& path, const std::string& sent,
                    const Response& response) {
  static const int file = recordFile();
  if (file < 0 || response.status == 0) return;
  JsonWriter json;
  json.beginObject()
      .member("method", toUtf8(method))
      .member("path", toUtf8(path))
      .member("status", std::int64_t{response.status})
      .member("body", toUtf8(response.body));
  // What was refused may be anything, of any size.
  if (isSuccess(response)) json.member("sent", toUtf8(sent));
  json.key("headers").beginArray();
  for (const auto& [name, value] : response.headers)
    json.beginArray().value(toUtf8(name)).value(toUtf8(value)).endArray();
  const auto line = json.endArray().endObject().take() + '\n';
  // One write: lines of several writers do not mix.
  if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    throw std::runtime_error("the record of answers cannot be written");
}

}  // namespace festa::test
