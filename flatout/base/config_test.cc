#include "flatout/base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "flatout/base/file.h"

namespace flatout {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRun = R"(seed = 7
[model]
name = "cnn"

[[model.layers]]
class = "Dense"
units = 64

[[model.layers]]
class = "Dropout"
rate = 0.5

[train]
epochs = 3
betas = [0.9, 0.999]
shuffle = true
)";

// The message of the UserError that `body` throws; "" where it throws none.
template <typename Body>
std::string ErrorOf(Body&& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Config, ReadsValuesWithTheirPathsAndPlaces) {
  const Config run = Config::ParseToml(kRun, "run.toml");
  EXPECT_EQ(run.FindPath("seed")->AsInt(), 7);
  EXPECT_EQ(run.FindPath("model.name")->AsString(), "cnn");
  EXPECT_EQ(run.FindPath("model.layers[1].rate")->AsDouble(), 0.5);
  EXPECT_TRUE(run.FindPath("train.shuffle")->AsBool());
  EXPECT_EQ(run.FindPath("train.epochs")->AsDouble(), 3.0) << "an integer counts as a number";
  const Config* units = run.FindPath("model.layers[0].units");
  ASSERT_NE(units, nullptr);
  EXPECT_EQ(units->path(), "model.layers[0].units");
  EXPECT_EQ(units->place().ToString(), "run.toml:7:1");
  EXPECT_EQ(run.FindPath("train.betas")->items()[1].place().ToString(), "run.toml:15:15");
  EXPECT_EQ(run.FindPath("train.betas[1]")->path(), "train.betas[1]");
  EXPECT_EQ(run.FindPath("train.nothing"), nullptr);
  EXPECT_EQ(run.FindPath("seed.deeper"), nullptr);
  EXPECT_EQ(run.FindPath("model.layers[2]"), nullptr);
}

TEST(Config, KeepsFileOrder) {
  const Config table = Config::ParseToml("zebra = 1\nant = 2\nmole = 3\n", "t");
  std::vector<std::string> keys;
  for (const auto& [key, value] : table.entries()) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("zebra", "ant", "mole"));
}

TEST(Config, WrongTypesNamePlacePathAndBothTypes) {
  const Config run =
      Config::ParseToml("[model]\nunits = \"abc\"\nrate = 2.0\nflag = 1\n", "c.toml");
  EXPECT_EQ(ErrorOf([&] { run.FindPath("model.units")->AsInt(); }),
            "c.toml:2:1: model.units: expected an integer, found the string \"abc\"");
  EXPECT_THAT(ErrorOf([&] { run.FindPath("model.rate")->AsInt(); }), HasSubstr("the number 2.0"));
  EXPECT_THAT(ErrorOf([&] { run.FindPath("model.flag")->AsBool(); }),
              HasSubstr("expected true or false, found the integer 1"));
  EXPECT_THAT(ErrorOf([&] { run.FindPath("model")->AsString(); }), HasSubstr("found a table"));
  EXPECT_THAT(ErrorOf([&] { run.FindPath("model.units")->items(); }), HasSubstr("an array"));
  EXPECT_THAT(ErrorOf([&] { run.FindPath("model.units")->entries(); }), HasSubstr("a table"));
  EXPECT_THAT(ErrorOf([&] { Config().AsDouble(); }), HasSubstr("found nothing"));
}

