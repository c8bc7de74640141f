#include "flatout/data/formats/text_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Blank = RecordScan::Blank;

const RecordScan kCsv = {.quote = '"', .lone_cr = true, .blank = Blank::kSkipEmpty};

std::vector<int64_t> Begins(std::string_view text, const RecordScan& scan) {
  RecordIndex index = IndexRecords(text, scan);
  std::vector<int64_t> begins;
  for (int64_t i = 0; i < index.size(); ++i) begins.push_back(index.begin(i));
  if (index.size() > 0) {
    EXPECT_EQ(index.end(index.size() - 1), static_cast<int64_t>(text.size()));
  }
  return begins;
}

// The same, by the plain rule: one byte after the other.
std::vector<int64_t> PlainBegins(std::string_view text, const RecordScan& scan) {
  std::vector<int64_t> begins;
  bool quoted = false, comment = false;
  for (size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0; i < text.size(); ++i) {
    const bool first = i == 0 || (i == 3 && text.starts_with("\xef\xbb\xbf"));
    const bool begins_line =
        first || text[i - 1] == '\n' || (scan.lone_cr && text[i - 1] == '\r' && text[i] != '\n');
    if (begins_line && !quoted) {
      std::string_view line = text.substr(i);
      line = line.substr(0, line.find_first_of(scan.lone_cr ? "\r\n" : "\n"));
      std::string_view bare = line;
      if (scan.blank == Blank::kSkipSpace) {
        while (!bare.empty() && std::string_view(" \t\r").find(bare.back()) != bare.npos) {
          bare.remove_suffix(1);
        }
      } else if (bare == "\r" && i + 1 < text.size()) {
        bare = "";  // of CRLF
      }
      comment = scan.comment != 0 && text[i] == scan.comment;
      if (!comment && (scan.blank == Blank::kKeep || !bare.empty())) {
        begins.push_back(static_cast<int64_t>(i));
      }
    }
    if (scan.quote != 0 && !comment && text[i] == scan.quote) quoted = !quoted;
  }
  return begins;
}

TEST(RecordIndex, WorkedOutByHand) {
  EXPECT_THAT(Begins("a,b\n1,2\n3,4", kCsv), ElementsAre(0, 4, 8));
  EXPECT_THAT(Begins("a,b\r\n1,2\r\n3,4\r\n", kCsv), ElementsAre(0, 5, 10));
  EXPECT_THAT(Begins("a,b\r1,2\r3,4\r", kCsv), ElementsAre(0, 4, 8));
  EXPECT_THAT(Begins("\xef\xbb\xbf"
                     "a\n1\n",
                     kCsv),
              ElementsAre(3, 5));
  EXPECT_THAT(Begins("\n\na\n\n\r\n\r1\n\n", kCsv), ElementsAre(2, 8));
  EXPECT_THAT(Begins("\"a\nb\",1\n\"\"\"\n\"\"\",2\n3,4\n", kCsv), ElementsAre(0, 8, 18));
  EXPECT_THAT(Begins("", kCsv), ElementsAre());
  EXPECT_THAT(Begins("\n\r\n\n", kCsv), ElementsAre());
  // A quote that is never closed: the rest is one record.
  EXPECT_THAT(Begins("a\n\"b\nc\nd\n", kCsv), ElementsAre(0, 2));
  RecordScan comments = kCsv;
  comments.comment = '#';
  EXPECT_THAT(Begins("# it's \"\na\n#\n1\n", comments), ElementsAre(9, 13));
  RecordScan lines;
  EXPECT_THAT(Begins("a\n\r\n\nb\rc", lines), ElementsAre(0, 2, 4, 5));
  lines.blank = Blank::kSkipEmpty;
  EXPECT_THAT(Begins("a\n\r\n\nb\rc\n \n", lines), ElementsAre(0, 5, 9));
  lines.blank = Blank::kSkipSpace;
  EXPECT_THAT(Begins("a\n\r\n \t\r\n b\n  ", lines), ElementsAre(0, 8));
}

TEST(RecordIndex, RandomTextAgreesWithThePlainRule) {
  std::mt19937_64 random(4);
  const std::string letters = "aaaa,\"\n\n\r# \t";
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 7 == 0 ? "\xef\xbb\xbf" : "";
    const size_t size = random() % 400;
    while (text.size() < size) text += letters[random() % letters.size()];
    for (RecordScan scan :
         {kCsv, RecordScan{}, RecordScan{.blank = Blank::kSkipEmpty},
          RecordScan{.blank = Blank::kSkipSpace},
          RecordScan{.quote = '"', .comment = '#', .lone_cr = true, .blank = Blank::kSkipEmpty}}) {
      ASSERT_EQ(Begins(text, scan), PlainBegins(text, scan)) << scan.ToString() << "\n" << text;
    }
  }
}

