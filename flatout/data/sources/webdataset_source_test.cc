#include <gmock/gmock.h>

#include <cstdlib>
#include <random>

#include "flatout/base/file.h"
#include "flatout/data/formats/npy_testing.h"
#include "flatout/data/formats/tar_testing.h"
#include "flatout/data/source_testing.h"
#include "flatout/data/sources/webdataset.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

using ::testing::AllOf;
using testing::BytesOf;
using testing::ColumnOf;
using ::testing::ElementsAre;
using testing::Gzip;
using ::testing::HasSubstr;
using testing::MessageOf;
using testing::Npy;
using testing::OpenKind;
using testing::ReadAll;
using testing::ReadRecords;
using testing::Scratch;
using testing::Tar;
using testing::TarEnd;
using testing::TarEntry;
using Members = std::vector<std::pair<std::string, std::string>>;

std::vector<std::string> Texts(const Block& block, size_t field) {
  std::vector<std::string> texts;
  for (int64_t row = 0; row < block.rows(); ++row) texts.emplace_back(block.text(field, row));
  return texts;
}

class WebDatasetTest : public ::testing::Test {
 protected:
  WebDatasetTest() { setenv("FLATOUT_CACHE", (scratch_ / "cache").c_str(), 1); }
  ~WebDatasetTest() override { unsetenv("FLATOUT_CACHE"); }

  std::string Write(const std::string& name, const Members& members) {
    return scratch_.Write(name, Tar(members));
  }
  std::string Files(const std::string& pattern) {
    return "files = '" + (scratch_ / pattern) + "'\n";
  }
  Scratch scratch_;
};

TEST(ExpandBracesTest, GivesTheNamesInOrder) {
  EXPECT_THAT(ExpandBraces("a-{08..11}.tar"),
              ElementsAre("a-08.tar", "a-09.tar", "a-10.tar", "a-11.tar"));
  EXPECT_THAT(ExpandBraces("{9..10}"), ElementsAre("9", "10"));
  EXPECT_THAT(ExpandBraces("{a,b}{0..1}"), ElementsAre("a0", "a1", "b0", "b1"));
  EXPECT_THAT(ExpandBraces("x,y"), ElementsAre("x,y"));
  EXPECT_THAT(ExpandBraces("x{,y}"), ElementsAre("x", "xy"));
  EXPECT_THAT(ExpandBraces("x{y"), ElementsAre("x{y"));
  for (const char* wrong : {"{3..1}", "{a..c}", "{-1..1}", "{1..}"}) {
    EXPECT_THAT(MessageOf<DataError>([&] { ExpandBraces(wrong); }), HasSubstr("expected a range"));
  }
  EXPECT_THAT(MessageOf<DataError>([] { ExpandBraces("{0..99999999999}"); }),
              HasSubstr("more than 1000000"));
  EXPECT_THAT(MessageOf<DataError>([] { ExpandBraces("{0..999}{0..999}{0..9}"); }),
              HasSubstr("more than 1000000"));
}

TEST(SplitMemberNameTest, SplitsAtTheFirstDot) {
  using Parts = std::pair<std::string_view, std::string>;
  EXPECT_EQ(SplitMemberName("n01.a/x.seg.PNG"), (Parts{"n01.a/x", "seg.png"}));
  EXPECT_EQ(SplitMemberName("./x.jpg"), (Parts{"./x", "jpg"}));
  for (const char* none : {"x", "a/.hidden", "a.b/x", "x.", "__meta__.json"}) {
    EXPECT_EQ(SplitMemberName(none).second, "") << none;
  }
}

TEST_F(WebDatasetTest, ReadsSamplesOfShards) {
  Write("t-000.tar",
        {{"a/1.jpg", "jpg one"}, {"a/1.cls", "7"}, {"a/2.cls", " 8\n"}, {"a/2.jpg", "jpg two"}});
  Write("t-001.tar", {{"README", "no sample"}, {"b/1.JPG", "jpg three"}, {"b/1.cls", "-9"}});
  SourcePtr source =
      OpenKind("webdataset", Files("t-{000..001}.tar") +
                                 "fields = { image = 'png;jpg', label = 'cls', key = '__key__' }");
  EXPECT_EQ(source->size(), 3);
  EXPECT_EQ(DescribeFields(source->fields()), "image text[], label i32[], key text[]");
  const Block block = ReadRecords(*source, {2, 0, 1, 2});
  EXPECT_THAT(Texts(block, 0), ElementsAre("jpg three", "jpg one", "jpg two", "jpg three"));
  EXPECT_THAT(ColumnOf<int32_t>(block, 1), ElementsAre(-9, 7, 8, -9));
  EXPECT_THAT(Texts(block, 2), ElementsAre("b/1", "a/1", "a/2", "b/1"));
}

