// Which form of an answer a client takes, and whether it has that already: languages, media types,
// encodings and entity tags, as its headers say it.
#pragma once

#include <drogon/HttpRequest.h>

#include <string>
#include <string_view>

namespace festa {

// The weight that an Accept or Accept-Language header gives to a name; 0: none. A language stands
// for its variants, too: en for en-GB.
double weightOf(const std::string& header, const std::string& name);

// Languages: English before Korean, which is the default.
bool wantsEnglish(const drogon::HttpRequest& request);

// A person's browser, which shows HTML, rather than a client of the API.
bool wantsHtml(const drogon::HttpRequest& request);

// Whether an unknown path is answered with a page: it is read, by a person's browser.
bool wantsPage(const drogon::HttpRequest& request);

enum class ContentEncoding { kIdentity, kGzip, kBrotli };

// The best of ours that an Accept-Encoding header names with a weight other than 0; "*" is not read
// as a name.
ContentEncoding bestEncoding(std::string_view acceptEncoding);

// A strong tag, with its quotes: equal for equal texts only.
std::string etagOf(std::string_view text);

// Whether an If-None-Match header ("*", or tags separated by commas, weak ones too) names `etag`.
// What is not a tag ends the list.
bool namesEtag(std::string_view ifNoneMatch, std::string_view etag);

}  // namespace festa
