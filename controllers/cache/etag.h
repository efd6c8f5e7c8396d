// Entity tags: a client that has the newest version need not get it again.
#pragma once

#include <string>
#include <string_view>

namespace festa {

// Returns a strong tag with its quotes, which is equal for equal texts only.
std::string etagOf(std::string_view text);

// Whether an If-None-Match header ("*", or tags separated by commas, weak ones too) names `etag`.
// What is not a tag ends the list.
bool namesEtag(std::string_view ifNoneMatch, std::string_view etag);

}  // namespace festa
