// Claims as JSON.
#pragma once

#include "services/queued_claims.h"

#include <string>

namespace festa {

// {claimId,state,ahead,sequence,code}; what it does not have is null.
std::string render(const ClaimView& claim);

}  // namespace festa
