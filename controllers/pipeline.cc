#include "controllers/pipeline.h"

namespace festa {

void Pipeline::admitCaller(const RouteHead& head, const RequestContext& context) const {
  if (!head.isAuthenticatedWrite() || context.mayOnlyRepeat) return;
  if (head.checksPassword) parts_.admission.admitPassword(*context.caller);
  parts_.admission.admitWrite(*context.caller);
}

}  // namespace festa
