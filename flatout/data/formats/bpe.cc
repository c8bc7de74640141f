#include "flatout/data/formats/bpe.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <queue>

#include "flatout/base/error.h"

namespace flatout::data {
namespace {

constexpr size_t kMostTokens = size_t{1} << 24;
// Up to here neighbours are simply looked through for each merge; beyond, a queue is quicker.
constexpr size_t kShortPiece = 48;

// The White_Space property of Unicode, which \s means to tiktoken and Hugging Face.
#define SPACE "\\t-\\r\\x{85}\\p{Z}"

std::string PcreMessage(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

std::string ShownLine(std::string_view text) {
  std::string shown(text.substr(0, 40));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return "\"" + shown + "\"";
}

// Calls body(line number, line) for each line, without its "\n" or "\r\n".
template <typename Body>
void ForLines(std::string_view text, Body body) {
  int64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    body(++number, line);
    at = end + 1;
  }
}

// Base64 with padding, as in RFC 4648; false where it is none.
bool DecodeBase64(std::string_view text, std::string& out) {
  if (text.empty() || text.size() % 4 != 0) return false;
  for (size_t at = 0; at < text.size(); at += 4) {
    uint32_t word = 0;
    int padding = 0;
    for (size_t i = 0; i < 4; ++i) {
      const char c = text[at + i];
      uint32_t value = 0;
      if (c >= 'A' && c <= 'Z') {
        value = static_cast<uint32_t>(c - 'A');
      } else if (c >= 'a' && c <= 'z') {
        value = static_cast<uint32_t>(c - 'a') + 26;
      } else if (c >= '0' && c <= '9') {
        value = static_cast<uint32_t>(c - '0') + 52;
      } else if (c == '+') {
        value = 62;
      } else if (c == '/') {
        value = 63;
      } else if (c == '=' && at + 4 == text.size() && i >= 2) {
        ++padding;
      } else {
        return false;
      }
      if (padding > 0 && c != '=') return false;
      word = word << 6 | value;
    }
    out += static_cast<char>(word >> 16 & 0xff);
    if (padding < 2) out += static_cast<char>(word >> 8 & 0xff);
    if (padding < 1) out += static_cast<char>(word & 0xff);
  }
  return true;
}

// GPT-2's letters for bytes: printable ones stand for themselves, the others for U+0100 on in their
// order. 324 code points; -1 for those that stand for no byte.
std::array<int16_t, 324> MakeLetters() {
  std::array<int16_t, 324> letters;
  letters.fill(-1);
  int16_t next = 256;
  for (int16_t byte = 0; byte < 256; ++byte) {
    const bool itself = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    letters[static_cast<size_t>(itself ? byte : next++)] = byte;
  }
  return letters;
}

// The bytes that a token's letters stand for; false where one stands for none.
bool DecodeLetters(std::string_view text, std::string& bytes) {
  static const std::array<int16_t, 324> kLetters = MakeLetters();
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    uint32_t point = first;
    size_t length = 1;
    if (first >= 0xc0 && first < 0xe0 && at + 1 < text.size()) {
      point = (first & 0x1fu) << 6 | (static_cast<unsigned char>(text[at + 1]) & 0x3fu);
      length = 2;
    } else if (first >= 0x80) {
      return false;
    }
    if (point >= kLetters.size() || kLetters[point] < 0) return false;
    bytes += static_cast<char>(kLetters[point]);
    at += length;
  }
  return true;
}

}  // namespace

// ---- TextPattern ----

struct TextPattern::Code {
  std::string expression;
  pcre2_code* code = nullptr;
  ~Code() { pcre2_code_free(code); }
};

namespace {
struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};
using Match = std::unique_ptr<pcre2_match_data, FreeMatch>;
}  // namespace

TextPattern::TextPattern(const std::string& expression) : code_(std::make_unique<Code>()) {
  code_->expression = expression;
  int error = 0;
  PCRE2_SIZE offset = 0;
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(expression.data()), expression.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF |
                                  PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C,
                              &error, &offset, nullptr);
  if (code_->code == nullptr) {
    throw Invalid("the regular expression {} is wrong at character {}: {}", ShownLine(expression),
                  offset, PcreMessage(error));
  }
  // Where the processor has no JIT, the interpreter gives the same matches.
  pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE);
}
TextPattern::~TextPattern() = default;

namespace {

int RunMatch(const pcre2_code* code, std::string_view text, size_t at, uint32_t options,
             pcre2_match_data* match, const std::string& expression) {
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int found = pcre2_match(code, subject, text.size(), at, options, match, nullptr);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {
    found = pcre2_match(code, subject, text.size(), at, options | PCRE2_NO_JIT, match, nullptr);
  }
  if (found < 0 && found != PCRE2_ERROR_NOMATCH) {
    throw BadData("the regular expression {} gives up on the text at byte {}: {}",
                  ShownLine(expression), at, PcreMessage(found));
  }
  return found;
}

}  // namespace

