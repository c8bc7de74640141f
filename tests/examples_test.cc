// Every example, run as people run it, at a size that takes a second or two: each run file in
// examples/ through the flatout command, and the C++ program. A new run file needs a row in
// Cases().
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const fs::path kExamples = fs::path(FLATOUT_SOURCE_DIR) / "examples";

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder for the whole program, with a cache of compiled programs of its own.
class Scratch : public ::testing::Environment {
 public:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flatout-examples-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    path = name;
    setenv("FLATOUT_CACHE", (path / "cache").c_str(), 1);
    unsetenv("PJRT_NAMES_AND_LIBRARY_PATHS");
  }
  void TearDown() override { fs::remove_all(path); }
  static inline fs::path path;
};
[[maybe_unused]] const auto* const scratch =
    ::testing::AddGlobalTestEnvironment(new Scratch);  // NOLINT: gtest owns it

std::string Quote(const std::string& word) {
  return "'" + std::regex_replace(word, std::regex("'"), "'\\''") + "'";
}

struct Outcome {
  int exit_code;
  std::string out, err;
};

Outcome Execute(const std::vector<std::string>& words) {
  const fs::path out = Scratch::path / "out", err = Scratch::path / "err";
  std::string line = "cd " + Quote(Scratch::path) + " &&";
  for (const std::string& word : words) line += " " + Quote(word);
  line += " >" + Quote(out) + " 2>" + Quote(err);
  const int status = std::system(line.c_str());  // NOLINT: no untrusted words
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadFile(out), ReadFile(err)};
}

// What makes an example small, and what must then still be so.
struct Case {
  std::vector<std::string> assignments;
  // The test split's figure that must be reached: better than chance by far.
  std::string metric;
  double at_least = 0;
  bool learns = true;  // the training loss falls from epoch to epoch
  // Another example, whose data flatout data convert writes to files first; trained with these
  // assignments it gives the same result.
  std::string from = {};
  std::vector<std::string> from_assignments = {};
  std::vector<std::string> convert = {};
};

// By path below examples/.
const std::map<std::string, Case>& Cases() {
  static const std::map<std::string, Case> cases = {
      {"fashion_mnist/mlp.toml",
       {{"data.limit=2000", "train.epochs=3", "train.global_batch=50"}, "accuracy", 0.6}},
      {"fashion_mnist/cnn.toml",
       {{"data.limit=600", "train.epochs=3", "train.global_batch=30", "model.filters=[8,16]",
         "optimizer.learning_rate=0.002"},
        "accuracy",
        0.4}},
      // Few steps: that it runs, and gives finite numbers.
      {"fashion_mnist/resnet18.toml",
       {{"data.limit=64", "train.epochs=2", "train.global_batch=16", "model.width=4"},
        "accuracy",
        0,
        false}},
      {"dlrm/dlrm.toml",
       {{"data.records=40000", "data.validation_records=2000", "data.test_records=4000",
         "data.table_size=100", "model.table_size=100", "train.epochs=2", "train.global_batch=256"},
        "auc",
        0.7}},
      {"files/fashion_mnist_tfrecord.toml",
       {{"train.epochs=3", "train.global_batch=50"},
        "accuracy",
        0.6,
        true,
        "fashion_mnist/mlp.toml",
        {"data.limit=2000", "train.epochs=3", "train.global_batch=50"},
        {"--to", "data/fashion_mnist", "--shards", "3"}}},
      {"files/clicks_csv.toml",
       {{"data.columns.sparse.bound=100", "model.table_size=100", "train.epochs=2",
         "train.global_batch=256"},
        "auc",
        0.7,
        true,
        "dlrm/dlrm.toml",
        {"data.records=40000", "data.validation_records=2000", "data.test_records=4000",
         "data.table_size=100", "model.table_size=100", "train.epochs=2", "train.global_batch=256",
         "optimizer.learning_rate.decay_steps=489"},
        {"--to", "data/clicks", "--format", "csv", "--shards", "3"}}},
      {"text/transformer.toml",
       {{"data.limit=256", "train.epochs=3", "model.layers=1", "model.width=32", "model.heads=2"},
        "accuracy",
        0.1}},
  };
  return cases;
}

