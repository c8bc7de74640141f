// flatout data as people run it: what its commands print, what they write and leave alone, and how
// they end.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/command.h"

namespace {

namespace fs = std::filesystem;
using flatout::testing::Outcome;
using flatout::testing::ReadAll;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::string FromHex(const std::string& digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// Each test has a folder of its own, with the cache in it.
class DataCommand : public ::testing::Test {
 protected:
  DataCommand() {
    std::string name = (fs::temp_directory_path() / "flatout-data-cli-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = name;
    setenv("FLATOUT_CACHE", (folder_ / "cache").c_str(), 1);
    setenv("FLATOUT_DEPS", FLATOUT_DEPS_FOLDER, 0);
    fs::create_directories(folder_ / "work");
  }
  ~DataCommand() override { fs::remove_all(folder_); }

  fs::path Path(const std::string& name) const { return folder_ / "work" / name; }
  std::string Write(const std::string& name, const std::string& content) const {
    fs::create_directories(Path(name).parent_path());
    std::ofstream(Path(name), std::ios::binary) << content;
    return name;
  }
  // flatout data ARGUMENTS in the folder work.
  Outcome Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "data");
    return RunFlatout(std::move(arguments));
  }
  Outcome RunFlatout(std::vector<std::string> arguments) const {
    return flatout::testing::RunFlatout(folder_ / "work", std::move(arguments));
  }
  // It must succeed.
  Outcome Good(const std::vector<std::string>& arguments) const {
    Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return outcome;
  }
  // It must fail with one line on standard error.
  std::string Error(int exit_code, const std::vector<std::string>& arguments) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("flatout: "));
    return outcome.err;
  }
  std::vector<std::string> Files(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(Path(folder))) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Rows "i,i / 2.0,word i" for i from `begin` on.
  static std::string Csv(int begin, int end) {
    std::string text = "id,half,word\n";
    for (int i = begin; i < end; ++i) text += fmt::format("{},{},word {}\n", i, i / 2.0, i);
    return text;
  }
  // A run file whose [data] reads numbers.csv (100 records) and more.csv (20).
  std::string RunFile(const std::string& keys = "") const {
    Write("numbers.csv", Csv(0, 100));
    Write("more.csv", Csv(100, 120));
    return Write(
        "run.toml",
        "[model]\nbuiltin = \"mlp\"\n[train]\nglobal_batch = 8\nseed = 3\n[data]\nsource = "
        "\"csv\"\nfiles = \"numbers.csv\"\ntest_files = \"more.csv\"\n" +
            keys);
  }
  // The values of the first records, by field, as inspect shows them.
  std::vector<std::map<std::string, std::string>> First(const std::string& what,
                                                        int records) const {
    const json whole =
        Good({"inspect", what, "--records", std::to_string(records), "--json"}).Json();
    std::vector<std::map<std::string, std::string>> rows;
    for (const json& row : whole["first"]) {
      rows.push_back(row.get<std::map<std::string, std::string>>());
    }
    return rows;
  }

  fs::path folder_;
};

// ---- the command line ---------------------------------------------------------------------------

TEST_F(DataCommand, HelpHasExamples) {
  EXPECT_THAT(Good({"--help"}).out, AllOf(HasSubstr("inspect"), HasSubstr("Examples:")));
  for (const char* command : {"inspect", "index", "verify", "convert", "write", "bench"}) {
    EXPECT_THAT(Good({command, "--help"}).out,
                AllOf(HasSubstr("Examples:\n  flatout data "), HasSubstr("--source"),
                      HasSubstr("--set"), HasSubstr("--json")))
        << command;
  }
  EXPECT_THAT(Good({"verify", "--help"}).out, HasSubstr("Exit codes: 0 all records are good, 3"));
}

