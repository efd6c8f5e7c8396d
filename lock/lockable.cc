#include "lock/lockable.h"

namespace festa::lock {

namespace {

bool isPlain(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '_' || c >= 0x80;
}

// Percent-encodes whatever could be taken for a separator, and the percent sign itself.
void appendEscaped(std::string& out, std::string_view value) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (isPlain(byte)) {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

void checkLiteral(std::string_view text, std::string_view literal, bool betweenVariables) {
  if (literal.find('}') != std::string_view::npos)
    throw KeyTemplateError("lock key '" + std::string(text) + "': '}' without '{'");
  if (!betweenVariables) return;
  // Values never contain an unescaped ':' '.' or the like; a separator made of plain characters
  // could be part of a value.
  for (const char c : literal)
    if (!isPlain(static_cast<unsigned char>(c)) && c != '%') return;
  throw KeyTemplateError("lock key '" + std::string(text) +
                         "': variables need a separator such as ':' between them");
}

}  // namespace

KeyTemplate KeyTemplate::compile(std::string_view text,
                                 const std::set<std::string>& knownVariables) {
  KeyTemplate result;
  std::size_t position = 0;
  while (true) {
    const auto open = text.find('{', position);
    const auto literal =
        text.substr(position, open == std::string_view::npos ? open : open - position);
    checkLiteral(text, literal, !result.variables_.empty() && open != std::string_view::npos);
    result.literals_.emplace_back(literal);
    if (open == std::string_view::npos) break;
    const auto close = text.find('}', open);
    if (close == std::string_view::npos)
      throw KeyTemplateError("lock key '" + std::string(text) + "': '{' without '}'");
    const std::string name(text.substr(open + 1, close - open - 1));
    if (!knownVariables.contains(name))
      throw KeyTemplateError("lock key '" + std::string(text) + "': unknown variable '" + name +
                             "'");
    result.variables_.push_back(name);
    position = close + 1;
  }
  if (text.empty()) throw KeyTemplateError("a lock key must not be empty");
  return result;
}

std::string KeyTemplate::render(const KeyVariables& values) const {
  std::string key = literals_.front();
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const auto value = values.variable(variables_[i]);
    if (!value || value->empty()) throw MissingKeyVariable(variables_[i]);
    appendEscaped(key, *value);
    key += literals_[i + 1];
  }
  return key;
}

}  // namespace festa::lock
