// What a client likes best, as its Accept and Accept-Language headers say it.
#pragma once

#include <drogon/HttpRequest.h>

#include <string>

namespace festa {

// The weight that such a header gives to a name; 0: none. A language stands for its variants, too:
// en for en-GB.
double weightOf(const std::string& header, const std::string& name);

// Languages: English before Korean, which is the default.
bool wantsEnglish(const drogon::HttpRequest& request);

// A person's browser, which shows HTML, rather than a client of the API.
bool wantsHtml(const drogon::HttpRequest& request);

}  // namespace festa