TEST_F(DataCommand, WrongCommandLines) {
  EXPECT_THAT(Error(2, {}), HasSubstr("flatout data --help"));
  EXPECT_THAT(Error(2, {"inspct"}),
              AllOf(HasSubstr("no command \"inspct\""), HasSubstr("did you mean \"inspect\"?")));
  EXPECT_THAT(Error(2, {"inspect", "--recrds", "3"}),
              AllOf(HasSubstr("no option --recrds"), HasSubstr("\"--records\""),
                    HasSubstr("flatout data inspect --help")));
  EXPECT_THAT(Error(2, {"inspect"}), HasSubstr("say what to read"));
  RunFile();
  EXPECT_THAT(Error(2, {"inspect", "run.toml", "--source", "csv"}), HasSubstr("not both"));
  EXPECT_THAT(Error(2, {"inspect", "run.toml", "--split", "validation"}),
              HasSubstr("no validation split"));
  EXPECT_THAT(Error(2, {"inspect", "none.toml"}), HasSubstr("none.toml"));
  Write("empty.toml", "[model]\nbuiltin = \"mlp\"\n");
  EXPECT_THAT(Error(2, {"inspect", "empty.toml"}), HasSubstr("[data]"));
  EXPECT_THAT(Error(2, {"inspect", "run.toml", "--set", "data.fils=1"}),
              HasSubstr("did you mean \"files\"?"));
  EXPECT_THAT(Error(2, {"inspect", "--source", "cvs"}), HasSubstr("did you mean \"csv\"?"));
  EXPECT_THAT(Error(2, {"bench", "run.toml", "--seconds", "0"}), HasSubstr("--seconds"));
  for (const std::string number : {"0", "-1"}) {
    EXPECT_THAT(Error(2, {"bench", "run.toml", "--batch", number}),
                HasSubstr("--batch must be at least 1, found " + number));
    EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "x", "--shards", number}),
                HasSubstr("--shards takes 1 to "));
  }
  // Of what is told before anything is read.
  for (const std::string number : {"0", "-1", "-5"}) {
    const Outcome predict = RunFlatout({"predict", "none", "--limit", number});
    EXPECT_EQ(predict.exit_code, 2);
    EXPECT_THAT(predict.err, HasSubstr("--limit must be at least 1, found " + number));
  }
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "x", "--workers", "-1"}),
              HasSubstr("--workers must be at least 1, or 0"));
  EXPECT_FALSE(fs::exists(Path("x")));
}

// ---- inspect ------------------------------------------------------------------------------------

TEST_F(DataCommand, InspectShowsWhatThereIs) {
  RunFile();
  const std::string out = Good({"inspect", "run.toml", "--sample", "0"}).out;
  EXPECT_THAT(
      out, AllOf(HasSubstr("100 records"), HasSubstr("20 records"), HasSubstr("id i32[]"),
                 HasSubstr("half f32[]"), HasSubstr("word text[]"), HasSubstr("record 0 of train"),
                 HasSubstr("\"word 0\""), HasSubstr("values of all records of train"),
                 HasSubstr("0 to 99, mean 49.5"), HasSubstr("6 to 7 bytes")));
  const json whole = Good({"inspect", "run.toml", "--sample", "0", "--json"}).Json();
  EXPECT_EQ(whole["source"], "csv");
  EXPECT_EQ(whole["splits"]["train"]["records"], 100);
  EXPECT_EQ(whole["splits"]["test"]["records"], 20);
  EXPECT_EQ(whole["fields"][0]["name"], "id");
  EXPECT_EQ(whole["fields"][0]["type"], "i32");
  EXPECT_EQ(whole["fields"][2]["type"], "text");
  EXPECT_EQ(whole["first"][2]["half"], "1");
  EXPECT_EQ(whole["sample"]["records"], 100);
  EXPECT_EQ(whole["sample"]["fields"]["half"]["max"], 49.5);
  EXPECT_EQ(whole["sample"]["fields"]["id"]["counts"]["7"], 1);
  // A sample is spread over all records.
  const json ten = Good({"inspect", "run.toml", "--sample", "10", "--json"}).Json();
  EXPECT_EQ(ten["sample"]["fields"]["id"]["max"], 90);
  const json test = Good({"inspect", "run.toml", "--split", "test", "--json"}).Json();
  EXPECT_EQ(test["sample"]["fields"]["id"]["min"], 100);
}

