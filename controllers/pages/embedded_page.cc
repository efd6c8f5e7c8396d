#include "controllers/pages/embedded_page.h"

namespace festa {

void EmbeddedPage::publish(RoutePublisher& routes) const {
  routes.add(*this, {.method = drogon::Get, .path = path_, .access = kAnyone}, parseNothing,
             &EmbeddedPage::show);
}

drogon::Task<drogon::HttpResponsePtr> EmbeddedPage::show(const Call<NoInput>& call) const {
  co_return file_.answer(*call.request, Caching::kAskAgain);
}

}  // namespace festa
