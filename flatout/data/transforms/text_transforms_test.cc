#include <gmock/gmock.h>

#include "flatout/data/formats/bpe.h"
#include "flatout/data/source_testing.h"
#include "flatout/data/testing.h"
#include "flatout/data/transforms/text_hash.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::ApplyTo;
using testing::ColumnOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::MessageOf;
using testing::RowOf;
using testing::Scratch;
using testing::TransformOf;

Block Texts(const std::vector<std::string>& texts) {
  Block block;
  block.Reset({TextField("x")}, static_cast<int64_t>(texts.size()));
  for (size_t i = 0; i < texts.size(); ++i) block.SetText(0, static_cast<int64_t>(i), texts[i]);
  return block;
}
Block Apply(const std::string& toml, const Block& in, BadRecords* bad = nullptr) {
  return ApplyTo(*TransformOf(toml), in, bad);
}
std::vector<std::string> Strings(const Block& block, int64_t row) {
  std::vector<std::string> strings;
  for (std::string_view text : block.texts(0, row)) strings.emplace_back(text);
  return strings;
}
std::string Complaint(const std::string& toml) {
  return MessageOf<UserError>([&] { TransformOf(toml); });
}

// The first vectors of SipHash's own reference: key 00..0f, input 00..(n-1).
TEST(TextHashTest, SipHashVectors) {
  constexpr uint64_t kKey0 = 0x0706050403020100, kKey1 = 0x0f0e0d0c0b0a0908;
  EXPECT_EQ(SipHash24(kKey0, kKey1, ""), 0x726fdb47dd0e0e31u);
  EXPECT_EQ(SipHash24(kKey0, kKey1, std::string_view("\0", 1)), 0x74f839c593dc67fdu);
  std::string fifteen;
  for (char c = 0; c < 15; ++c) fifteen += c;
  EXPECT_EQ(SipHash24(kKey0, kKey1, fifteen), 0xa129ca6149be45e5u);
}

TEST(TextTransformsTest, WordsOneByOne) {
  const Block words = Apply("op = 'split_words'\nfield = 'x'", Texts({"The FOX", ""}));
  EXPECT_EQ(DescribeFields(words.fields()), "x text[?]");
  const Block lower = Apply("op = 'lower'\nfield = 'x'", words);
  EXPECT_THAT(Strings(lower, 0), ElementsAre("the", "fox"));
  EXPECT_THAT(Strings(lower, 1), IsEmpty());
  const Block ids = Apply("op = 'lookup'\nfield = 'x'\nvocabulary = ['fox', 'dog']", lower);
  EXPECT_EQ(DescribeFields(ids.fields()), "x i32[?]");
  EXPECT_EQ(ids.fields()[0].bound, 3);
  EXPECT_THAT(RowOf<int32_t>(ids, 0, 0), ElementsAre(0, 1));
  EXPECT_THAT(RowOf<int32_t>(ids, 0, 1), IsEmpty());
}

TEST(TextTransformsTest, RegexReplaceTakesGroups) {
  EXPECT_EQ(Apply("op = 'regex_replace'\nfield = 'x'\npattern = '(\\w+)@(\\w+)'\n"
                  "replacement = '$2 at $1'",
                  Texts({"a@b"}))
                .text(0, 0),
            "b at a");
  const std::string longer(1000, 'x');
  EXPECT_EQ(Apply("op = 'regex_replace'\nfield = 'x'\npattern = 'x'\nreplacement = 'yyyy'",
                  Texts({longer}))
                .text(0, 0)
                .size(),
            4000u);
  EXPECT_THAT(Complaint("op = 'regex_replace'\nfield = 'x'\npattern = '('"),
              AllOf(HasSubstr("run.toml:3:"), HasSubstr("is wrong at character 1")));
  // Which gives up rather than run for ever.
  BadRecords bad(1);
  Apply("op = 'regex_replace'\nfield = 'x'\npattern = '(a+)+$'",
        Texts({std::string(64, 'a') + "b"}), &bad);
  EXPECT_THAT(bad.messages(), ElementsAre(HasSubstr("gives up")));
}

TEST(TextTransformsTest, InvalidUtf8IsKept) {
  EXPECT_EQ(Apply("op = 'lower'\nfield = 'x'\nencoding = 'utf-8'", Texts({"\xff\xc3"
                                                                          "A\xe2\x82"}))
                .text(0, 0),
            "\xff\xc3"
            "a\xe2\x82");
  const Block words = Apply("op = 'split_words'\nfield = 'x'\nseparator = ''", Texts({"a\xffü"}));
  EXPECT_THAT(Strings(words, 0), ElementsAre("a", "\xff", "ü"));
}

