#include "controllers/pages/pages_controller.h"

#include "controllers/http/representation.h"
#include "controllers/pages/embedded_files.h"

#include <algorithm>
#include <array>

namespace festa {

using drogon::HttpResponsePtr;

namespace {

struct PagePath {
  const char* path;
  const char* name;  // its .css and .mjs have it
};

constexpr std::array kPages{
    PagePath{"/", "home"},     PagePath{"/council", "council"},
    PagePath{"/lab", "lab"},   PagePath{"/operator", "operator"},
    PagePath{"/docs", "docs"},
};

constexpr std::size_t kVersionDigits = 12;

std::string versionOfAll() {
  std::string all;
  for (const auto& file : pageFiles()) all.append(file.name).append(file.content);
  return etagOf(all).substr(1, kVersionDigits);
}

// Every page is made of it.
constexpr const char* kTemplate = "page.html";

std::map<std::string, StaticFile> assetFiles() {
  std::map<std::string, StaticFile> files;
  for (const auto& [name, content] : pageFiles())
    if (name != kTemplate) files.try_emplace(name, std::string(content), contentTypeOf(name));
  return files;
}

void replaceAll(std::string& text, std::string_view what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
}

std::string namesOf(PageModes modes) {
  std::string names = modes.demo ? "demo" : "";
  if (modes.lab) names += names.empty() ? "lab" : " lab";
  return names;
}

// Adds the modules that this one imports, and theirs.
void addImports(const std::string& module, std::vector<std::string>& all) {
  static constexpr std::string_view kFrom = "from \"./";
  const auto text = contentOf(pageFiles(), module);
  for (auto at = text.find(kFrom); at != std::string_view::npos; at = text.find(kFrom, at + 1)) {
    const auto begin = at + kFrom.size();
    const std::string name(text.substr(begin, text.find('"', begin) - begin));
    if (std::find(all.begin(), all.end(), name) != all.end()) continue;
    all.push_back(name);
    addImports(name, all);
  }
}

// So that a browser does not learn of a module by reading the one that imports it.
std::string preloadsOf(const std::string& page) {
  std::vector<std::string> modules;
  addImports(page + ".mjs", modules);
  std::string links;
  for (const auto& name : modules)
    links += R"(<link rel="modulepreload" href="{{assets}}/)" + name + "\">\n";
  return links;
}

std::string htmlOf(const std::string& page, const std::string& version, PageModes modes) {
  std::string html(contentOf(pageFiles(), kTemplate));
  replaceAll(html, "{{page}}", page);
  replaceAll(html, "{{preloads}}", preloadsOf(page));
  replaceAll(html, "{{assets}}", "/assets/" + version);
  replaceAll(html, "{{modes}}", namesOf(modes));
  return html;
}

std::map<std::string, StaticFile> pagesOf(const std::string& version, PageModes modes) {
  std::map<std::string, StaticFile> pages;
  for (const auto& [path, name] : kPages)
    pages.try_emplace(path, htmlOf(name, version, modes), contentTypeOf(kTemplate));
  return pages;
}

std::string parsePerformance(const Asked& asked) {
  return asked.path("performanceId");
}

AssetName parseAsset(const Asked& asked) {
  return {asked.path("version"), asked.path("file")};
}

}  // namespace

PagesController::PagesController(PageModes modes, PerformanceJsonCache& performances)
    : performances_(performances),
      version_(versionOfAll()),
      assets_(assetFiles()),
      pages_(pagesOf(version_, modes)),
      seats_(htmlOf("seats", version_, modes), contentTypeOf(kTemplate)),
      missing_(htmlOf("missing", version_, modes), contentTypeOf(kTemplate)) {}

void PagesController::publish(RoutePublisher& routes) const {
  for (const auto& [path, file] : pages_)
    routes.add(*this, {.method = drogon::Get, .path = path, .access = kAnyone}, parseNothing,
               &PagesController::page);
  routes.add(*this, {.method = drogon::Get, .path = "/seats/{performanceId}", .access = kAnyone},
             parsePerformance, &PagesController::seats);
  routes.add(*this, {.method = drogon::Get, .path = "/assets/{version}/{file}", .access = kAnyone},
             parseAsset, &PagesController::asset);
}

drogon::Task<HttpResponsePtr> PagesController::page(const Call<NoInput>& call) const {
  const auto& path = call.context.match.route->spec().path;
  co_return pages_.at(path).answer(*call.request, Caching::kAskAgain);
}

drogon::Task<bool> PagesController::isUnknown(std::string performanceId) const {
  try {
    co_await performances_.of(parseId(performanceId, inPath("performanceId")));
  } catch (const ServiceError& error) {
    co_return error.code() == ErrorCode::kPerformanceNotFound ||
        error.code() == ErrorCode::kInvalidParameter;
  } catch (const std::exception&) {  // the database did not answer
    co_return false;
  }
  co_return false;
}

drogon::Task<HttpResponsePtr> PagesController::seats(const Call<std::string>& call) const {
  const bool isMissing = co_await isUnknown(call.input);
  co_return isMissing ? missing_.missing(*call.request)
                      : seats_.answer(*call.request, Caching::kAskAgain);
}

drogon::Task<HttpResponsePtr> PagesController::asset(const Call<AssetName>& call) const {
  const auto found = assets_.find(call.input.file);
  if (found == assets_.end()) {
    if (wantsPage(*call.request)) co_return missing_.missing(*call.request);
    throw ServiceError(ErrorCode::kRouteNotFound);
  }
  const bool isOurs = call.input.version == version_;
  co_return found->second.answer(*call.request, isOurs ? Caching::kForever : Caching::kAskAgain);
}

}  // namespace festa