TEST_F(DataCommand, InspectAfterTransforms) {
  RunFile(
      "filter = \"id < 10\"\n[[data.transforms]]\nop = \"cast\"\nfield = \"id\"\ndtype = "
      "\"f32\"\n");
  EXPECT_THAT(Good({"inspect", "run.toml"}).out,
              AllOf(HasSubstr("id i32[]"), HasSubstr("after the transforms of train\n  id f32[]")));
  const json after =
      Good({"inspect", "run.toml", "--transforms", "--split", "train", "--json"}).Json();
  EXPECT_EQ(after["splits"]["train"]["records"], 10);
  EXPECT_EQ(after["fields"][0]["type"], "f32");
}

TEST_F(DataCommand, FilesAreToldByContent) {
  Write("table.bin", Csv(0, 3));
  EXPECT_EQ(Good({"inspect", "table.bin", "--json"}).Json()["source"], "csv");
  const std::string images = std::string("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02", 16) + "abcd";
  Write("images", images);
  Write("labels", std::string("\0\0\x08\x01\0\0\0\x02\0\1", 10));
  EXPECT_EQ(Good({"inspect", "images", "labels", "--json"}).Json()["source"], "idx");
  Write("empty", "");
  EXPECT_THAT(Error(3, {"inspect", "empty"}), HasSubstr("empty: the file is empty"));
  Write("objects", "{\"a\": 1}\n{\"a\": 2}\n");
  EXPECT_EQ(Good({"inspect", "objects", "--json"}).Json()["source"], "jsonl");
  Write("prose", "call me\nIshmael\n");
  EXPECT_EQ(Good({"inspect", "prose", "--json"}).Json()["source"], "lines");
  Write("odd.csv", "\x89HDF and so on");
  EXPECT_THAT(Error(3, {"inspect", "odd.csv"}), HasSubstr("HDF5"));
  Write("noise", std::string("\1\2\3\4\5\6\7\0\1\2\3\4", 12));
  EXPECT_THAT(Error(3, {"inspect", "noise"}), HasSubstr("none of the known kinds"));
  EXPECT_THAT(Error(2, {"inspect", "table.bin", "images"}), HasSubstr("different kinds"));
  EXPECT_THAT(Error(3, {"inspect", "tabel.bin"}), HasSubstr("table.bin"));
}

// ---- index --------------------------------------------------------------------------------------

TEST_F(DataCommand, APipeIsRefused) {
  ASSERT_EQ(mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(Error(3, {"inspect", "pipe"}), AllOf(HasSubstr("pipe: expected a file, found a pipe"),
                                                   HasSubstr("to a file first")));
  EXPECT_THAT(Error(3, {"inspect", "--source", "csv", "--files", "pipe"}),
              HasSubstr("expected a file, found a pipe"));
}

TEST_F(DataCommand, IndexListsFilesAndKeepsTheirIndices) {
  RunFile();
  const json first = Good({"index", "run.toml", "--json"}).Json();
  ASSERT_EQ(first["files"].size(), 2u);
  EXPECT_EQ(first["files"][0]["path"], "more.csv");
  EXPECT_EQ(first["files"][0]["records"], 20);
  EXPECT_EQ(first["files"][1]["records"], 100);
  EXPECT_EQ(first["files"][1]["bytes"], fs::file_size(Path("numbers.csv")));
  EXPECT_THAT(Good({"index", "run.toml"}).out,
              AllOf(HasSubstr("numbers.csv  plain"), HasSubstr("train: 100 records"),
                    HasSubstr("2 files")));
  Good({"convert", "run.toml", "--to", "shards", "--gzip"});
  const fs::path indices = folder_ / "cache" / "index";
  fs::remove_all(indices);
  const json shards = Good({"index", "shards", "--json"}).Json();
  EXPECT_EQ(shards["files"][0]["packing"], "gzip");
  EXPECT_EQ(shards["splits"]["train"]["records"], 100);
  EXPECT_EQ(std::distance(fs::directory_iterator(indices), fs::directory_iterator()), 2);
}

// ---- verify -------------------------------------------------------------------------------------

TEST_F(DataCommand, VerifyGoodData) {
  RunFile();
  const Outcome outcome = Good({"verify", "run.toml"});
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("train: 100 records read, 0 bad"),
                                 HasSubstr("all good: 120 records")));
  const json json = Good({"verify", "run.toml", "--json"}).Json();
  EXPECT_EQ(json["records"], 120);
  EXPECT_EQ(json["bad"], 0);
  EXPECT_THAT(json["problems"], IsEmpty());
}