TEST(Config, BrokenFilesAreNamedWithLineAndColumn) {
  const struct {
    std::string text;
    std::string place;
  } cases[] = {
      {"a = 1\nb = \n", "x.toml:2:"},
      {"a = 1\n[t\n", "x.toml:2:"},
      {"a = \"open\n", "x.toml:1:"},
      {"device = cpu\n", "x.toml:1:"},
      {"a = 1\na = 2\n", "x.toml:2:"},
      {"a = 99999999999999999999\n", "x.toml:1:"},
      {std::string("a = \"\xff\xfe\"\n"), "x.toml:1:"},
      {std::string("a = 1\0b", 7), "x.toml:1:"},
      {"day = 2024-01-01\n", "x.toml:1:"},
      {"a = " + std::string(100000, '['), "x.toml:1:"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(ErrorOf([&] { Config::ParseToml(c.text, "x.toml"); }), HasSubstr(c.place))
        << c.text.substr(0, 40);
  }
}

TEST(Config, EmptyAndCommentedFilesAreEmptyTables) {
  EXPECT_TRUE(Config::ParseToml("", "e").entries().empty());
  EXPECT_TRUE(Config::ParseToml("# nothing\r\n", "e").entries().empty());
  EXPECT_EQ(Config::ParseToml("", "e"), Config::Table());
}

TEST(Config, LoadNamesTheMissingFile) {
  const std::string path = ::testing::TempDir() + "flatout_config_missing/none.toml";
  EXPECT_THAT(ErrorOf([&] { Config::LoadToml(path); }), HasSubstr(path));
  EXPECT_THAT(ErrorOf([&] { Config::LoadToml(::testing::TempDir()); }), HasSubstr("directory"));
}

TEST(Config, TextReadsBackToAnEqualTree) {
  const std::string texts[] = {
      kRun,
      "",
      "a = [[1, 2], [], [\"x\", {b = 1, c = [true]}]]\nempty = {}\n",
      "e = []\nf = 1e300\ng = 0.1\nh = -0.0\ni = inf\nj = -inf\nk = nan\nl = 1e-7\nm = 3.0\n",
      "n = -9223372036854775808\no = 9223372036854775807\np = 0xff\n",
      R"(s = "quote \" back \\ tab \t line \n nul \u0000 bell \u0007 del \u007f umlaut ä")",
      "\"odd key\" = 1\n\"\" = 2\n\"a.b\" = 3\n[\"x y\".z]\nq = 1\n",
      "[[a]]\n[[a.b]]\nc = 1\n[[a.b]]\n[a.d]\n[[a]]\nlast = true\n",
      "[t.u.v]\nw = 1\n",
  };
  for (const std::string& text : texts) {
    const Config tree = Config::ParseToml(text, "a");
    const std::string written = tree.ToToml();
    EXPECT_EQ(Config::ParseToml(written, "b"), tree) << text << "\nwas written as\n" << written;
    EXPECT_EQ(Config::ParseToml(written, "b").ToToml(), written);
  }
}

TEST(Config, PlainKeysGoBeforeSubtables) {
  Config tree = Config::ParseToml("[train]\nepochs = 1\n", "a");
  tree.Set("seed", Config(int64_t{3}));
  tree.Set("unset", Config());
  const Config back = Config::ParseToml(tree.ToToml(), "b");
  EXPECT_EQ(back.FindPath("seed")->AsInt(), 3);
  EXPECT_EQ(back.Find("unset"), nullptr);
}

TEST(Config, EqualityLooksAtKindsAndValues) {
  EXPECT_EQ(Config::ParseToml("a = 1\nb = 2", "x"), Config::ParseToml("b = 2\n\na = 1", "y"));
  EXPECT_FALSE(Config(int64_t{1}) == Config(1.0));
  EXPECT_FALSE(Config::ParseToml("a = 1", "x") == Config::ParseToml("b = 1", "x"));
  EXPECT_FALSE(Config::ParseToml("a = [1]", "x") == Config::ParseToml("a = [1, 1]", "x"));
  EXPECT_TRUE(Config(std::nan("")) == Config(std::nan("")));
}