void TextPattern::Split(std::string_view text, std::vector<std::string_view>& pieces) const {
  const Match match(pcre2_match_data_create(1, nullptr));
  if (match == nullptr) throw std::bad_alloc();
  const PCRE2_SIZE* place = pcre2_get_ovector_pointer(match.get());
  size_t at = 0, done = 0;
  while (at < text.size()) {
    const int found = RunMatch(code_->code, text, at, 0, match.get(), code_->expression);
    if (found < 0) break;
    const size_t begin = place[0], end = place[1];
    if (end > begin) {
      if (begin > done) pieces.push_back(text.substr(done, begin - done));
      pieces.push_back(text.substr(begin, end - begin));
      done = end;
    }
    at = end > begin ? end : end + 1;  // an empty match is no piece
  }
  if (done < text.size()) pieces.push_back(text.substr(done));
}

std::string TextPattern::Replace(std::string_view text, const std::string& replacement) const {
  std::string result(text.size() + 64, '\0');
  for (int tries = 0;; ++tries) {
    PCRE2_SIZE size = result.size();
    const int found = pcre2_substitute(
        code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0,
        PCRE2_SUBSTITUTE_GLOBAL | PCRE2_SUBSTITUTE_OVERFLOW_LENGTH | PCRE2_SUBSTITUTE_UNSET_EMPTY,
        nullptr, nullptr, reinterpret_cast<PCRE2_SPTR>(replacement.data()), replacement.size(),
        reinterpret_cast<PCRE2_UCHAR*>(result.data()), &size);
    if (found == PCRE2_ERROR_NOMEMORY && tries == 0) {
      result.resize(size);  // what it needs, its final zero included
      continue;
    }
    if (found == PCRE2_ERROR_BADREPLACEMENT || found == PCRE2_ERROR_NOSUBSTRING ||
        found == PCRE2_ERROR_BADREPESCAPE || found == PCRE2_ERROR_REPMISSINGBRACE) {
      throw Invalid("the replacement {} is wrong: {}", ShownLine(replacement), PcreMessage(found));
    }
    if (found < 0) {
      throw BadData("the regular expression {} gives up on the text: {}",
                    ShownLine(code_->expression), PcreMessage(found));
    }
    result.resize(size);
    return result;
  }
}

std::string NamedPattern(std::string_view name) {
  if (name == "gpt2") {
    return "'(?:[sdmt]|ll|ve|re)| ?\\p{L}+| ?\\p{N}+| ?[^" SPACE "\\p{L}\\p{N}]+|[" SPACE
           "]+(?![^" SPACE "])|[" SPACE "]+";
  }
  if (name == "cl100k") {
    return "'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^" SPACE
           "\\p{L}\\p{N}]+[\\r\\n]*|[" SPACE "]*[\\r\\n]+|[" SPACE "]+(?![^" SPACE "])|[" SPACE
           "]+";
  }
  if (name == "o200k") {
    return "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
           "]+"
           "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
           "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
           "]*"
           "(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
           "\\p{N}{1,3}| ?[^" SPACE "\\p{L}\\p{N}]+[\\r\\n/]*|[" SPACE "]*[\\r\\n]+|[" SPACE
           "]+(?![^" SPACE "])|[" SPACE "]+";
  }
  return "";
}
#undef SPACE

// ---- vocabulary files ----

std::vector<TokenBytes> ParseTiktoken(const std::string& path, std::string_view text) {
  std::vector<TokenBytes> tokens;
  ForLines(text, [&](int64_t number, std::string_view line) {
    if (line.empty()) return;
    const size_t blank = line.find(' ');
    std::string bytes;
    int32_t id = -1;
    if (blank != std::string_view::npos && DecodeBase64(line.substr(0, blank), bytes)) {
      const std::string_view digits = line.substr(blank + 1);
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), id);
      if (error != std::errc() || end != digits.data() + digits.size()) id = -1;
    }
    if (id < 0) {
      throw BadData(
          "{}:{}: expected a token in base64 and its number, such as \"IQ== 0\", found {}", path,
          number, ShownLine(line));
    }
    if (tokens.size() >= kMostTokens) {
      throw BadData("{}:{}: more than {} tokens", path, number, kMostTokens);
    }
    tokens.emplace_back(std::move(bytes), id);
  });
  return tokens;
}