TEST_F(DataCommand, VerifyListsEveryBadRecord) {
  RunFile();
  std::string text = Csv(0, 1000);
  for (const int i : {7, 300, 301, 999}) {
    const std::string row = fmt::format("\n{},{},", i, i / 2.0);
    text.replace(text.find(row), row.size(), fmt::format("\n{},x,", i));
  }
  Write("numbers.csv", text);
  const auto before = fs::last_write_time(Path("numbers.csv"));
  const std::string keys = "data.columns={ id = \"i32\", half = \"f32\", word = \"text\" }";
  const Outcome outcome = Run({"verify", "run.toml", "--set", keys});
  EXPECT_EQ(outcome.exit_code, 3);
  for (const char* line :
       {"numbers.csv:9:", "numbers.csv:302:", "numbers.csv:303:", "numbers.csv:1001:"}) {
    EXPECT_THAT(outcome.out, HasSubstr(line));
  }
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("train: 1,000 records read, 4 bad"),
                                 HasSubstr("test: 20 records read, 0 bad"),
                                 HasSubstr("BAD DATA: 1,020 records")));
  const Outcome as_json = Run({"verify", "run.toml", "--set", keys, "--json"});
  EXPECT_EQ(as_json.exit_code, 3);
  const json json = as_json.Json();
  EXPECT_EQ(json["bad"], 4);
  EXPECT_EQ(json["splits"]["train"]["bad"], 4);
  ASSERT_EQ(json["problems"].size(), 4u);
  std::vector<int> lines;
  for (const auto& problem : json["problems"]) {
    EXPECT_EQ(problem["file"], "numbers.csv");
    EXPECT_EQ(problem["split"], "train");
    lines.push_back(problem["line"]);
  }
  EXPECT_THAT(lines, UnorderedElementsAre(9, 302, 303, 1001));
  const Outcome few = Run({"verify", "run.toml", "--set", keys, "--max-errors", "1"});
  EXPECT_THAT(few.out, AllOf(HasSubstr("... 3 more"), HasSubstr("4 bad")));
  EXPECT_EQ(ReadAll(Path("numbers.csv")), text);
  EXPECT_EQ(fs::last_write_time(Path("numbers.csv")), before);
}

TEST_F(DataCommand, VerifyGoesOnAfterAFileThatCannotBeOpened) {
  Write("a.tfrecord", "");
  RunFile();
  Good({"convert", "run.toml", "--to", "shards", "--shards", "3", "--split", "train"});
  // The middle one ends inside a record, the last is no TFRecord file at all.
  const std::string middle = ReadAll(Path("shards/train-00001-of-00003.tfrecord"));
  Write("shards/train-00001-of-00003.tfrecord", middle.substr(0, middle.size() - 3));
  Write("shards/train-00002-of-00003.tfrecord", std::string("\x1f\x8b\x08\0\0\0\0\0", 8));
  const Outcome outcome = Run({"verify", "shards", "--json"});
  EXPECT_EQ(outcome.exit_code, 3);
  const json json = outcome.Json();
  ASSERT_EQ(json["problems"].size(), 2u) << outcome.out;
  EXPECT_THAT(json["problems"].dump(), AllOf(HasSubstr("train-00001-of-00003.tfrecord"),
                                             HasSubstr("train-00002-of-00003.tfrecord")));
  EXPECT_EQ(json["records"], 33 + 33);
}