TEST(LookupTest, ReadsVocabularyFiles) {
  const Scratch scratch;
  const std::string path = scratch.Write("words.txt", "the\r\nfox\ndog");
  const Block out = Apply("op = 'lookup'\nfield = 'x'\nvocabulary = '" + path +
                              "'\nmask_token = ''\nnum_oov_indices = 2",
                          Texts({"the", "dog", "", "cat"}));
  EXPECT_EQ(out.fields()[0].bound, 6);
  EXPECT_THAT(ColumnOf<int32_t>(out, 0),
              ElementsAre(3, 5, 0, 1 + static_cast<int>(Fingerprint64("cat") % 2)));
  const std::string twice = scratch.Write("twice.txt", "a\na\n");
  EXPECT_THAT(Complaint("op = 'lookup'\nfield = 'x'\nvocabulary = '" + twice + "'"),
              AllOf(HasSubstr("run.toml:3:"), HasSubstr("\"a\" twice")));
}

TEST(LookupTest, UnknownIsAnErrorWhenAskedFor) {
  BadRecords bad(2);
  Apply("op = 'lookup'\nfield = 'x'\nvocabulary = ['a']\nnum_oov_indices = 0",
        Texts({"a", "unknown\n"}), &bad);
  EXPECT_THAT(
      bad.messages(),
      ElementsAre(HasSubstr("lookup: field x: \"unknown?\" is not in the vocabulary of 1")));
  EXPECT_THAT(
      MessageOf<UserError>([] {
        TransformOf("op = 'lookup'\nfield = 'x'\nvocabulary = [1]")->Fields({TextField("x")});
      }),
      HasSubstr("the vocabulary is of integers, but the field is text"));
  EXPECT_THAT(Complaint("op = 'lookup'\nfield = 'x'\nvocabulary = [1, 'a']"),
              HasSubstr("strings only or integers only"));
}

TEST(TokenizeTest, Bytes) {
  const Block out = Apply(
      "op = 'tokenize'\nfield = 'x'\nspecial_tokens = { '<s>' = 256, '</s>' = 257 }\n"
      "prepend = '<s>'\nappend = [257, 3]",
      Texts({"a\xff", "<s>b"}));
  EXPECT_EQ(DescribeFields(out.fields()), "x i32[?]");
  EXPECT_EQ(out.fields()[0].bound, 258);
  EXPECT_THAT(RowOf<int32_t>(out, 0, 0), ElementsAre(256, 97, 255, 257, 3));
  EXPECT_THAT(RowOf<int32_t>(out, 0, 1), ElementsAre(256, 256, 98, 257, 3));
  EXPECT_THAT(Complaint("op = 'tokenize'\nfield = 'x'\nappend = 'x'"),
              HasSubstr("\"x\" is not among special_tokens"));
  EXPECT_THAT(Complaint("op = 'tokenize'\nfield = 'x'\npattern = 'gpt2'"), HasSubstr("pattern"));
}

// ---- vocabulary files ----

std::string AllBytes() {
  // The 256 bytes in base64, numbered by themselves.
  const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (int byte = 0; byte < 256; ++byte) {
    text += digits[byte >> 2];
    text += digits[(byte & 3) << 4];
    text += "== " + std::to_string(byte) + "\n";
  }
  return text;
}

TEST(VocabularyTest, ParsesTiktoken) {
  const auto tokens = ParseTiktoken("v", "IQ== 0\r\nISE= 1\nISEh 300\n");
  EXPECT_THAT(tokens, ElementsAre(TokenBytes("!", 0), TokenBytes("!!", 1), TokenBytes("!!!", 300)));
  for (const std::string wrong : {"IQ==", "IQ= 0", "IQ== x", "IQ== -1", "I=Q= 1", " 1", "IQ== 1 2",
                                  "==== 1", "IQ== 99999999999"}) {
    EXPECT_THAT(MessageOf<DataError>([&] { ParseTiktoken("v", "IQ== 0\n" + wrong); }),
                HasSubstr("v:2: expected a token in base64"))
        << wrong;
  }
}

