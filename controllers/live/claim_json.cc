#include "controllers/live/claim_json.h"

#include "controllers/json/json_writer.h"

namespace festa {

std::string render(const ClaimView& claim) {
  JsonWriter json;
  json.beginObject()
      .member("claimId", claim.id)
      .member("state", claim.state)
      .member("ahead", claim.ahead)
      .key("sequence");
  if (claim.sequence)
    json.value(*claim.sequence);
  else
    json.null();
  json.key("code");
  if (claim.code)
    json.value(*claim.code);
  else
    json.null();
  return json.endObject().take();
}

std::string ClaimEventText::event(const ClaimView& claim) const {
  return "data: " + render(claim) + "\n\n";
}

}  // namespace festa