TEST_F(WebDatasetTest, FindsTheFieldsByItself) {
  const std::string array = Npy("<f8", "(2,)", BytesOf(std::vector<double>{1, 2}));
  Write("t.tar", {{"1.jpg", "a"},
                  {"1.cls", "7"},
                  {"1.v.npy", array},
                  {"1.txt", "words"},
                  {"2.jpg", "b"},
                  {"2.cls", "8"},
                  {"2.v.npy", array},
                  {"2.txt", ""}});
  SourcePtr source = OpenKind("webdataset", Files("t.tar"));
  EXPECT_EQ(DescribeFields(source->fields()), "jpg text[], cls i32[], v_npy f32[2], txt text[]");
  const Block block = ReadAll(*source);
  EXPECT_THAT(ColumnOf<float>(block, 2), ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(Texts(block, 3), ElementsAre("words", ""));
}

TEST_F(WebDatasetTest, ReadsPackedArchives) {
  scratch_.Write("t.tar.gz", Gzip(Tar({{"1.jpg", "a"}, {"2.jpg", "b"}})));
  SourcePtr source = OpenKind("webdataset", Files("t.tar.gz"));
  EXPECT_THAT(Texts(ReadAll(*source), 0), ElementsAre("a", "b"));
}

TEST_F(WebDatasetTest, ReadsArraysOfAnyShape) {
  Write("t.tar", {{"1.npy", Npy("<i8", "(2,)", BytesOf(std::vector<int64_t>{1, 2}))},
                  {"2.npy", Npy(">i4", "(3,)", testing::BigEndian(std::vector<int32_t>{3, 4, 5}))},
                  {"3.npy", Npy("<i4", "(0,)", "")},
                  {"4.npy", Npy("<i4", "()", BytesOf(std::vector<int32_t>{6}))}});
  SourcePtr source =
      OpenKind("webdataset",
               Files("t.tar") + "fields.x = { extension = 'npy', dtype = 'i32', shape = [-1] }");
  EXPECT_EQ(DescribeFields(source->fields()), "x i32[?]");
  BadRecords bad(1);
  const Block block = ReadAll(*source, &bad);
  EXPECT_THAT(ColumnOf<int32_t>(block, 0), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(bad.messages(),
              ElementsAre(AllOf(HasSubstr("sample \"4\", field x: "),
                                HasSubstr("expected an array of shape"), HasSubstr("found []"))));
}

TEST_F(WebDatasetTest, TellsBadSamples) {
  Write("t.tar", {{"1.jpg", "a"},
                  {"1.cls", "1"},
                  {"2.jpg", "b"},
                  {"3.jpg", "c"},
                  {"3.cls", "x"},
                  {"4.jpg", "d"},
                  {"4.cls", "9"},
                  {"5.jpg", "e"},
                  {"5.jpg", "e"},
                  {"5.cls", "1"},
                  {"6.jpg", "f"},
                  {"6.cls", "2"},
                  {"7.json", "{}"}});
  SourcePtr source = OpenKind("webdataset", Files("t.tar") + "[fields]\nimage = 'jpg'\n" +
                                                "label = { extension = 'cls', bound = 3 }");
  EXPECT_EQ(source->size(), 6);
  BadRecords bad(10);
  const Block block = ReadAll(*source, &bad);
  EXPECT_THAT(
      bad.messages(),
      ElementsAre(AllOf(HasSubstr("t.tar: byte 2048: sample \"2\" has no member \"cls\""),
                        HasSubstr("field label")),
                  AllOf(HasSubstr("t.tar: byte 4608: sample \"3\", field label"),
                        HasSubstr("expected an integer"), HasSubstr("found \"x\"")),
                  AllOf(HasSubstr("sample \"4\", field label"), HasSubstr("expected 0 to 2"),
                        HasSubstr("found 9")),
                  AllOf(HasSubstr("sample \"5\""), HasSubstr("two members of one extension"))));
  EXPECT_THAT(Texts(block, 0), ElementsAre("a", "", "", "", "", "f"));
  EXPECT_EQ(source->fields()[1].bound, 3);
}

TEST_F(WebDatasetTest, ADamagedArchiveEndsInABadRecord) {
  const std::string good = Tar({{"1.jpg", "a"}, {"1.cls", "1"}, {"2.jpg", "b"}, {"2.cls", "2"}});
  const std::string fields = "fields = { image = 'jpg', label = 'cls' }";
  auto read = [&](const std::string& content) {
    scratch_.Write("t.tar", content);
    SourcePtr source = OpenKind("webdataset", Files("t.tar") + fields);
    BadRecords bad(10);
    const Block block = ReadAll(*source, &bad);
    std::vector<std::string> result = bad.messages();
    result.push_back(std::to_string(source->size()));
    return result;
  };
  EXPECT_THAT(read(good), ElementsAre("2"));
  EXPECT_THAT(read(good.substr(0, 3584)),
              ElementsAre(AllOf(HasSubstr("byte 3072"), HasSubstr("\"2.cls\"")), "2"));
  EXPECT_THAT(read(good.substr(0, 4096)),
              ElementsAre(HasSubstr("byte 4096: the archive ends without"), "3"));
  std::string header = good;
  header[2048 + 5] = 'x';
  EXPECT_THAT(read(header),
              ElementsAre(AllOf(HasSubstr("byte 2048"), HasSubstr("archive is damaged")), "2"));
  EXPECT_THAT(MessageOf<DataError>([&] { read("no archive"); }), HasSubstr("t.tar: byte 0"));
  EXPECT_THAT(MessageOf<DataError>([&] { read(std::string(2000, 'x')); }),
              HasSubstr("no tar archive"));
  EXPECT_THAT(MessageOf<DataError>([&] { read(TarEnd()); }), HasSubstr("no samples"));
}

TEST_F(WebDatasetTest, ComplainsAtThePlace) {
  Write("t.tar", {{"1.jpg", "a"}});
  auto complaint = [&](const std::string& fields) {
    return MessageOf<UserError>([&] { OpenKind("webdataset", Files("t.tar") + fields); });
  };
  EXPECT_THAT(complaint("fields = 3"), HasSubstr("run.toml:2:1: fields: expected a table"));
  EXPECT_THAT(complaint("fields = { x = 'jpg;cls' }"), HasSubstr("decoded differently"));
  EXPECT_THAT(complaint("fields = { x = '' }"), HasSubstr("expected an extension"));
  EXPECT_THAT(complaint("fields.x = { extension = 'npy', dtype = 'f33' }"), HasSubstr("f33"));
  EXPECT_THAT(complaint("fields.x = { extension = 'npy', shape = [2] }"),
              HasSubstr("dtype beside"));
  EXPECT_THAT(complaint("fields.x = { extension = 'npy', dtype = 'f32', shape = [0] }"),
              HasSubstr("-1 where they differ"));
  EXPECT_THAT(complaint("fields.x = { extention = 'npy' }"), HasSubstr("extension"));
  EXPECT_THAT(MessageOf<DataError>([&] { OpenKind("webdataset", Files("u-{0..3}.tar")); }),
              HasSubstr("u-0.tar: no such file"));
}

TEST_F(WebDatasetTest, SamplesWithMuchBetweenThemAreReadPieceByPiece) {
  const std::string large(1 << 16, 'x');
  Write("t.tar", {{"1.jpg", "a"},
                  {"1.bin", large},
                  {"1.txt", "b"},
                  {"2.jpg", ""},
                  {"2.bin", ""},
                  {"2.txt", "c"}});
  SourcePtr source =
      OpenKind("webdataset", Files("t.tar") + "fields = { image = 'jpg', text = 'txt' }");
  const Block block = ReadAll(*source);
  EXPECT_THAT(Texts(block, 0), ElementsAre("a", ""));
  EXPECT_THAT(Texts(block, 1), ElementsAre("b", "c"));
}

}  // namespace
}  // namespace flatout::data
