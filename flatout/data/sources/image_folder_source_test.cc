#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "flatout/data/dataset.h"
#include "flatout/data/image/image_testing.h"
#include "flatout/data/source_testing.h"
#include "flatout/data/sources/image_folder.h"
#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::ColumnOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MessageOf;
using ::testing::Not;
using testing::OpenKind;
using testing::ReadAll;
using testing::ReadRecords;
using testing::Scratch;
using testing::WritePng;

void Write(const Scratch& scratch, const std::string& name, const std::string& content) {
  fs::create_directories(fs::path(scratch / name).parent_path());
  scratch.Write(name, content);
}

// train/{ant,bee,cat} with 4, 3 and 2 files, and what is no picture.
void Fill(const Scratch& scratch) {
  Write(scratch, "train/bee/2.jpg", "bee2");
  Write(scratch, "train/bee/1.png", "bee1");
  Write(scratch, "train/bee/.DS_Store", "x");
  Write(scratch, "train/bee/more/3.gif", "bee3");
  Write(scratch, "train/ant/a.jpg", "anta");
  Write(scratch, "train/ant/b.jpg", "antb");
  Write(scratch, "train/ant/c", "antc");
  Write(scratch, "train/ant/d.JPEG", "antd");
  Write(scratch, "train/ant/Thumbs.db", "x");
  Write(scratch, "train/ant/notes.TXT", "x");
  Write(scratch, "train/cat/x.jpg", "catx");
  Write(scratch, "train/cat/y.jpg", "caty");
  Write(scratch, "train/.hidden/y.jpg", "x");
  Write(scratch, "train/README.md", "x");
  Write(scratch, "test/cat/1.jpg", "test");
}

std::vector<std::string> Texts(const Block& block, size_t field = 0) {
  std::vector<std::string> texts;
  for (int64_t row = 0; row < block.rows(); ++row) texts.emplace_back(block.text(field, row));
  return texts;
}

TEST(ImageFolder, ClassesFilesAndCounts) {
  Scratch scratch;
  Fill(scratch);
  const std::string toml = "path = '" + (scratch / "train") +
                           "'\npath_field = true\ntest_path = '" + (scratch / "test") + "/'";
  SourcePtr source = OpenKind("image_folder", toml);
  ASSERT_EQ(source->size(), 9);
  EXPECT_EQ(DescribeFields(source->fields()), "image text[], label i32[], path text[]");
  EXPECT_EQ(source->fields()[1].bound, 3);
  const Block block = ReadAll(*source);
  EXPECT_THAT(Texts(block),
              ElementsAre("anta", "antb", "antc", "antd", "bee1", "bee2", "bee3", "catx", "caty"));
  EXPECT_THAT(ColumnOf<int32_t>(block, 1), ElementsAre(0, 0, 0, 0, 1, 1, 1, 2, 2));
  EXPECT_EQ(block.text(2, 6), "bee/more/3.gif");
  EXPECT_THAT(source->description(),
              AllOf(HasSubstr("image_folder train: 9 records"),
                    HasSubstr("3 classes: ant 4, bee 3, cat 2"), HasSubstr("3 files left out")));
  // Labels of other splits are the training split's.
  SourcePtr test = OpenKind("image_folder", toml, "test");
  EXPECT_EQ(test->fields()[1].bound, 3);
  EXPECT_THAT(ColumnOf<int32_t>(ReadAll(*test), 1), ElementsAre(2));
  EXPECT_EQ(OpenKind("image_folder", toml, "validation"), nullptr);
  EXPECT_THAT(Texts(ReadRecords(*source, {8, 0, 8})), ElementsAre("caty", "anta", "caty"));
}

