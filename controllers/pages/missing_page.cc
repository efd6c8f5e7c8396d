#include "controllers/pages/missing_page.h"

#include "controllers/http/preference.h"

namespace festa {

MissingPage::MissingPage(const std::string& html) : file_(html, contentTypeOf("page.html")) {}

bool MissingPage::isFor(const drogon::HttpRequest& request) {
  const bool isRead = request.method() == drogon::Get || request.method() == drogon::Head;
  return isRead && wantsHtml(request);
}

drogon::HttpResponsePtr MissingPage::answer(const drogon::HttpRequest& request) const {
  return file_.missing(request);
}

}  // namespace festa