TEST_F(DataCommand, VerifyReadsThroughTransforms) {
  RunFile("[[data.transforms]]\nop = \"decode_image\"\nfield = \"word\"\n");
  const Outcome whole = Run({"verify", "run.toml", "--split", "test"});
  EXPECT_EQ(whole.exit_code, 3);
  EXPECT_THAT(whole.out, AllOf(HasSubstr("test: 20 records read, 20 bad"),
                               HasSubstr("bad (test): more.csv:12:1: record 10: ")));
  EXPECT_EQ(Run({"verify", "run.toml", "--split", "test", "--plain"}).exit_code, 0);
  // What a transform finds has its place in the file too.
  Good({"convert", "run.toml", "--to", "shards", "--shards", "2"});
  EXPECT_THAT(Run({"verify", "shards", "--split", "test"}).out,
              HasSubstr("shards/test-00001-of-00002.tfrecord: record 9 at byte "));
}

TEST_F(DataCommand, VerifyNotesWhatIsNotFinite) {
  Write("nan.csv", "x,y\n1.5,1\n,2\n3,3\n");
  EXPECT_THAT(Good({"verify", "nan.csv", "--set", "data.missing=nan"}).out,
              HasSubstr("1 of them have a NaN or an infinity in \"x\""));
}

// ---- convert ------------------------------------------------------------------------------------

TEST_F(DataCommand, ConvertKeepsRecordsAndOrder) {
  RunFile();
  const Outcome outcome = Good({"convert", "run.toml", "--to", "shards", "--shards", "3"});
  EXPECT_THAT(outcome.out, HasSubstr("120 records in 6 files"));
  EXPECT_THAT(
      Files("shards"),
      ElementsAre("data.toml", "test-00000-of-00003.tfrecord", "test-00001-of-00003.tfrecord",
                  "test-00002-of-00003.tfrecord", "train-00000-of-00003.tfrecord",
                  "train-00001-of-00003.tfrecord", "train-00002-of-00003.tfrecord"));
  EXPECT_THAT(Files("."), Not(::testing::Contains(HasSubstr("part"))));
  const auto rows = First("shards", 100);
  ASSERT_EQ(rows.size(), 100u);
  EXPECT_EQ(rows, First("run.toml", 100));
  const json json = Good({"inspect", "shards", "--json"}).Json();
  EXPECT_EQ(json["splits"]["test"]["records"], 20);
  EXPECT_EQ(json["fields"].size(), 3u);
  EXPECT_THAT(Good({"verify", "shards"}).out, HasSubstr("all good: 120 records"));
}

TEST_F(DataCommand, ConvertKeepsTheOrderOfFields) {
  // Of the declared features some need a table and some a word; odd names need quotes.
  Write("mixed.csv", "a b,x0,x1,label\nhi,1,2,1\nho,3,4,0\n");
  Write("run.toml",
        "[data]\nsource = \"csv\"\nfiles = \"mixed.csv\"\n[data.columns]\n"
        "x = { from = [\"x0\", \"x1\"] }\n\"a b\" = \"text\"\n"
        "c = { from = \"label\", bound = 2 }\nlabel = \"i32\"\n");
  const auto names = [&](const std::string& what) {
    const json whole = Good({"inspect", what, "--json"}).Json();
    std::vector<std::string> found;
    for (const json& field : whole["fields"]) found.push_back(field["name"]);
    return found;
  };
  ASSERT_THAT(names("run.toml"), ElementsAre("x", "a b", "c", "label"));
  for (const char* format : {"tfrecord", "csv"}) {
    Good({"convert", "run.toml", "--to", format, "--format", format});
    EXPECT_THAT(names(format), ElementsAre("x", "a b", "c", "label")) << format;
  }
}