TEST(ImageFolder, ClassesInGivenOrder) {
  Scratch scratch;
  Fill(scratch);
  const std::string path = "path = '" + (scratch / "train") + "'\n";
  SourcePtr source = OpenKind("image_folder", path + "classes = ['cat', 'ant']");
  EXPECT_THAT(Texts(ReadAll(*source)), ElementsAre("catx", "caty", "anta", "antb", "antc", "antd"));
  EXPECT_THAT(ColumnOf<int32_t>(ReadAll(*source), 1), ElementsAre(0, 0, 1, 1, 1, 1));
  EXPECT_THAT(source->description(), HasSubstr("1 folders left out that `classes` does not name"));
  EXPECT_THAT(
      MessageOf<DataError>([&] { OpenKind("image_folder", path + "classes = ['cat', 'amt']"); }),
      AllOf(HasSubstr("no folder for the class \"amt\""), HasSubstr("\"ant\"")));
}

TEST(ImageFolder, ValidationSplitIsDrawnOnce) {
  Scratch scratch;
  for (int c = 0; c < 4; ++c) {
    for (int i = 0; i < 50; ++i) {
      Write(scratch, fmt::format("class{}/{:02}.png", c, i), fmt::format("{} {}", c, i));
    }
  }
  const std::string toml = "path = '" + scratch.path() + "'\nvalidation_split = 0.2\n";
  const Block train = ReadAll(*OpenKind("image_folder", toml));
  const Block validation = ReadAll(*OpenKind("image_folder", toml, "validation"));
  EXPECT_EQ(train.rows(), 160);
  EXPECT_EQ(validation.rows(), 40);
  std::set<std::string> all;
  for (const Block* block : {&train, &validation}) {
    for (const std::string& text : Texts(*block)) EXPECT_TRUE(all.insert(text).second) << text;
  }
  EXPECT_EQ(all.size(), 200);
  // Of every class, although they stand one after the other.
  const std::vector<int32_t> labels = ColumnOf<int32_t>(validation, 1);
  for (int c = 0; c < 4; ++c) EXPECT_GT(std::count(labels.begin(), labels.end(), c), 3);
  EXPECT_EQ(Texts(ReadAll(*OpenKind("image_folder", toml, "validation"))), Texts(validation));
  EXPECT_NE(Texts(ReadAll(*OpenKind("image_folder", toml + "validation_seed = 1", "validation"))),
            Texts(validation));
  // A limit takes of all classes as well.
  const Block few =
      ReadAll(*OpenKind("image_folder", "path = '" + scratch.path() + "'\nlimit = 8"));
  EXPECT_THAT(ColumnOf<int32_t>(few, 1), ElementsAre(0, 0, 1, 1, 2, 2, 3, 3));
  EXPECT_THAT(MessageOf<DataError>([&] {
                OpenKind("image_folder", "path = '" + scratch.path() + "'\nvalidation_split = 200");
              }),
              HasSubstr("both splits need at least one"));
}

TEST(ImageFolder, FoldersThatAreNotRight) {
  Scratch scratch;
  Fill(scratch);
  auto message = [&](const std::string& name, std::string_view split = "train",
                     const std::string& more = "") {
    return MessageOf<DataError>(
        [&] { OpenKind("image_folder", "path = '" + (scratch / name) + "'\n" + more, split); });
  };
  EXPECT_THAT(message("trian"), AllOf(HasSubstr("found nothing"), HasSubstr("\"train\"")));
  EXPECT_THAT(message("train/ant"), HasSubstr("one folder per class"));
  EXPECT_THAT(message("train/README.md"), HasSubstr("found a file"));
  Write(scratch, "train/dog/.keep", "");
  EXPECT_THAT(message("train"), AllOf(HasSubstr("train/dog"), HasSubstr("no pictures")));
  Write(scratch, "train/dog/1.jpg", "dog");
  Write(scratch, "other/dgo/1.jpg", "dog");
  EXPECT_THAT(message("train", "validation", "validation_path = '" + (scratch / "other") + "'"),
              AllOf(HasSubstr("other/dgo"), HasSubstr("no such class"), HasSubstr("\"dog\"")));
  fs::create_directory_symlink("..", scratch / "train/dog/loop");
  EXPECT_THAT(message("train"), HasSubstr("links in a circle"));
}