std::vector<TokenBytes> ParseVocabJson(const std::string& path, std::string_view text) {
  nlohmann::json json;
  try {
    json = nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    std::string_view message = error.what();
    const size_t bracket = message.find("] ");
    if (bracket != std::string_view::npos) message.remove_prefix(bracket + 2);
    throw BadData("{}: no JSON: {}", path, message.substr(0, 200));
  }
  if (!json.is_object()) {
    throw BadData("{}: expected a JSON object of tokens and numbers, {{ \"the\": 0 }}", path);
  }
  std::vector<TokenBytes> tokens;
  for (const auto& [token, number] : json.items()) {
    if (!number.is_number_unsigned() ||
        number.get<uint64_t>() > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
      throw BadData("{}: token {}: expected a number from 0 to 2147483647", path, ShownLine(token));
    }
    std::string bytes;
    // Special tokens may hold letters that stand for no byte; text never makes those.
    if (!DecodeLetters(token, bytes)) bytes = "\xff\xff" + token;
    tokens.emplace_back(std::move(bytes), static_cast<int32_t>(number.get<uint64_t>()));
  }
  return tokens;
}

std::vector<std::pair<std::string, std::string>> ParseMerges(const std::string& path,
                                                             std::string_view text) {
  std::vector<std::pair<std::string, std::string>> merges;
  ForLines(text, [&](int64_t number, std::string_view line) {
    if (line.empty() || (number == 1 && line.starts_with("#version"))) return;
    const size_t blank = line.find(' ');
    std::pair<std::string, std::string> merge;
    if (blank == std::string_view::npos || blank == 0 || blank + 1 == line.size() ||
        line.find(' ', blank + 1) != std::string_view::npos ||
        !DecodeLetters(line.substr(0, blank), merge.first) ||
        !DecodeLetters(line.substr(blank + 1), merge.second)) {
      throw BadData("{}:{}: expected two tokens that are merged, such as \"t h\", found {}", path,
                    number, ShownLine(line));
    }
    if (merges.size() >= kMostTokens) {
      throw BadData("{}:{}: more than {} merges", path, number, kMostTokens);
    }
    merges.push_back(std::move(merge));
  });
  return merges;
}

// ---- BytePairEncoder ----

void BytePairEncoder::TakeTokens(const std::string& path, const std::vector<TokenBytes>& tokens) {
  if (tokens.empty()) throw BadData("{}: the vocabulary is empty", path);
  bytes_.fill(-1);
  for (const auto& [bytes, id] : tokens) {
    if (bytes.empty()) continue;
    if (!tokens_.emplace(bytes, id).second) {
      throw BadData("{}: the token {} is there twice", path, ShownLine(bytes));
    }
    if (bytes.size() == 1) bytes_[static_cast<unsigned char>(bytes[0])] = id;
    bound_ = std::max<int64_t>(bound_, int64_t{id} + 1);
  }
}

void BytePairEncoder::TakeMerges(std::span<const Merge> merges) {
  size_t places = 16;
  while (places < 2 * merges.size()) places *= 2;
  merges_.assign(places, Merge{});
  for (const Merge& merge : merges) {
    size_t at = static_cast<size_t>(merge.pair * 0x9e3779b97f4a7c15u >> 20) & (places - 1);
    while (merges_[at].pair != UINT64_MAX && merges_[at].pair != merge.pair) {
      at = (at + 1) & (places - 1);
    }
    if (merges_[at].pair == UINT64_MAX || merge.rank < merges_[at].rank) merges_[at] = merge;
  }
}

const BytePairEncoder::Merge* BytePairEncoder::Find(int32_t left, int32_t right) const {
  const uint64_t pair =
      static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
  const size_t mask = merges_.size() - 1;
  size_t at = static_cast<size_t>(pair * 0x9e3779b97f4a7c15u >> 20) & mask;
  while (true) {
    const Merge& merge = merges_[at];
    if (merge.pair == pair) return &merge;
    if (merge.pair == UINT64_MAX) return nullptr;
    at = (at + 1) & mask;
  }
}

BytePairEncoder::BytePairEncoder(const std::string& path, const std::vector<TokenBytes>& tokens)
    : whole_pieces_(true) {
  TakeTokens(path, tokens);
  for (int byte = 0; byte < 256; ++byte) {
    if (bytes_[static_cast<size_t>(byte)] < 0) {
      throw BadData("{}: the byte {:#04x} is no token: expected all 256 bytes among the tokens",
                    path, byte);
    }
  }
  // Whatever two tokens side by side make a third may be merged.
  std::vector<Merge> merges;
  for (const auto& [bytes, id] : tokens_) {
    constexpr size_t kLongest = 1 << 10;  // a longer token could be merged in too many ways
    if (bytes.size() > kLongest) {
      throw BadData("{}: the token {} has {} bytes: expected at most {}", path, ShownLine(bytes),
                    bytes.size(), kLongest);
    }
    const std::string_view all(bytes);
    for (size_t cut = 1; cut < all.size(); ++cut) {
      const auto left = tokens_.find(all.substr(0, cut));
      if (left == tokens_.end()) continue;
      const auto right = tokens_.find(all.substr(cut));
      if (right == tokens_.end()) continue;
      merges.push_back({static_cast<uint64_t>(static_cast<uint32_t>(left->second)) << 32 |
                            static_cast<uint32_t>(right->second),
                        id, id});
    }
  }
  TakeMerges(merges);
}