TEST_F(DataCommand, ConvertPacksAndSizesShards) {
  RunFile();
  Good({"convert", "run.toml", "--to", "packed", "--gzip", "--shard-size", "2KiB", "--workers",
        "3"});
  const std::vector<std::string> files = Files("packed");
  EXPECT_GT(files.size(), 4u);
  EXPECT_THAT(ReadAll(Path("packed/" + files[1])), StartsWith("\x1f\x8b"));
  ASSERT_EQ(First("packed", 100).size(), 100u);
  EXPECT_EQ(First("packed", 100), First("run.toml", 100));
  // Back to one plain file.
  const json json = Good({"convert", "packed", "--to", "out/all-*.tfrecord", "--split", "train",
                          "--shards", "1", "--json"})
                        .Json();
  EXPECT_EQ(json["records"], 100);
  EXPECT_THAT(Files("out"), ElementsAre("all-00000-of-00001.tfrecord", "data.toml"));
  EXPECT_EQ(First("out", 100), First("run.toml", 100));
}

TEST_F(DataCommand, ConvertReplacesOnlyWhatItWrote) {
  RunFile();
  Write("mine/letter.txt", "dear");
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "mine"}), HasSubstr("exists already"));
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "mine", "--overwrite"}),
              HasSubstr("left alone"));
  EXPECT_EQ(ReadAll(Path("mine/letter.txt")), "dear");
  Good({"convert", "run.toml", "--to", "shards", "--shards", "5"});
  Error(2, {"convert", "run.toml", "--to", "shards"});
  EXPECT_EQ(Files("shards").size(), 11u);
  Good({"convert", "run.toml", "--to", "shards", "--overwrite", "--shards", "1"});
  EXPECT_EQ(Files("shards").size(), 3u);
  Write("shards/letter.txt", "dear");
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "shards", "--overwrite"}),
              HasSubstr("left alone"));
  fs::remove(Path("shards/letter.txt"));
  // Never what it reads.
  EXPECT_THAT(Error(2, {"convert", "shards", "--to", "shards", "--overwrite"}),
              HasSubstr("holds what is to be read"));
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "."}), HasSubstr("a folder of its own"));
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "x/a-*-*.tfrecord"}), HasSubstr("one *"));
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "x/a-*.tfrecord"}),
              HasSubstr("2 splits, which cannot share one pattern"));
  EXPECT_THAT(Error(2, {"convert", "run.toml"}), HasSubstr("--to"));
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "x", "--shard-size", "big"}),
              HasSubstr("--shard-size big"));
  EXPECT_FALSE(fs::exists(Path("x")));
}

TEST_F(DataCommand, ConvertLeavesNothingWhenItFails) {
  RunFile();
  std::string text = Csv(0, 100);
  text.replace(text.find("\n50,25,"), 7, "\n50,x,");
  Write("numbers.csv", text);
  const std::string keys = "data.columns={ id = \"i32\", half = \"f32\", word = \"text\" }";
  EXPECT_THAT(Error(3, {"convert", "run.toml", "--to", "shards", "--set", keys}),
              HasSubstr("numbers.csv:52:"));
  EXPECT_THAT(Files("."), UnorderedElementsAre("more.csv", "numbers.csv", "run.toml"));
  const Outcome outcome = Good(
      {"convert", "run.toml", "--to", "shards", "--set", keys, "--set", "data.max_bad_records=1"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("119 records"), HasSubstr("1 bad records were left out")));
  EXPECT_THAT(outcome.out, HasSubstr("99 records in 1 file shards/train-*"));
  EXPECT_EQ(Good({"inspect", "shards", "--json"}).Json()["splits"]["train"]["records"], 99);
}

TEST_F(DataCommand, ConvertFiltersAndLeavesTransforms) {
  RunFile(
      "filter = \"id < 10\"\n[[data.transforms]]\nop = \"cast\"\nfield = \"id\"\ndtype = "
      "\"f32\"\n");
  Good({"convert", "run.toml", "--to", "shards", "--split", "train"});
  EXPECT_THAT(ReadAll(Path("shards/data.toml")),
              AllOf(StartsWith("# Written by flatout data convert from run.toml"),
                    HasSubstr("op = \"cast\""), Not(HasSubstr("filter"))));
  EXPECT_EQ(Good({"inspect", "shards", "--json"}).Json()["splits"]["train"]["records"], 10);
  // Both read the same in the end.
  const auto end = [&](const std::string& what) {
    return Good({"inspect", what, "--transforms", "--split", "train", "--records", "10", "--json"})
        .Json();
  };
  EXPECT_EQ(end("run.toml")["first"], end("shards")["first"]);
  EXPECT_EQ(end("run.toml")["fields"], end("shards")["fields"]);
}