TEST(ImageFolder, WrongKeys) {
  auto message = [](const std::string& toml) {
    return MessageOf<UserError>([&] { OpenKind("image_folder", toml); });
  };
  EXPECT_THAT(message(""), HasSubstr("path"));
  EXPECT_THAT(message("path = 'x'\nvalidation_split = -1"), HasSubstr("run.toml:2"));
  EXPECT_THAT(message("path = 'x'\nvalidation_split = 0.1\nvalidation_path = 'y'"),
              HasSubstr("not both"));
  EXPECT_THAT(message("path = 'x'\nlimit = -1"), HasSubstr("run.toml:2"));
  EXPECT_THAT(message("path = 'x'\nclasses = ['a', 'b', 'a']"), HasSubstr("each class once"));
  EXPECT_THAT(message("test_path = 'x'"), HasSubstr("what the labels are"));
}

TEST(ImageFolder, FilesThatGo) {
  Scratch scratch;
  Fill(scratch);
  SourcePtr source = OpenKind("image_folder", "path = '" + (scratch / "train") + "'");
  fs::remove(scratch / "train/bee/1.png");
  BadRecords bad(1);
  const Block block = ReadAll(*source, &bad);
  EXPECT_TRUE(block.bad(4));
  EXPECT_FALSE(block.bad(5));
  ASSERT_EQ(bad.messages().size(), 1);
  EXPECT_THAT(bad.messages()[0], AllOf(HasSubstr("bee/1.png"), HasSubstr("No such file")));
}

// All the way: a data set of pictures, some of them bad, decoded and in batches.
TEST(ImageFolder, DecodedInBatchesWithBadFilesNamed) {
  Scratch scratch;
  for (int i = 0; i < 12; ++i) {
    Write(scratch, fmt::format("{}/{:02}.jpg", i % 2 == 0 ? "even" : "odd", i),
          WritePng(std::vector<uint8_t>(8 * 9, static_cast<uint8_t>(10 * i)), 8, 9, 1, 8, false));
  }
  Write(scratch, "even/04.jpg", "");
  Write(scratch, "odd/07.jpg", std::string(100, '\0'));
  SourcePtr source = OpenKind("image_folder", "path = '" + scratch.path() + "'");
  DatasetOptions options;
  options.max_bad_records = 2;
  auto run = [&](int workers) {
    options.workers = workers;
    Dataset data = Dataset::FromSource(source)
                       .Apply({testing::TransformOf("op = 'decode_image'"),
                               testing::TransformOf("op = 'random_resized_crop'\nsize = [4, 4]"),
                               testing::TransformOf("op = 'to_float'")},
                              7)
                       .Batch(5)
                       .WithOptions(options)
                       .Prefetch();
    Iterator it = data.MakeIterator();
    std::vector<float> values;
    while (const Element* batch = it.Next()) {
      const auto images = batch->Values<float>("image");
      const auto weights = batch->Values<float>("weight");
      for (size_t row = 0; row < 5; ++row) {
        if (weights[row] == 0) continue;
        values.push_back(images[row * 48]);
      }
    }
    EXPECT_EQ(it.bad_records(), 2);
    return values;
  };
  const std::vector<float> values = run(1);
  ASSERT_EQ(values.size(), 10);
  int i = 0;
  for (int file : {0, 2, 6, 8, 10, 1, 3, 5, 9, 11}) {
    EXPECT_FLOAT_EQ(values[static_cast<size_t>(i++)], static_cast<float>(10 * file) / 255);
  }
  EXPECT_EQ(run(3), values);
  options.max_bad_records = 0;
  EXPECT_THAT(MessageOf<DataError>([&] { run(1); }),
              AllOf(HasSubstr("even/04.jpg"), HasSubstr("empty (0 bytes)")));
}

}  // namespace
}  // namespace flatout::data