BytePairEncoder::BytePairEncoder(const std::string& path, const std::vector<TokenBytes>& tokens,
                                 const std::vector<std::pair<std::string, std::string>>& merges) {
  TakeTokens(path, tokens);
  std::vector<Merge> found;
  int32_t rank = 0;
  for (const auto& [left, right] : merges) {
    const auto a = tokens_.find(left), b = tokens_.find(right), c = tokens_.find(left + right);
    for (const auto& [part, token] :
         {std::pair(a, left), std::pair(b, right), std::pair(c, left + right)}) {
      if (part == tokens_.end()) {
        throw BadData(
            "{}: merge {} needs the token {}, which the vocabulary has not. Are both files of the "
            "same model?",
            path, rank + 1, ShownLine(token));
      }
    }
    found.push_back({static_cast<uint64_t>(static_cast<uint32_t>(a->second)) << 32 |
                         static_cast<uint32_t>(b->second),
                     rank++, c->second});
  }
  TakeMerges(found);
}

bool BytePairEncoder::EncodePiece(std::string_view piece, std::vector<int32_t>& out) const {
  if (piece.empty()) return true;
  if (whole_pieces_) {
    if (const auto whole = tokens_.find(piece); whole != tokens_.end()) {
      out.push_back(whole->second);
      return true;
    }
  }
  std::vector<int32_t> ids;
  ids.reserve(piece.size());
  for (char c : piece) {
    const int32_t id = bytes_[static_cast<unsigned char>(c)];
    if (id < 0) return false;
    ids.push_back(id);
  }
  if (ids.size() <= kShortPiece) {
    MergeShort(ids);
  } else {
    MergeLong(ids);
  }
  out.insert(out.end(), ids.begin(), ids.end());
  return true;
}

void BytePairEncoder::MergeShort(std::vector<int32_t>& ids) const {
  // ranks[i], results[i]: of the merge of i with i + 1.
  constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
  int32_t ranks[kShortPiece], results[kShortPiece];
  size_t count = ids.size();
  auto look = [&](size_t i) {
    const Merge* merge = i + 1 < count ? Find(ids[i], ids[i + 1]) : nullptr;
    ranks[i] = merge != nullptr ? merge->rank : kNone;
    results[i] = merge != nullptr ? merge->result : 0;
  };
  for (size_t i = 0; i < count; ++i) look(i);
  while (count > 1) {
    const auto best = static_cast<size_t>(std::min_element(ranks, ranks + count) - ranks);
    if (ranks[best] == kNone) break;
    ids[best] = results[best];
    std::copy(ids.begin() + static_cast<int64_t>(best) + 2,
              ids.begin() + static_cast<int64_t>(count),
              ids.begin() + static_cast<int64_t>(best) + 1);
    std::copy(ranks + best + 2, ranks + count, ranks + best + 1);
    std::copy(results + best + 2, results + count, results + best + 1);
    --count;
    look(best);
    if (best > 0) look(best - 1);
  }
  ids.resize(count);
}

void BytePairEncoder::MergeLong(std::vector<int32_t>& ids) const {
  // A list of what is left, and a queue of merges, of which those whose sides have changed since
  // are passed over.
  struct Candidate {
    int32_t rank;
    uint32_t at;
    int32_t left, right, result;
    bool operator>(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  const auto count = static_cast<uint32_t>(ids.size());
  std::vector<uint32_t> next(count), before(count);
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    before[i] = i - 1;  // of the first: wraps, and is never followed
  }
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  auto look = [&](uint32_t i) {
    if (next[i] >= count) return;
    if (const Merge* merge = Find(ids[i], ids[next[i]])) {
      queue.push({merge->rank, i, ids[i], ids[next[i]], merge->result});
    }
  };
  for (uint32_t i = 0; i < count; ++i) look(i);
  constexpr int32_t kGone = -1;
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    const uint32_t i = best.at;
    if (ids[i] != best.left || next[i] >= count || ids[next[i]] != best.right) continue;
    const uint32_t gone = next[i];
    ids[i] = best.result;
    ids[gone] = kGone;
    next[i] = next[gone];
    if (next[i] < count) before[next[i]] = i;
    look(i);
    if (i > 0 && before[i] < count) look(before[i]);
  }
  std::erase(ids, kGone);
}

}  // namespace flatout::data