TEST_F(DataCommand, ConvertWritesCsv) {
  RunFile();
  Good({"convert", "run.toml", "--to", "tables", "--format", "csv", "--shards", "2"});
  EXPECT_THAT(Files("tables"),
              ElementsAre("data.toml", "test-00000-of-00002.csv", "test-00001-of-00002.csv",
                          "train-00000-of-00002.csv", "train-00001-of-00002.csv"));
  EXPECT_THAT(ReadAll(Path("tables/train-00001-of-00002.csv")),
              StartsWith("id,half,word\n50,25,word 50\n"));
  ASSERT_EQ(First("tables", 100).size(), 100u);
  EXPECT_EQ(First("tables", 100), First("run.toml", 100));
}

TEST_F(DataCommand, ConvertRefusesWhatCsvCannotGiveBack) {
  Write("table.csv", "x,y\n1,2\n,3\n5,6\n");
  Write("run.toml",
        "[data]\nsource = \"csv\"\nfiles = \"table.csv\"\n"
        "[data.columns]\nx = { dtype = \"f32\", missing = nan }\ny = \"f32\"\n");
  EXPECT_THAT(Error(2, {"convert", "run.toml", "--to", "tables", "--format", "csv"}),
              AllOf(HasSubstr("record 1"), HasSubstr("holds nan"), HasSubstr("TFRecord")));
  EXPECT_FALSE(fs::exists(Path("tables")));
  Good({"convert", "run.toml", "--to", "shards"});
  EXPECT_EQ(First("shards", 3), First("run.toml", 3));
}

TEST_F(DataCommand, WriteAppliesTransformsUpToChance) {
  RunFile(
      "[[data.transforms]]\nop = \"cast\"\nfield = \"id\"\ndtype = \"f32\"\n"
      "[[data.transforms]]\nop = \"drop\"\nfields = [\"word\"]\n");
  const Outcome outcome = Good({"write", "run.toml", "--to", "ready"});
  EXPECT_THAT(outcome.out, HasSubstr("applied: cast, drop"));
  EXPECT_THAT(ReadAll(Path("ready/data.toml")), Not(HasSubstr("transforms")));
  const json json = Good({"inspect", "ready", "--json"}).Json();
  ASSERT_EQ(json["fields"].size(), 2u);
  EXPECT_EQ(json["fields"][0]["type"], "f32");
  EXPECT_EQ(Good({"convert", "run.toml", "--to", "same", "--apply-transforms", "--json"})
                .Json()["applied"],
            nlohmann::json({"cast", "drop"}));
}

TEST_F(DataCommand, WriteLeavesWhatWouldNotReadTheSame) {
  // A PNG file of one white pixel.
  const std::string png = FromHex(
      "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c494441"
      "54789c63f8ffff3f0005fe02fe0def46b80000000049454e44ae426082");
  Write("photos/a/1.png", png);
  Write("photos/b/2.png", png);
  const std::string keys =
      "[data]\nsource = \"image_folder\"\npath = \"photos\"\n"
      "[[data.transforms]]\nop = \"decode_image\"\nfield = \"image\"\n";
  Write("sizes.toml", keys);
  EXPECT_THAT(Good({"write", "sizes.toml", "--to", "sizes"}).out,
              AllOf(HasSubstr("left for the run: 1 of 1"), HasSubstr("image u8[?,?,3]")));
  Write("one.toml", keys +
                        "[[data.transforms]]\nop = \"resize\"\nfield = \"image\"\n"
                        "size = [4, 6]\n[[data.transforms]]\nop = \"random_flip\"\n"
                        "field = \"image\"\n");
  EXPECT_THAT(Good({"write", "one.toml", "--to", "one"}).out,
              AllOf(HasSubstr("applied: decode_image, resize"), HasSubstr("1 of 3 transforms\n")));
  const json written = Good({"inspect", "one", "--json"}).Json();
  EXPECT_EQ(written["fields"][0]["shape"], json({4, 6, 3}));
  EXPECT_EQ(written["sample"]["fields"]["image"]["min"], 255);
  EXPECT_THAT(ReadAll(Path("one/data.toml")), HasSubstr("random_flip"));
  Good({"verify", "one"});
  Good({"verify", "sizes"});
}