// Chunk borders everywhere: line ends, quotes and blank lines across them.
TEST(RecordIndex, LongTextAgreesWithThePlainRule) {
  std::mt19937_64 random(5);
  const std::string letters = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,,,,\"\n\r";
  for (int round = 0; round < 6; ++round) {
    std::string text = round % 2 == 0 ? "\xef\xbb\xbf" : "";
    const auto size = static_cast<size_t>(RecordIndex::kLineStep) * 3 + random() % 100;
    while (text.size() < size) text += letters[random() % letters.size()];
    for (int64_t border = RecordIndex::kLineStep; border < RecordIndex::kLineStep * 3;
         border += RecordIndex::kLineStep) {
      for (int i = -4; i < 4; ++i) {
        text[static_cast<size_t>(border + i)] = "\n\r\"a\n\r"[random() % 6];
      }
    }
    for (const RecordScan& scan : {kCsv, RecordScan{.blank = Blank::kSkipEmpty}}) {
      ASSERT_EQ(Begins(text, scan), PlainBegins(text, scan)) << scan.ToString();
    }
  }
}

TEST(RecordIndex, EncodesAndDecodes) {
  for (const bool wide : {false, true}) {
    std::vector<int64_t> begins;
    for (int64_t i = 0; i < 1000; ++i) {
      begins.push_back(i * 1000 + (wide ? i / 100 * (int64_t{1} << 32) : 0));
    }
    const int64_t bytes = begins.back() + 10;
    const std::vector<int64_t> lines(
        static_cast<size_t>((bytes + RecordIndex::kLineStep - 1) / RecordIndex::kLineStep));
    std::vector<int64_t> words = RecordIndex::Encode(begins, bytes, lines);
    bool valid = false;
    RecordIndex index = RecordIndex::Decode(words, valid);
    ASSERT_TRUE(valid);
    ASSERT_EQ(index.size(), 1000);
    for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(index.begin(i), begins[static_cast<size_t>(i)]);
    EXPECT_EQ(index.end(999), bytes);
    // Words that are no index are refused, whatever they are.
    std::mt19937_64 random(6);
    for (int i = 0; i < 1000; ++i) {
      std::vector<int64_t> wrong = words;
      wrong[random() % std::min<size_t>(wrong.size(), 12)] ^= int64_t{1} << (random() % 64);
      if (i % 3 == 0) wrong.resize(random() % wrong.size());
      RecordIndex other = RecordIndex::Decode(wrong, valid);
      if (!valid) continue;
      for (int64_t k = 0; k < other.size(); ++k) {
        ASSERT_GE(other.begin(k), 0);
        ASSERT_LT(other.begin(k), other.end(k));
        ASSERT_LE(other.end(k), other.bytes());
      }
    }
    RecordIndex::Decode({}, valid);
    EXPECT_FALSE(valid);
  }
}

TEST(RecordIndex, OtherEncodingsAreNamed) {
  EXPECT_THAT(testing::MessageOf<DataError>([] {
                IndexRecords(std::string_view("\xff\xfe"
                                              "a\0b\0",
                                              6),
                             kCsv);
              }),
              HasSubstr("UTF-16"));
  EXPECT_THAT(testing::MessageOf<DataError>(
                  [] { IndexRecords(std::string_view("\xff\xfe\0\0a\0\0\0", 8), kCsv); }),
              HasSubstr("UTF-32"));
}

TEST(ShowText, EscapesAndCuts) {
  EXPECT_EQ(ShowText("a\tb\n\x01"), "\"a\\tb\\n\\x01\"");
  EXPECT_EQ(ShowText("abcdef", 3), "\"abc...\"");
  EXPECT_EQ(ShowText("ab\xc3\xa4"
                     "cd",
                     3),
            "\"ab\xc3\xa4...\"");
}

class RecordFilesTest : public ::testing::Test {
 protected:
  std::vector<std::string> ReadAll(const RecordFiles& files, std::vector<int64_t> records) {
    ReadContext context;
    Block out;
    out.Reset({}, static_cast<int64_t>(records.size()));
    std::vector<std::string> texts(records.size());
    files.Read(context, records, out, [&](const RecordText& text) {
      EXPECT_GE(text.readable, text.text.data() + text.text.size());
      texts[static_cast<size_t>(text.row)] =
          fmt::format("{}/{}@{}:{}", text.file, text.record, text.offset, text.text);
    });
    return texts;
  }
  testing::Scratch scratch_;
};