TEST(VocabularyTest, ParsesVocabAndMerges) {
  const auto tokens = ParseVocabJson("v", R"({"a": 0, "\u0120": 1, "\u0120a": 2, "日": 3})");
  EXPECT_EQ(tokens.size(), 4u);
  EXPECT_THAT(tokens, ::testing::Contains(TokenBytes(" a", 2)));
  EXPECT_THAT(ParseMerges("m", "#version: 0.2\n\u0120 a\n# b\n"),
              ElementsAre(std::pair<std::string, std::string>(" ", "a"),
                          std::pair<std::string, std::string>("#", "b")));
  EXPECT_THAT(MessageOf<DataError>([] { ParseVocabJson("v", "{"); }), HasSubstr("v: no JSON"));
  EXPECT_THAT(MessageOf<DataError>([] { ParseVocabJson("v", "[1]"); }), HasSubstr("JSON object"));
  EXPECT_THAT(MessageOf<DataError>([] { ParseVocabJson("v", R"({"a": -1})"); }),
              HasSubstr("token \"a\": expected a number"));
  for (const char* wrong : {"a", "a b c", " b", "a ", "日 a"}) {
    EXPECT_THAT(MessageOf<DataError>([&] { ParseMerges("m", wrong); }), HasSubstr("m:1: expected"))
        << wrong;
  }
}

TEST(VocabularyTest, RefusesWhatDoesNotFitTogether) {
  EXPECT_THAT(MessageOf<DataError>([] { BytePairEncoder("v", ParseTiktoken("v", "IQ== 0\n")); }),
              HasSubstr("the byte 0x00 is no token"));
  EXPECT_THAT(MessageOf<DataError>([] { BytePairEncoder("v", {}); }), HasSubstr("empty"));
  EXPECT_THAT(MessageOf<DataError>([] {
                BytePairEncoder("v", {{"a", 0}, {"a", 1}}, {});
              }),
              HasSubstr("\"a\" is there twice"));
  EXPECT_THAT(MessageOf<DataError>([] {
                BytePairEncoder("m", {{"a", 0}, {"b", 1}}, {{"a", "b"}});
              }),
              AllOf(HasSubstr("merge 1 needs the token \"ab\""), HasSubstr("same model")));
}

TEST(BytePairEncoderTest, MergesLongPiecesAsShortOnes) {
  // "aa" and "aaaa" of tokens a = 97, aa = 256, aaaa = 257: lowest number first, leftmost first.
  const BytePairEncoder encoder("v", ParseTiktoken("v", AllBytes() + "YWE= 256\nYWFhYQ== 257\n"));
  for (size_t count = 1; count < 200; ++count) {
    std::vector<int32_t> ids;
    ASSERT_TRUE(encoder.EncodePiece(std::string(count, 'a'), ids));
    std::vector<int32_t> expected(count / 4, 257);
    if (count % 4 >= 2) expected.push_back(256);
    if (count % 2 == 1) expected.push_back(97);
    ASSERT_EQ(ids, expected) << count;
  }
  EXPECT_EQ(encoder.bound(), 258);
}

TEST(BytePairEncoderTest, ABytewithoutATokenIsABadRecord) {
  const Scratch scratch;
  const std::string vocab = scratch.Write("vocab.json", R"({"a": 0, "b": 1, "ab": 2})");
  const std::string merges = scratch.Write("merges.txt", "a b\n");
  const std::string toml =
      "op = 'tokenize'\nfield = 'x'\nvocabulary = '" + vocab + "'\nmerges = '" + merges + "'\n";
  BadRecords bad(2);
  const Block out = Apply(toml, Texts({"aabb", "abc"}), &bad);
  EXPECT_THAT(RowOf<int32_t>(out, 0, 0), ElementsAre(0, 2, 1));
  EXPECT_THAT(bad.messages(), ElementsAre(HasSubstr("\"abc\" has a byte that is no token")));
  EXPECT_THAT(RowOf<int32_t>(Apply(toml + "pattern = 'b'", Texts({"aabb"})), 0, 0),
              ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(RowOf<int32_t>(Apply(toml + "pattern = 'none'", Texts({"aabb"})), 0, 0),
              ElementsAre(0, 2, 1));
  EXPECT_THAT(Complaint(toml + "pattern = '['"), HasSubstr("run.toml:5:"));
}

TEST(TextPatternTest, WhatLiesBetweenMatchesIsAPiece) {
  const TextPattern pattern("\\p{L}+|x*");
  std::vector<std::string_view> pieces;
  pattern.Split(
      "ab\xff\xfe"
      "cd 1",
      pieces);
  EXPECT_THAT(pieces, ElementsAre("ab", "\xff\xfe", "cd", " 1"));
}

}  // namespace
}  // namespace flatout::data