// ---- bench --------------------------------------------------------------------------------------

TEST_F(DataCommand, BenchSaysWhereTheTimeGoes) {
  RunFile();
  const json json =
      Good({"bench", "run.toml", "--seconds", "0.2", "--step-ms", "1", "--json"}).Json();
  EXPECT_EQ(json["batch"], 8);
  for (const char* part : {"alone", "device"}) {
    SCOPED_TRACE(part);
    EXPECT_GT(json[part]["records"], 0);
    EXPECT_GT(json[part]["records_per_second"], 0);
    EXPECT_GE(json[part]["workers"], 1);
    EXPECT_GE(json[part]["prefetch"], 1);
    EXPECT_THAT(json[part]["stages"], Not(IsEmpty()));
  }
  EXPECT_GT(json["device"]["busy"], 0);
  EXPECT_LE(json["device"]["busy"], 1.0 + 1e-9);
  const std::string out = Good({"bench", "run.toml", "--seconds", "0.1", "--step-ms", "0", "--set",
                                "data.workers=2", "--set", "data.prefetch=3"})
                              .out;
  EXPECT_THAT(out, AllOf(HasSubstr("alone: "), HasSubstr("2 threads, up to 3 launches ahead"),
                         HasSubstr("stage"), Not(HasSubstr("with a device"))));
}

// ---- flatout train --save-tuned -----------------------------------------------------------------

TEST_F(DataCommand, TrainSavesWhatWasTuned) {
  std::string images("\0\0\x08\x03\0\0\0\x0c\0\0\0\x02\0\0\0\x02", 16);
  std::string labels("\0\0\x08\x01\0\0\0\x0c", 8);
  for (int i = 0; i < 12; ++i) {
    for (int p = 0; p < 4; ++p) images += static_cast<char>(i % 3 == p ? 200 : 10 * p);
    labels += static_cast<char>(i % 3);
  }
  Write("images", images);
  Write("labels", labels);
  Write("run.toml",
        "# my run\n[[model.layers]]\nclass = \"Flatten\"\n[[model.layers]]\nclass = "
        "\"Rescaling\"\nscale = 0.01\n[[model.layers]]\nclass = \"Dense\"\nunits = 3\n"
        "[data]  # from disk\nsource = \"idx\"\ntrain_images = \"images\"\n"
        "train_labels = \"labels\"\nworkers = \"auto\"  # let it choose\n"
        "[train]\nglobal_batch = 4\n");
  const Outcome first = RunFlatout({"train", "run.toml", "--run-dir", "runs/a", "--save-tuned"});
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, ::testing::ContainsRegex(
                             "saved in run.toml: data.workers = [0-9]+ data.prefetch = [0-9]+"));
  const std::string saved = ReadAll(Path("run.toml"));
  EXPECT_THAT(saved, AllOf(StartsWith("# my run\n"), HasSubstr("[data]  # from disk\nprefetch = "),
                           ::testing::ContainsRegex("workers = [0-9]+  # let it choose")));
  const Outcome second = RunFlatout({"train", "run.toml", "--run-dir", "runs/b", "--save-tuned"});
  ASSERT_EQ(second.exit_code, 0) << second.out << second.err;
  EXPECT_THAT(second.out, HasSubstr("nothing to save"));
  EXPECT_EQ(ReadAll(Path("run.toml")), saved);
}

}  // namespace
