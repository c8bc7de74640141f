// Byte-pair encoding: text to token numbers, with the vocabulary files of GPT-2 (vocab.json and
// merges.txt, as Hugging Face keeps them) and of tiktoken.
//
// A pattern splits the text into pieces (words with the blank before them, numbers, and so on).
// Each piece begins as single bytes; of all neighbours that may be merged, those that were merged
// first when the vocabulary was made are merged, the leftmost first, until none are left. Sources:
// Sennrich et al. 2016; the readmes of GPT-2 and tiktoken. The result is the same as that of
// Hugging Face's tokenizers (ByteLevel, BPE) and of tiktoken (encode_ordinary).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flatout::data {

// A regular expression (PCRE2, UTF-8, Unicode classes) whose matches are the pieces of a text. What
// lies between matches, such as bytes that are no UTF-8, is a piece of its own. Thread-safe.
class TextPattern {
 public:
  // Throws UserError with the place of what is wrong in the expression.
  explicit TextPattern(const std::string& expression);
  ~TextPattern();
  TextPattern(const TextPattern&) = delete;
  TextPattern& operator=(const TextPattern&) = delete;

  // Matches and what lies between them, in order; views into `text`. Throws DataError where the
  // expression gives up on the text.
  void Split(std::string_view text, std::vector<std::string_view>& pieces) const;
  // The text with every match replaced; $1 and so on stand for groups. Throws UserError where the
  // replacement makes no sense, DataError as Split.
  std::string Replace(std::string_view text, const std::string& replacement) const;

 private:
  struct Code;
  std::unique_ptr<Code> code_;
};
// The expression that a model's name stands for ("gpt2", "cl100k", "o200k"); "" for other names.
std::string NamedPattern(std::string_view name);

// ---- vocabulary files ----

using TokenBytes = std::pair<std::string, int32_t>;  // a token's bytes and its number
// tiktoken's: lines "BASE64 NUMBER". Throws DataError with the line.
std::vector<TokenBytes> ParseTiktoken(const std::string& path, std::string_view text);
// GPT-2's vocab.json: { "token": number }, in letters that stand for bytes.
std::vector<TokenBytes> ParseVocabJson(const std::string& path, std::string_view text);
// GPT-2's merges.txt: lines "LEFT RIGHT", the first merge first; a first line "#version" is left
// out.
std::vector<std::pair<std::string, std::string>> ParseMerges(const std::string& path,
                                                             std::string_view text);

class BytePairEncoder {
 public:
  // tiktoken's rules: a merge's order is the number of the token it makes, and a piece that is a
  // token is taken whole. Every single byte must be a token. Throws DataError.
  BytePairEncoder(const std::string& path, const std::vector<TokenBytes>& tokens);
  // GPT-2's rules: merges in the order of the list. Throws DataError.
  BytePairEncoder(const std::string& path, const std::vector<TokenBytes>& tokens,
                  const std::vector<std::pair<std::string, std::string>>& merges);

  // Appends the numbers of one piece. Returns false, with nothing appended, when it has a byte that
  // is no token. Thread-safe.
  bool EncodePiece(std::string_view piece, std::vector<int32_t>& out) const;
  // One above the largest number.
  int64_t bound() const { return bound_; }

 private:
  struct Merge {
    uint64_t pair = UINT64_MAX;  // left << 32 | right; all ones: a free place
    int32_t rank = 0, result = 0;
  };
  void TakeTokens(const std::string& path, const std::vector<TokenBytes>& tokens);
  void TakeMerges(std::span<const Merge> merges);
  const Merge* Find(int32_t left, int32_t right) const;
  void MergeShort(std::vector<int32_t>& ids) const;
  void MergeLong(std::vector<int32_t>& ids) const;

  std::array<int32_t, 256> bytes_{};  // -1: no token
  std::map<std::string, int32_t, std::less<>> tokens_;
  bool whole_pieces_ = false;
  std::vector<Merge> merges_;  // open addressing; a power of two
  int64_t bound_ = 0;
};

}  // namespace flatout::data
