// Byte-pair encoding: vocabulary files, patterns, and merges held against the plain definition.
// The first byte says which.
#include <map>
#include <string>
#include <vector>

#include "flatout/data/formats/bpe.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

using data::BytePairEncoder;
using data::TextPattern;
using data::TokenBytes;

namespace {

using Merges = std::vector<std::pair<std::string, std::string>>;

// Every byte, and what these merges make.
const Merges& SomeMerges() {
  static const Merges merges = {{"a", "b"},       {"b", "c"},  {"ab", "c"},      {"a", "a"},
                                {"aa", "aa"},     {" ", "a"},  {"ab", "ab"},     {"c", "a"},
                                {"\xc3", "\xa9"}, {"aa", "b"}, {"aaaa", "aaaa"}, {"ca", "ca"}};
  return merges;
}
std::vector<TokenBytes> SomeTokens() {
  std::vector<TokenBytes> tokens;
  for (int byte = 0; byte < 256; ++byte)
    tokens.emplace_back(std::string(1, static_cast<char>(byte)), byte);
  for (const auto& [left, right] : SomeMerges()) {
    tokens.emplace_back(left + right, static_cast<int32_t>(tokens.size()));
  }
  return tokens;
}

// As the definition says: of all neighbours that may be merged the first of the list, the leftmost
// of those, until none are left.
std::vector<std::string> Define(std::string_view text) {
  std::vector<std::string> parts;
  for (char c : text) parts.emplace_back(1, c);
  const Merges& merges = SomeMerges();
  for (;;) {
    size_t best = merges.size(), at = 0;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      for (size_t rank = 0; rank < best; ++rank) {
        if (parts[i] == merges[rank].first && parts[i + 1] == merges[rank].second) {
          best = rank;
          at = i;
        }
      }
    }
    if (best == merges.size()) return parts;
    parts[at] += parts[at + 1];
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(at) + 1);
  }
}

void Encode(std::string_view text) {
  static const std::vector<TokenBytes> tokens = SomeTokens();
  static const BytePairEncoder encoder("merges.txt", tokens, SomeMerges());
  static const TextPattern pattern(data::NamedPattern("gpt2"));
  std::vector<std::string_view> pieces;
  if (!Accepts([&] { pattern.Split(text, pieces); })) return;
  // The pieces are the text.
  size_t at = 0;
  for (std::string_view piece : pieces) {
    FUZZ_CHECK(piece.data() == text.data() + at && !piece.empty());
    at += piece.size();
  }
  FUZZ_CHECK(at == text.size());
  pieces.push_back(text);  // as one long piece too
  for (std::string_view piece : pieces) {
    if (piece.size() > 192) continue;  // the definition takes long
    std::vector<int32_t> ids;
    FUZZ_CHECK(encoder.EncodePiece(piece, ids));
    std::vector<std::string> parts;
    for (int32_t id : ids) {
      FUZZ_CHECK(id >= 0 && id < encoder.bound());
      parts.push_back(tokens[static_cast<size_t>(id)].first);
    }
    FUZZ_CHECK(parts == Define(piece));
  }
}

// An encoder of any tokens gives token numbers, or says that it cannot.
void Use(const BytePairEncoder& encoder) {
  std::vector<int32_t> ids;
  if (encoder.EncodePiece("abc the aabb caca", ids)) {
    for (int32_t id : ids) FUZZ_CHECK(id >= 0 && id < encoder.bound());
  } else {
    FUZZ_CHECK(ids.empty());
  }
}

}  // namespace

FUZZ_TARGET(bytes) {
  Choices choices(bytes);
  const int kind = choices.Of(5);
  const std::string text(Text(bytes));
  switch (kind) {
    case 0:
      Encode(text);
      break;
    case 1:
      Accepts([&] { Use(BytePairEncoder("x", data::ParseTiktoken("x.tiktoken", text))); });
      break;
    case 2:
      Accepts([&] {
        Use(BytePairEncoder("vocab.json", data::ParseVocabJson("vocab.json", text), {{"a", "b"}}));
      });
      break;
    case 3:
      Accepts([&] {
        Use(BytePairEncoder("merges.txt", SomeTokens(), data::ParseMerges("merges.txt", text)));
      });
      break;
    default:
      Accepts([&] {
        const TextPattern pattern(text);
        std::vector<std::string_view> pieces;
        const std::string_view sample = "It's 42 caf\xc3\xa9s,  aaaa\xff bb\n";
        pattern.Split(sample, pieces);
        std::string all;
        for (std::string_view piece : pieces) all += piece;
        FUZZ_CHECK(all == sample);
      });
  }
}

}  // namespace flatout::fuzz