TEST_F(RecordFilesTest, ReadsByNumberInAnyOrder) {
  const std::string a = scratch_.Write("a", "head\none\n\n\"t\nwo\"\nthree");
  const std::string b = scratch_.Write("b", testing::Gzip("head\r\nfour\r\n"));
  const std::string c = scratch_.Write("c", "");
  for (const bool map : {true, false}) {
    RecordFiles files({a, c, b}, kCsv, "test", map);
    EXPECT_EQ(files.size(), 6);
    EXPECT_EQ(files.Text(0, 0), "head\n");
    files.Skip(0, 1);
    files.Skip(1, 1);
    files.Skip(2, 1);
    ASSERT_EQ(files.size(), 4);
    EXPECT_THAT(ReadAll(files, {3, 1, 0, 2, 1}),
                ElementsAre("2/0@6:four\r\n", "0/1@10:\"t\nwo\"\n", "0/0@5:one\n\n",
                            "0/2@17:three\n", "0/1@10:\"t\nwo\"\n"));
  }
  RecordFiles files({a, c, b}, kCsv, "test");
  EXPECT_EQ(files.Where(0, 0), a + ":1:1");
  EXPECT_EQ(files.Where(0, 7), a + ":2:3");
  EXPECT_EQ(files.Where(0, 13), a + ":5:1");
  EXPECT_EQ(files.Where(0, 20), a + ":6:4");
  EXPECT_EQ(files.Where(2, 6), b + ":2:1");
}

// Mapped or read by system calls, near or far apart, in any order: the same texts.
TEST_F(RecordFilesTest, MappedAndReadAlike) {
  std::mt19937_64 random(12);
  std::vector<std::string> paths;
  for (int i = 0; i < 3; ++i) {
    std::string text;
    for (int k = 0; k < 3000; ++k) text += std::string(1 + random() % 2000, 'x') + "\n";
    paths.push_back(scratch_.Write(std::to_string(i), text));
  }
  RecordFiles mapped(paths, kCsv, "test"), read(paths, kCsv, "test", false);
  ASSERT_EQ(mapped.size(), 9000);
  for (int round = 0; round < 30; ++round) {
    std::vector<int64_t> records(1 + random() % 1000);
    const auto first = static_cast<int64_t>(random() % 8000);
    for (size_t i = 0; i < records.size(); ++i) {
      records[i] =
          round % 2 == 0 ? first + static_cast<int64_t>(i) : static_cast<int64_t>(random() % 9000);
    }
    ASSERT_EQ(ReadAll(mapped, records), ReadAll(read, records));
  }
}

// A file that somebody writes to is an error, not the end of the process.
TEST_F(RecordFilesTest, ChangedFilesAreNoticed) {
  for (const bool map : {true, false}) {
    const std::string path = scratch_.Write("a", std::string(100000, 'x') + "\ny\n");
    RecordFiles files({path}, kCsv, "test", map);
    EXPECT_EQ(ReadAll(files, {1}).size(), 1u);
    scratch_.Write("a", "x\ny\n");
    EXPECT_THAT(testing::MessageOf<DataError>([&] { ReadAll(files, {1}); }),
                AllOf(HasSubstr(path), HasSubstr("while it was in use")));
  }
}

// Against a plain count, over several steps and with lines longer than one.
TEST_F(RecordFilesTest, PlacesAreRight) {
  std::mt19937_64 random(7);
  std::string text = "\xef\xbb\xbf";
  while (text.size() < 5u << 20) {
    const size_t size = random() % 20 == 0 ? random() % (1 << 21) : random() % 5000;
    for (size_t i = 0; i < size; ++i) text += "ab\xc3\xa4"[random() % 4];
    text += "\n\r"[random() % 2];
    if (random() % 3 == 0) text += '\n';
  }
  const std::string path = scratch_.Write("a", text);
  RecordFiles files({path}, kCsv, "test");
  int64_t line = 0, column = 0;
  int checked = 0;
  for (size_t i = 3; i < text.size(); ++i) {
    if (i == 3 || text[i - 1] == '\n' || (text[i - 1] == '\r' && text[i] != '\n')) {
      ++line;
      column = 0;
    }
    column += (text[i] & 0xc0) != 0x80;
    if (random() % 60000 == 0 || (i % (1 << 20)) < 2) {
      // Within a character the place is that of the next one.
      if ((text[i] & 0xc0) == 0x80) continue;
      ASSERT_EQ(files.Where(0, static_cast<int64_t>(i)),
                fmt::format("{}:{}:{}", path, line, column));
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

}  // namespace
}  // namespace flatout::data
