// Performances as JSON.
#pragma once

#include "controllers/json_writer.h"
#include "services/performance_service.h"

namespace festa {

void write(JsonWriter& json, const Performance& performance);

}  // namespace festa
