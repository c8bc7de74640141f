#include "flatout/data/sources/text.h"

#include <gmock/gmock.h>

#include <cctype>

#include "flatout/data/pipeline.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Scratch;

// The tokens and the targets of a record as text.
std::pair<std::string, std::string> Record(const Source& source, int64_t index) {
  auto length = static_cast<size_t>(source.fields()[0].shape.dims[0]);
  std::vector<int32_t> tokens(length), targets(length);
  std::byte* out[] = {reinterpret_cast<std::byte*>(tokens.data()),
                      reinterpret_cast<std::byte*>(targets.data())};
  testing::ReadInto(source, std::span<const int64_t>(&index, 1), out);
  std::pair<std::string, std::string> texts;
  for (int32_t token : tokens) texts.first += static_cast<char>(token);
  for (int32_t target : targets) texts.second += static_cast<char>(target);
  return texts;
}

using TextPair = std::pair<std::string, std::string>;

TEST(Text, Windows) {
  Scratch scratch;
  TextOptions options{.path = {scratch.Write("a", "0123456789")}, .sequence_length = 4};
  SourcePtr source = OpenTextSplit(options, "train");
  ASSERT_EQ(source->size(), 2);
  EXPECT_EQ(source->fields()[1], (Field{"targets", ir::Shape(ir::DType::kI32, {4}), 256}));
  EXPECT_EQ(Record(*source, 0), (TextPair{"0123", "1234"}));
  EXPECT_EQ(Record(*source, 1), (TextPair{"4567", "5678"}));
  // The last target is the last byte of the text.
  options.sequence_stride = 1;
  source = OpenTextSplit(options, "train");
  ASSERT_EQ(source->size(), 6);
  EXPECT_EQ(Record(*source, 5), (TextPair{"5678", "6789"}));
  options.sequence_length = 9;
  EXPECT_EQ(OpenTextSplit(options, "train")->size(), 1);
  options.limit = 1;
  options.sequence_length = 2;
  EXPECT_EQ(OpenTextSplit(options, "train")->size(), 1);
}

TEST(Text, BytesAbove127) {
  Scratch scratch;
  TextOptions options{.path = {scratch.Write("a", "\xff\x80z")}, .sequence_length = 2};
  std::vector<int32_t> tokens(2), targets(2);
  std::byte* out[] = {reinterpret_cast<std::byte*>(tokens.data()),
                      reinterpret_cast<std::byte*>(targets.data())};
  int64_t index = 0;
  testing::ReadInto(*OpenTextSplit(options, "train"), std::span<const int64_t>(&index, 1), out);
  EXPECT_THAT(tokens, ::testing::ElementsAre(255, 128));
}

TEST(Text, SplitsAreSharesOfEachFile) {
  Scratch scratch;
  TextOptions options{
      .path = {scratch.Write("b", "abcdefghij"), scratch.Write("a", Gzip("0123456789"))},
      .sequence_length = 1,
      .validation_split = 0.2,
      .test_split = 0.1};
  auto text = [&](const char* split) {
    SourcePtr source = OpenTextSplit(options, split);
    std::string all = Record(*source, 0).first;
    for (int64_t i = 0; i < source->size(); ++i) all += Record(*source, i).second;
    return all;
  };
  EXPECT_EQ(text("train"), "abcdefg0123456");
  EXPECT_EQ(text("validation"), "hi78");
  EXPECT_EQ(text("test"), "j9");
  options.test_split = 0;
  EXPECT_EQ(OpenTextSplit(options, "test"), nullptr);
}

TEST(Text, FolderStandsForItsTextFiles) {
  Scratch scratch;
  scratch.Write("2", "second");
  scratch.Write("1", "first,");
  scratch.Write("index.dat", std::string("\0\0\0\2", 4));
  scratch.Write("empty", "");
  std::filesystem::create_symlink("1", scratch / "1.link");
  TextOptions options{.path = {scratch.path()}, .sequence_length = 11};
  EXPECT_EQ(Record(*OpenTextSplit(options, "train"), 0), (TextPair{"first,secon", "irst,second"}));
}

TEST(Text, RealText) {
  Config table = Config::ParseToml("source = 'text'\nvalidation_split = 0.1", "run.toml");
  SourcePtr train = OpenSource(table, "train");
  SourcePtr validation = OpenSource(table, "validation");
  EXPECT_GT(train->size(), 10000);
  EXPECT_GT(validation->size(), 1000);
  int64_t letters = 0;
  for (int64_t i = 0; i < 100; ++i) {
    auto [tokens, targets] = Record(*train, i * 100);
    EXPECT_EQ(tokens.substr(1), targets.substr(0, targets.size() - 1));
    for (char c : tokens)
      letters += std::isalpha(static_cast<unsigned char>(c)) || c == ' ' ? 1 : 0;
  }
  EXPECT_GT(letters, 100 * 128 * 3 / 4);
}

TEST(Text, Bad) {
  Scratch scratch;
  EXPECT_THAT(MessageOf<DataError>([&] { OpenTextSplit({.path = {scratch / "none"}}, "train"); }),
              HasSubstr("no such file"));
  EXPECT_THAT(MessageOf<DataError>([&] { OpenTextSplit({.path = {scratch.path()}}, "train"); }),
              HasSubstr("holds no text file"));
  EXPECT_THAT(
      MessageOf<DataError>([&] { OpenTextSplit({.path = {scratch.Write("e", "")}}, "train"); }),
      HasSubstr("empty"));
  EXPECT_THAT(MessageOf<DataError>([&] {
                OpenTextSplit({.path = {scratch.Write("s", "abcd")}, .sequence_length = 4},
                              "train");
              }),
              AllOf(HasSubstr("at least 5 bytes"), HasSubstr("found 4")));
  for (const char* bad : {"sequence_length = 0", "sequence_stride = -1", "validation_split = 1.0",
                          "test_split = -0.1", "limit = -2", "lenght = 3"}) {
    Config table = Config::ParseToml(std::string("source = 'text'\n") + bad, "run.toml");
    EXPECT_THAT(MessageOf<UserError>([&] { OpenSource(table, "train"); }), HasSubstr("run.toml:2"));
  }
}

}  // namespace
}  // namespace flatout::data