TEST(Config, SetFromArgumentReadsToml) {
  Config run = Config::ParseToml(kRun, "run.toml");
  run.SetFromArgument("train.epochs=5");
  run.SetFromArgument("train.lr = 1e-3");
  run.SetFromArgument("model.layers[0].units=128");
  run.SetFromArgument("optimizer.schedule.name=\"cosine\"");
  run.SetFromArgument("train.device=cpu");
  run.SetFromArgument("train.note=a = b");
  run.SetFromArgument("train.empty=");
  run.SetFromArgument("train.day=2024-01-01");
  run.SetFromArgument("train.betas=[0.8, 0.9]");
  run.SetFromArgument("data.\"odd key\"=false");
  run.SetFromArgument("train.two=1\nseed = 9");
  run.SetFromArgument("model.layers[1]={class=\"Flatten\"}");
  EXPECT_EQ(run.FindPath("train.epochs")->AsInt(), 5);
  EXPECT_EQ(run.FindPath("train.lr")->AsDouble(), 1e-3);
  EXPECT_EQ(run.FindPath("model.layers[0].units")->AsInt(), 128);
  EXPECT_EQ(run.FindPath("optimizer.schedule.name")->AsString(), "cosine");
  EXPECT_EQ(run.FindPath("train.device")->AsString(), "cpu");
  EXPECT_EQ(run.FindPath("train.note")->AsString(), "a = b");
  EXPECT_EQ(run.FindPath("train.empty")->AsString(), "");
  EXPECT_EQ(run.FindPath("train.day")->AsString(), "2024-01-01");
  EXPECT_EQ(run.FindPath("train.betas[1]")->AsDouble(), 0.9);
  EXPECT_FALSE(run.FindPath("data.\"odd key\"")->AsBool());
  EXPECT_EQ(run.FindPath("train.two")->AsString(), "1\nseed = 9") << "no second key is let in";
  EXPECT_EQ(run.FindPath("seed")->AsInt(), 7);
  EXPECT_EQ(run.FindPath("model.layers[1].class")->path(), "model.layers[1].class");
  // What was set is told by its place, and survives being written into the run folder.
  EXPECT_THAT(ErrorOf([&] { run.FindPath("train.device")->AsInt(); }),
              HasSubstr("--set: train.device: expected an integer, found the string \"cpu\""));
  EXPECT_EQ(Config::ParseToml(run.ToToml(), "copy"), run);
}

TEST(Config, IntegersBeyond64BitsAreNamedAsSuch) {
  for (const char* text : {"99999999999999999999", "-99999999999999999999", "9223372036854775808",
                           "99_999_999_999_999_999_999"}) {
    Config run = Config::ParseToml("[train]\nglobal_batch = 1\n", "run.toml");
    run.SetFromArgument(std::string("train.global_batch=") + text);
    EXPECT_THAT(ErrorOf([&] { run.FindPath("train.global_batch")->AsInt(); }),
                HasSubstr("does not fit 64 bits"))
        << text;
  }
  for (const char* text : {"99999999999999999999x", "12-", "-", "cpu"}) {
    Config run = Config::ParseToml("[train]\nglobal_batch = 1\n", "run.toml");
    run.SetFromArgument(std::string("train.global_batch=") + text);
    EXPECT_THAT(ErrorOf([&] { run.FindPath("train.global_batch")->AsInt(); }),
                Not(HasSubstr("64 bits")))
        << text;
  }
}

TEST(Config, SetFromArgumentRefusesNonsense) {
  const Config run = Config::ParseToml(kRun, "run.toml");
  for (const char* bad : {"", "=", "=3", "train.epochs", "train..epochs=3", ".a=1", "a.=1", "a b=1",
                          "train.betas[x]=1", "train.betas[9]=1", "seed.deeper=1", "seed[0]=1",
                          "train[0]=1", "\"open=1", "a[99999999999999999999]=1", "a=\xff"}) {
    Config copy = run;
    EXPECT_THAT(ErrorOf([&] { copy.SetFromArgument(bad); }), HasSubstr("--set")) << bad;
  }
  Config copy = run;
  EXPECT_THAT(ErrorOf([&] { copy.SetFromArgument("seed.deeper=1"); }),
              HasSubstr("seed is the integer 7 (run.toml:1:1)"));
}

TEST(Config, DescribeShortensLongText) {
  EXPECT_EQ(Config(2.5).Describe(), "the number 2.5");
  const std::string described = Config(std::string(500, 'x')).Describe();
  EXPECT_LT(described.size(), 120U);
  EXPECT_THAT(described, HasSubstr("..."));
}

struct DenseOptions {
  int64_t units = 0;
  std::string activation = "linear";
  bool use_bias = true;
  std::vector<double> betas = {1};
  std::optional<int64_t> seed;
  template <class V>
  void Visit(V& v) {
    v.Required("units", units);
    v("activation", activation);
    v("use_bias", use_bias);
    v("betas", betas);
    v("seed", seed);
  }
};

