// Performances as JSON.
#pragma once

#include "controllers/json/json_writer.h"
#include "services/seats/performance_service.h"

namespace festa {

void write(JsonWriter& json, const Performance& performance);

}  // namespace festa
