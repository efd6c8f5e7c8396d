// Which compression a client takes.
#pragma once

#include <string_view>

namespace festa {

enum class ContentEncoding { kIdentity, kGzip, kBrotli };

// The best of ours that an Accept-Encoding header names with a weight other than 0; "*" is not read
// as a name.
ContentEncoding bestEncoding(std::string_view acceptEncoding);

}  // namespace festa