DenseOptions Read(const std::string& text) {
  DenseOptions options;
  const Config table = Config::ParseToml(text, "d.toml");
  ReadOptions(table, "layer Dense", options);
  return options;
}

TEST(FieldReader, FillsWhatIsThereAndKeepsDefaults) {
  const DenseOptions options = Read("units = 8\nuse_bias = false\nbetas = [0.1, 2]\nseed = 4\n");
  EXPECT_EQ(options.units, 8);
  EXPECT_EQ(options.activation, "linear");
  EXPECT_FALSE(options.use_bias);
  EXPECT_THAT(options.betas, ElementsAre(0.1, 2.0));
  EXPECT_EQ(options.seed, 4);
  EXPECT_EQ(Read("units = 8\n").seed, std::nullopt);
  EXPECT_THAT(Read("units = 8\nbetas = 5\n").betas, ElementsAre(5.0))
      << "one value is a list of one";
}

TEST(FieldReader, NamesUnknownAndMissingKeys) {
  const std::string unknown = ErrorOf([] { Read("units = 8\nactivaton = \"relu\"\n"); });
  EXPECT_THAT(unknown,
              HasSubstr("d.toml:2:1: activaton: unknown key \"activaton\" in layer Dense"));
  EXPECT_THAT(unknown, HasSubstr("did you mean \"activation\"?"));
  EXPECT_THAT(unknown, HasSubstr("use_bias"));
  EXPECT_THAT(ErrorOf([] { Read("units = 8\nzzzzzz = 1\n"); }), Not(HasSubstr("did you mean")));
  const std::string missing = ErrorOf([] { Read("unit = 8\n"); });
  EXPECT_THAT(missing, HasSubstr("layer Dense needs the key \"units\""));
  EXPECT_THAT(missing, HasSubstr("is \"unit\" a misspelling"));
  EXPECT_THAT(ErrorOf([] { Read("units = 2.5\n"); }),
              HasSubstr("d.toml:1:1: units: expected an int"));
  EXPECT_THAT(ErrorOf([] { FieldReader(Config(true), "layer Dense"); }), HasSubstr("found true"));
}

TEST(Nearest, FindsLikelyMisspellingsOnly) {
  const std::vector<std::string> names = {"Conv1D",        "Conv2D", "Dense", "batch_size",
                                          "learning_rate", "l1",     "l2"};
  EXPECT_EQ(Nearest("conv2d", names), "Conv2D");
  EXPECT_EQ(Nearest("Desne", names), "Dense");
  EXPECT_EQ(Nearest("batchsize", names), "batch_size");
  EXPECT_EQ(Nearest("batch-size", names), "batch_size");
  EXPECT_EQ(Nearest("lerning_rat", names), "learning_rate");
  EXPECT_EQ(Nearest("lr", names), "");
  EXPECT_EQ(Nearest("Attention", names), "");
  EXPECT_EQ(Nearest("", names), "");
  EXPECT_EQ(Nearest("x", {}), "");
  EXPECT_EQ(DidYouMean("Desne", names), ", did you mean \"Dense\"?");
  EXPECT_EQ(DidYouMean("qqq", names), "");
}

// The order of a table of fields is that of the fields; writing and reading it keeps it.
TEST(Config, TheOrderOfTablesOfTablesIsKept) {
  const Config tree = Config::ParseToml(
      "[data]\nsource = \"csv\"\n[data.columns]\nx = {from = [\"a\", \"b\"]}\nz = \"f32\"\n"
      "w = {dtype = \"i32\", bound = 3}\ny = \"f32\"\nlast = {dtype = \"u8\"}\n",
      "run.toml");
  const Config again = Config::ParseToml(tree.ToToml(), "again.toml");
  EXPECT_EQ(again, tree) << tree.ToToml();
  std::vector<std::string> names;
  for (const auto& [key, entry] : again.FindPath("data.columns")->entries()) names.push_back(key);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "z", "w", "y", "last"})) << tree.ToToml();
}

}  // namespace
}  // namespace flatout