std::vector<std::string> RunFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(kExamples)) {
    if (entry.path().extension() == ".toml") {
      files.push_back(fs::relative(entry.path(), kExamples).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(Examples, EveryRunFileHasACase) {
  std::vector<std::string> names;
  for (const auto& [name, unused] : Cases()) names.push_back(name);
  EXPECT_EQ(RunFiles(), names);
}

// The comment at the top, without its marks.
std::string Header(const std::string& text, const std::string& mark) {
  std::string header;
  for (size_t begin = 0; text.compare(begin, mark.size(), mark) == 0;) {
    const size_t end = text.find('\n', begin);
    header += text.substr(begin + mark.size(), end - begin - mark.size());
    begin = end + 1;
  }
  return header;
}

TEST(Examples, HeadersSayWhatToExpect) {
  // "Expected: test accuracy of 0.88", "... perplexity 9".
  const std::regex expected("Expected: [^.]*(accuracy|AUC|perplexity)[^.]*[0-9]");
  for (const std::string& file : RunFiles()) {
    const std::string header = Header(ReadFile(kExamples / file), "#");
    EXPECT_TRUE(std::regex_search(header, expected)) << file << ": " << header;
  }
  const std::string header = Header(ReadFile(kExamples / "fashion_mnist.cc"), "//");
  EXPECT_TRUE(std::regex_search(header, expected)) << header;
}

std::vector<std::string> WithAssignments(std::vector<std::string> words,
                                         const std::vector<std::string>& assignments) {
  for (const std::string& assignment : assignments) {
    words.insert(words.end(), {"--set", assignment});
  }
  return words;
}

void Convert(const Case& example) {
  std::vector<std::string> words = {FLATOUT_BINARY, "data", "convert", kExamples / example.from};
  words.insert(words.end(), example.convert.begin(), example.convert.end());
  std::vector<std::string> data;
  for (const std::string& assignment : example.from_assignments) {
    if (assignment.starts_with("data.")) data.push_back(assignment);
  }
  words.emplace_back("--overwrite");
  const Outcome outcome = Execute(WithAssignments(words, data));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

// Every field of summary.json and metrics.jsonl stands in the documents as `field`.
void ExpectDocumented(const nlohmann::json& fields) {
  static const std::string document =
      ReadFile(fs::path(FLATOUT_SOURCE_DIR) / "docs/metrics_and_verdict.md");
  static const std::regex of_input("^(input_(share|records_per_second|bytes_per_second))_.*");
  static const std::regex of_cause("^seconds_[a-z]+$"), of_stage("^seconds_[a-z]+_.*");
  for (const auto& [name, value] : fields.items()) {
    std::string general = std::regex_replace(name, of_input, "$1_<stage>");
    general = std::regex_replace(general, of_stage, "seconds_<cause>_<stage>");
    general = std::regex_replace(general, of_cause, "seconds_<cause>");
    EXPECT_THAT(document, HasSubstr("`" + general + "`"));
  }
}

class RunFile : public ::testing::TestWithParam<std::string> {};

TEST_P(RunFile, TrainsAtSmallSize) {
  const Case& example = Cases().at(GetParam());
  const fs::path folder =
      Scratch::path / std::regex_replace(GetParam(), std::regex("[^a-z0-9]"), "_");
  if (!example.from.empty()) Convert(example);
  const Outcome outcome = Execute(WithAssignments(
      {FLATOUT_BINARY, "train", kExamples / GetParam(), "--run-dir", folder}, example.assignments));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Is the device running full?"));

  const auto summary = nlohmann::json::parse(ReadFile(folder / "summary.json"));
  EXPECT_EQ(summary["status"], "done");
  ExpectDocumented(summary);
  ExpectDocumented(summary["ledger"]);
  const auto& test = summary["metrics"]["test"];
  ASSERT_THAT(test, Not(IsEmpty()));
  for (const auto& [name, value] : test.items()) {
    ASSERT_TRUE(value.is_number()) << name << " is not finite";
  }
  ASSERT_TRUE(test.contains(example.metric)) << test;
  EXPECT_GE(test[example.metric].get<double>(), example.at_least);

  std::vector<double> losses;  // of each epoch
  std::ifstream lines(folder / "metrics.jsonl");
  for (std::string line; std::getline(lines, line);) {
    const auto entry = nlohmann::json::parse(line);
    if (entry["event"] == "log") {
      nlohmann::json fields = entry;
      for (const auto& [name, value] : test.items()) fields.erase(name);  // the run's metrics
      ExpectDocumented(fields);
    }
    if (entry["event"] == "epoch") losses.push_back(entry["loss"].get<double>());
  }
  ASSERT_GE(losses.size(), 2u);
  if (!example.learns) return;
  for (size_t i = 1; i < losses.size(); ++i)
    EXPECT_LT(losses[i], losses[i - 1]) << "epoch " << i + 1;
}

INSTANTIATE_TEST_SUITE_P(Examples, RunFile, ::testing::ValuesIn(RunFiles()), [](const auto& info) {
  return std::regex_replace(info.param, std::regex("[^a-z0-9]"), "_");
});

// The same records by way of files: every figure of the run is the same, to the last bit.
TEST(Examples, FilesGiveTheSameResult) {
  for (const auto& [name, example] : Cases()) {
    if (example.from.empty()) continue;
    SCOPED_TRACE(name);
    Convert(example);
    std::vector<nlohmann::json> metrics;
    for (const auto& [file, assignments] :
         {std::pair(name, example.assignments), {example.from, example.from_assignments}}) {
      const fs::path folder = Scratch::path / "same";
      const Outcome outcome = Execute(WithAssignments(
          {FLATOUT_BINARY, "train", kExamples / file, "--run-dir", folder, "--overwrite"},
          assignments));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
      metrics.push_back(nlohmann::json::parse(ReadFile(folder / "summary.json"))["metrics"]);
    }
    EXPECT_EQ(metrics[0], metrics[1]);
    EXPECT_EQ(metrics[0].size(), 3u);  // train, validation, test
  }
}

TEST(Examples, TheRecommenderSaysTheBestScore) {
  const Outcome outcome = Execute({FLATOUT_BINARY, "train", kExamples / "dlrm/dlrm.toml",
                                   "--run-dir", "best", "--set", "data.records=2000", "--set",
                                   "data.validation_records=0", "--set", "data.test_records=2000"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::regex best("the best that any model can reach on it: log loss 0\\.[0-9]+, AUC 0\\.8");
  EXPECT_TRUE(std::regex_search(outcome.out, best)) << outcome.out;
}

TEST(Examples, CppProgramTrains) {
  const Outcome outcome = Execute({EXAMPLE_FASHION_MNIST, "2", "1000"});  // epochs, records
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Conv2D"));
  EXPECT_THAT(outcome.out, HasSubstr("limit: "));
  const std::regex accuracy("test accuracy ([0-9.]+)");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(outcome.out, match, accuracy)) << outcome.out;
  EXPECT_GT(std::stod(match[1]), 0.5);
}

}  // namespace
