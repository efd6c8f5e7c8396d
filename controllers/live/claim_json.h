// Claims as JSON, and in event streams.
#pragma once

#include "controllers/live/claim_feed.h"

#include <string>

namespace festa {

// {claimId,state,ahead,sequence,code}; what it does not have is null.
std::string render(const ClaimView& claim);

// Each event is the claim as render() has it.
class ClaimEventText : public ClaimEvents {
 public:
  std::string event(const ClaimView& claim) const override;
};

}  // namespace festa
