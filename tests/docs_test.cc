// The documentation against the program: keys and defaults of run files, layers, commands and their
// options, links, paths, make targets, environment variables, and the run files shown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/cli/cli.h"
#include "flatout/data/dataset.h"
#include "flatout/data/pipeline.h"
#include "flatout/data/source.h"
#include "flatout/data/sources/clicks.h"
#include "flatout/data/sources/idx.h"
#include "flatout/data/sources/text.h"
#include "flatout/data/transform.h"
#include "flatout/nn/layers.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/metric.h"
#include "flatout/nn/model.h"
#include "flatout/optim/optimizer.h"
#include "flatout/optim/schedule.h"
#include "flatout/train/run_config.h"
#include "flatout/watch/tensorboard/options.h"

namespace flatout {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAreArray;
using Names = std::vector<std::string>;

const fs::path kRoot = FLATOUT_SOURCE_DIR;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> Documents() {
  std::vector<fs::path> paths = {kRoot / "README.md", kRoot / "CONTRIBUTING.md",
                                 kRoot / "deps/README.md", kRoot / "bench/README.md",
                                 kRoot / "tests/recorded/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "docs")) {
    if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  return paths;
}

Names Lines(const std::string& text) {
  Names lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string Trim(const std::string& text) {
  const size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? ""
                                    : text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// What stands between backticks on one line.
Names Codes(const std::string& text) {
  Names codes;
  const std::regex code("`([^`\n]+)`");
  for (std::sregex_iterator it(text.begin(), text.end(), code), end; it != end; ++it) {
    codes.push_back((*it)[1]);
  }
  return codes;
}

// --- tables --------------------------------------------------------------------------------------

using Row = Names;  // cells
using Tables = std::vector<std::vector<Row>>;

// The tables below each heading of a document ("train" for "## [train]"), without their heads.
std::map<std::string, Tables> ReadTables(const fs::path& path) {
  std::map<std::string, Tables> sections;
  std::string section;
  bool in_table = false;
  for (const std::string& line : Lines(ReadFile(path))) {
    if (line.starts_with("#")) {
      section = std::regex_replace(line, std::regex("[#\\[\\]]| "), "");
    }
    if (!line.starts_with("|")) {
      in_table = false;
      continue;
    }
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');) row.push_back(Trim(cell));
    if (!in_table) {
      sections[section].emplace_back();  // the head
      in_table = true;
    } else if (!row[0].starts_with("---")) {
      sections[section].back().push_back(row);
    }
  }
  return sections;
}

const std::map<std::string, Tables>& RunFileTables() {
  static const auto tables = ReadTables(kRoot / "docs/run_file.md");
  return tables;
}

const std::vector<Row>& Table(const std::string& section, size_t index = 0) {
  const auto found = RunFileTables().find(section);
  if (found == RunFileTables().end() || found->second.size() <= index) {
    throw std::runtime_error("docs/run_file.md has no table under " + section);
  }
  return found->second[index];
}

Names Keys(const std::vector<Row>& table) {
  Names keys;
  for (const Row& row : table) {
    for (const std::string& key : Codes(row[0])) keys.push_back(key);
  }
  return keys;
}

// --- keys and defaults ---------------------------------------------------------------------------

// A number as people write it, so that 0.0001 equals 1e-4.
std::string Number(double value) { return fmt::format("{:g}", value); }
std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int64_t value) { return std::to_string(value); }
std::string Text(double value) { return Number(value); }
std::string Text(const std::string& value) { return '"' + value + '"'; }
std::string Text(const Config& value) {
  if (value.is_none()) return "none";
  if (value.is_string()) return Text(value.AsString());
  if (value.is_number()) return Number(value.AsDouble());
  if (value.kind() == Config::Kind::kBool) return Text(value.AsBool());
  std::string text;
  for (const auto& [key, entry] : value.entries()) {
    const std::string one = key == "class" ? Text(entry.AsString()) : Text(entry);
    text += (text.empty() ? "{" : ", ") + key + " = " + one;
  }
  return text + "}";
}
template <typename T>
std::string Text(const std::optional<T>& value) {
  if constexpr (requires { Text(*value); }) {
    if (value) return Text(*value);
  }
  return "none";
}
template <typename T>
std::string Text(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += (text.empty() ? "" : ", ") + Text(value);
  return "[" + text + "]";
}

class DefaultLister {
 public:
  template <typename T>
  void operator()(std::string_view name, T& field) {
    defaults.emplace_back(name, Text(field));
  }
  std::vector<std::pair<std::string, std::string>> defaults;
};

// Defaults that the document tells in words.
const std::set<std::string> kInWords = {"learning_rate", "weight_decay", "image_shape"};

template <typename Options>
void ExpectDocumented(const std::string& section, size_t index = 0) {
  SCOPED_TRACE(section);
  Options options;
  DefaultLister lister;
  options.Visit(lister);
  const std::vector<Row>& table = Table(section, index);
  Names keys;
  for (const auto& [key, value] : lister.defaults) keys.push_back(key);
  ASSERT_THAT(Keys(table), UnorderedElementsAreArray(keys));
  for (const Row& row : table) {
    ASSERT_EQ(row.size(), 4u) << row[0];
    const std::string key = Codes(row[0]).at(0);
    if (kInWords.contains(key)) continue;
    const auto found = std::find_if(lister.defaults.begin(), lister.defaults.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    std::string shown = row[2] == "*none*" ? "none" : Codes(row[2]).at(0);
    EXPECT_EQ(shown, found->second) << key;
    EXPECT_NE(row[1], "") << key << " has no type";
  }
}

TEST(RunFileDocument, KeysAndDefaults) {
  ExpectDocumented<train::TrainOptions>("train");
  ExpectDocumented<train::EarlyStopping>("early_stopping");
  ExpectDocumented<train::ReduceLrOnPlateau>("reduce_lr_on_plateau");
  ExpectDocumented<train::CheckpointOptions>("checkpoint");
  ExpectDocumented<train::WatchOptions>("watch");
  ExpectDocumented<watch::tensorboard::Options>("tensorboard");
  ExpectDocumented<web::HttpOptions>("http");
  ExpectDocumented<web::PushOptions>("push_gateway");
  ExpectDocumented<watch::CostOptions>("cost");
  ExpectDocumented<data::PipelineOptions>("data", 1);
  ExpectDocumented<data::IdxOptions>("idx");
  ExpectDocumented<data::TextOptions>("text");
  ExpectDocumented<data::ClicksOptions>("clicks");
  ExpectDocumented<optim::CommonOptions>("optimizer", 1);
}

// A value of the right kind for a key that is needed.
Config Needed(const std::string& key) {
  const auto text = [](const char* value) { return Config(std::string(value)); };
  const std::map<std::string, Config> values = {
      {"field", text("x")},
      {"fields", Config::Array({text("x")})},
      {"output", text("y")},
      {"dtype", text("f32")},
      {"pattern", text("x")},
      {"path", text("x")},
      {"vocabulary", Config::Array({text("a"), text("b")})},
      {"shape", Config::Array({Config(int64_t{1})})},
      {"size", Config::Array({Config(int64_t{2}), Config(int64_t{2})})},
      {"boundaries", Config::Array({Config(1.0)})},
      {"length", Config(int64_t{4})},
      {"max_delta", Config(0.1)},
      {"num_bins", Config(int64_t{4})},
      {"widths", Config(int64_t{2})},
  };
  const auto found = values.find(key);
  return found == values.end() ? Config(1.0) : found->second;
}

// The keys that `read` knows, told by its complaint about one that it does not. Missing ones that
// it needs are given.
Names KnownKeys(Config table, const std::function<void(const Config&)>& read) {
  const std::string none = "no_such_key_at_all";
  table.Set(none, Config(int64_t{1}));
  for (int i = 0; i < 20; ++i) {
    std::string message;
    try {
      read(table);
    } catch (const Error& error) {
      message = error.what();
    }
    std::smatch match;
    if (std::regex_search(message, match, std::regex("needs the key \"([a-z_0-9]+)\""))) {
      table.Set(match[1], Needed(match[1]));
      continue;
    }
    const std::string mark = "; known keys: ";
    const size_t begin = message.find(mark);
    EXPECT_NE(begin, std::string::npos) << message;
    if (begin == std::string::npos) break;
    std::set<std::string> keys;  // checks may ask twice for a key
    std::istringstream words(message.substr(begin + mark.size()));
    for (std::string word; words >> word;) {
      if (word.ends_with(',')) word.pop_back();
      keys.insert(word);
    }
    keys.erase("class");
    keys.erase("none");
    return {keys.begin(), keys.end()};
  }
  return {};
}

Config Class(const std::string& name) { return Config::Table({{"class", Config(name)}}); }

Names Without(Names names, const Names& others) {
  std::erase_if(names, [&](const std::string& name) {
    return std::find(others.begin(), others.end(), name) != others.end();
  });
  return names;
}

TEST(RunFileDocument, TopLevelTables) {
  Names tables;
  for (const std::string& line : Lines(ReadFile(kRoot / "docs/run_file.md"))) {
    if (line.starts_with("## [")) tables.push_back(line.substr(4, line.size() - 5));
  }
  EXPECT_THAT(tables, UnorderedElementsAreArray(KnownKeys(
                          Config::Table(), [](const Config& c) { train::ReadRunConfig(c, "x"); })));
}

TEST(RunFileDocument, BuiltinModels) {
  for (const nn::BuiltinModel& model : nn::BuiltinModels()) {
    const std::string name(model.name);
    const Names known =
        KnownKeys(Config::Table({{"builtin", Config(name)}}),
                  [](const Config& table) { nn::Model::FromConfig(table, {}, {}); });
    EXPECT_THAT(Keys(Table(name)), UnorderedElementsAreArray(known)) << name;
  }
  EXPECT_THAT(Without(Keys(Table("model")), {"builtin"}),
              UnorderedElementsAreArray(
                  KnownKeys(Config::Table({{"layers", Config::Array({Class("Flatten")})}}),
                            [](const Config& table) { nn::Model::FromConfig(table, {}, {}); })));
}

// The documents of the data: docs/data.md, docs/data/ and docs/run_file.md in one.
const std::string& DataDocuments() {
  static const std::string text = [] {
    std::string all = ReadFile(kRoot / "docs/data.md") + ReadFile(kRoot / "docs/run_file.md");
    for (const auto& entry : fs::directory_iterator(kRoot / "docs/data")) {
      all += ReadFile(entry.path());
    }
    return all;
  }();
  return text;
}

// The keys of the source itself, read without opening anything.
Names SourceKeys(const std::string& kind) {
  Config table = Config::Table();
  if (kind == "idx") table.Set("train_images", Config(std::string("images")));
  return KnownKeys(table, [&](const Config& c) {
    FieldReader reader(c, kind);
    try {
      data::FindSource(kind)(reader);
    } catch (const Error& error) {
      // That no files are named, say: the keys have been read.
      if (std::string(error.what()).find("needs the key") != std::string::npos) throw;
    }
    reader.Finish();
  });
}

TEST(RunFileDocument, Sources) {
  const Names in_run_file = {"fashion_mnist", "idx", "text", "clicks"};
  for (const std::string& kind : data::SourceKinds()) {
    SCOPED_TRACE(kind);
    const Names keys = SourceKeys(kind);
    EXPECT_THAT(keys, Not(IsEmpty()));
    if (std::find(in_run_file.begin(), in_run_file.end(), kind) != in_run_file.end()) {
      EXPECT_THAT(Keys(Table(kind)), UnorderedElementsAreArray(keys));
    }
    EXPECT_THAT(Table("data")[0][3], HasSubstr("`\"" + kind + "\"`"));
    EXPECT_THAT(DataDocuments(), HasSubstr("`" + kind + "`"));
    for (const std::string& key : keys) EXPECT_THAT(DataDocuments(), HasSubstr("`" + key + "`"));
  }
}

TEST(RunFileDocument, Transforms) {
  for (const std::string& kind : data::TransformKinds()) {
    SCOPED_TRACE(kind);
    EXPECT_THAT(DataDocuments(), HasSubstr("`" + kind + "`"));
    Config table = Config::Table({{"op", Config(kind)}});
    if (kind == "rename") {
      table.Set("fields", Config::Table({{"x", Config(std::string("y"))}}));
    }
    if (kind == "normalize") table.Set("std", Config(1.0));  // or variance
    if (kind == "cross") {
      table.Set("fields", Config::Array({Config(std::string("x")), Config(std::string("y"))}));
    }
    const Names keys = KnownKeys(table, [](const Config& c) { data::MakeTransform(c); });
    for (const std::string& key : keys) EXPECT_THAT(DataDocuments(), HasSubstr("`" + key + "`"));
  }
}

TEST(RunFileDocument, Optimizers) {
  const std::vector<Row>& table = Table("optimizer", 2);
  EXPECT_THAT(Keys(table), UnorderedElementsAreArray(optim::OptimizerNames()));
  for (const Row& row : table) {
    const Names known = KnownKeys(Class(Codes(row[0]).at(0)),
                                  [](const Config& c) { optim::OptimizerFromConfig(c); });
    EXPECT_THAT(Keys({{std::regex_replace(row[1], std::regex(" = [^`]*"), "")}}),
                UnorderedElementsAreArray(Without(known, Keys(Table("optimizer", 1)))))
        << row[0];
  }
}

TEST(RunFileDocument, Schedules) {
  const std::vector<Row>& table = Table("Schedules");
  EXPECT_THAT(Keys(table), UnorderedElementsAreArray(optim::ScheduleNames()));
  for (const Row& row : table) {
    const Names known = KnownKeys(Class(Codes(row[0]).at(0)),
                                  [](const Config& c) { optim::ScheduleFromConfig(c); });
    EXPECT_THAT(Keys({{std::regex_replace(row[1], std::regex(" = [^`]*"), "")}}),
                UnorderedElementsAreArray(known))
        << row[0];
  }
}

void ExpectArguments(const std::vector<Row>& table, size_t classes,
                     const std::function<void(const Config&)>& read) {
  size_t found = 0;
  for (const Row& row : table) {
    for (const std::string& name : Codes(row[0])) {
      ++found;
      const Names known = KnownKeys(Class(name), read);
      if (row[1].starts_with("as the loss")) continue;
      EXPECT_THAT(Keys({{std::regex_replace(row[1], std::regex(" = [^`]*"), "")}}),
                  UnorderedElementsAreArray(known))
          << name;
    }
  }
  EXPECT_EQ(found, classes);
}

TEST(RunFileDocument, LossesAndMetrics) {
  ExpectArguments(Table("train", 1), nn::LossNames().size(),
                  [](const Config& c) { nn::LossFromConfig(c); });
  ExpectArguments(Table("train", 2), nn::MetricNames().size(), [](const Config& c) {
    nn::MetricFromConfig(c, std::string("sparse_categorical_crossentropy"));
  });
}

TEST(LayersDocument, ListsTheTable) {
  Names documented, known;
  for (const auto& [section, tables] : ReadTables(kRoot / "docs/layers.md")) {
    for (const Row& row : tables.at(0)) documented.push_back(row[0] + ": " + row[1]);
  }
  const nn::LayerDef* identity = nn::FindLayer("Identity");
  const Names common = identity->arguments();
  for (const nn::LayerDef& layer : nn::LayerTable()) {
    // Needed arguments: those that a table without them lacks.
    std::set<std::string> needed;
    Config table = Config::Table();
    for (int i = 0; i < 10; ++i) {
      std::string message;
      try {
        layer.make(table);
      } catch (const Error& error) {
        message = error.what();
      }
      std::smatch match;
      const std::regex missing("needs the key \"([a-z_]+)\"");
      if (!std::regex_search(message, match, missing)) break;
      needed.insert(match[1]);
      if (match[1] == "layer") {
        table.Set("layer", Class("Flatten"));
      } else if (match[1] == "activation") {
        table.Set("activation", Config(std::string("relu")));
      } else {
        table.Set(match[1], Config(int64_t{1}));
      }
    }
    std::string line;
    for (const std::string& name : Without(layer.arguments(), common)) {
      const std::string code = "`" + name + "`";
      line += (line.empty() ? "" : ", ") + (needed.contains(name) ? "**" + code + "**" : code);
    }
    known.push_back("`" + std::string(layer.type) + "`: " + line);
  }
  EXPECT_THAT(documented, UnorderedElementsAreArray(known));
}

// --- links, paths, commands ----------------------------------------------------------------------

TEST(Documents, LinksResolve) {
  const std::regex link("\\]\\(([^)#]+)(#[^)]*)?\\)");
  for (const fs::path& document : Documents()) {
    const std::string text = ReadFile(document);
    ASSERT_NE(text, "") << document;
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
      const std::string target = (*it)[1];
      if (target.find("://") != std::string::npos) continue;
      EXPECT_TRUE(fs::exists(document.parent_path() / target)) << document << ": " << target;
    }
  }
}

TEST(Documents, PathsExist) {
  const std::regex path("(flatout|tests|examples|bench|deps|docs|cmake)/[A-Za-z0-9_./-]*");
  for (const fs::path& document : Documents()) {
    for (const std::string& code : Codes(ReadFile(document))) {
      if (!std::regex_match(code, path) || code.find("NAME") != std::string::npos) continue;
      EXPECT_TRUE(fs::exists(kRoot / code)) << document << ": " << code;
    }
  }
}

// Lines of code blocks (fenced or indented), and what stands between backticks in one line.
Names CodeLines(const std::string& text) {
  Names codes;
  bool fenced = false;
  for (const std::string& line : Lines(text)) {
    if (line.starts_with("```")) {
      fenced = !fenced;
    } else if (fenced || line.starts_with("    ")) {
      codes.push_back(Trim(line));
    } else {
      for (const std::string& code : Codes(line)) codes.push_back(code);
    }
  }
  return codes;
}

std::string Help(const std::string& command) {
  Names words = {"flatout"};
  std::istringstream stream(command);
  for (std::string word; stream >> word;) words.push_back(word);
  words.emplace_back("--help");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  ::testing::internal::CaptureStdout();
  const int code = cli::Main(static_cast<int>(argv.size()), argv.data());
  const std::string out = ::testing::internal::GetCapturedStdout();
  return code == 0 ? out : "";
}

TEST(Documents, CommandLinesAreRight) {
  const Names commands = {"train",
                          "evaluate",
                          "predict",
                          "data",
                          "data inspect",
                          "data index",
                          "data verify",
                          "data convert",
                          "data write",
                          "data bench",
                          "devices",
                          "models",
                          "doctor",
                          "plan",
                          "profile",
                          "supervise",
                          "report",
                          "top",
                          "plugin",
                          "plugin install",
                          "plugin list",
                          "checkpoint",
                          "checkpoint list",
                          "checkpoint verify",
                          "checkpoint export",
                          "checkpoint diff"};
  std::map<std::string, std::string> helps;
  helps[""] = Help("");
  for (const std::string& command : commands) {
    helps[command] = Help(command);
    ASSERT_THAT(helps[command], HasSubstr("flatout " + command));
    const size_t space = command.find(' ');
    ASSERT_THAT(helps[command.substr(0, space == std::string::npos ? 0 : space)],
                HasSubstr("\n  " + command.substr(space + 1) + " "));
  }
  const auto has_option = [&](const std::string& command, const std::string& option) {
    return std::regex_search(helps[command], std::regex(option + "[^a-z-]"));
  };
  const std::regex flatout("^(\\$ )?([a-z]+/)*flatout +([^#`]+)");
  int seen = 0;
  for (const fs::path& document : Documents()) {
    const std::string text = ReadFile(document);
    // Tables of commands: "| `flatout train RUN` | ...; `--set`, `--run-dir` |".
    for (const std::string& line : Lines(text)) {
      const Names codes = Codes(line);
      if (codes.empty() || !line.starts_with("| `flatout ")) continue;
      std::string command = codes[0].substr(8);
      size_t words = 0;  // where the last word of a command of two words begins
      for (const std::string_view group : {"data ", "plugin ", "checkpoint "}) {
        if (command.starts_with(group)) words = group.size();
      }
      command.resize(std::min(command.find(' ', words), command.size()));
      for (const std::string& code : codes) {
        if (!code.starts_with("--")) continue;
        EXPECT_TRUE(has_option(command, code)) << document << ": " << line;
      }
    }
    for (const std::string& line : CodeLines(text)) {
      std::smatch match;
      if (!std::regex_search(line, match, flatout)) continue;
      Names words;
      std::istringstream stream(match[3]);
      for (std::string word; stream >> word;) words.push_back(word);
      if (words[0].find(':') != std::string::npos) continue;  // a message of the program
      std::string command, run_file;
      Names assignments;
      for (size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") continue;
        if (word.starts_with("--")) {
          EXPECT_TRUE(has_option(command, word)) << document << ": " << line;
          if (word == "--log") ++i;
          if (word == "--set" && i + 1 < words.size()) {
            assignments.push_back(std::regex_replace(words[++i], std::regex("'"), ""));
          }
        } else if (command.empty()) {
          command = word;
          // flatout data inspect: two words.
          if (i + 1 < words.size() && helps.contains(word + " " + words[i + 1])) {
            command += " " + words[++i];
          }
          ASSERT_TRUE(helps.contains(command)) << document << ": " << line;
        } else if (word.starts_with("examples/")) {
          run_file = word;
        }
      }
      ++seen;
      if (run_file.empty()) continue;
      EXPECT_NO_THROW(train::LoadRunConfig(kRoot / run_file, assignments))
          << document << ": " << line;
    }
  }
  EXPECT_GT(seen, 10);
}

TEST(Documents, MakeTargetsExist) {
  const std::string makefile = "\n" + ReadFile(kRoot / "Makefile");
  const std::regex make("^make ([a-z][a-z -]*)");
  for (const fs::path& document : Documents()) {
    for (const std::string& line : CodeLines(ReadFile(document))) {
      std::smatch match;
      if (!std::regex_search(line, match, make)) continue;
      std::istringstream targets(std::regex_replace(match[1].str(), std::regex("  .*"), ""));
      for (std::string target; targets >> target;) {
        EXPECT_THAT(makefile, HasSubstr("\n" + target + ":")) << document << ": " << line;
      }
    }
  }
}

TEST(Documents, EnvironmentVariablesExist) {
  std::string sources;
  for (const char* folder : {"flatout", "tests", "deps", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / folder)) {
      const std::string name = entry.path().filename().string();
      if (!entry.is_regular_file() || name == "docs_test.cc" || name.ends_with(".md")) continue;
      if (name.ends_with(".json") || name.ends_with(".mlir")) continue;
      sources += ReadFile(entry.path());
    }
  }
  const std::regex variable("^((FLATOUT|PJRT)_[A-Z_]+)(=.*)?$");
  for (const fs::path& document : Documents()) {
    for (const std::string& code : Codes(ReadFile(document))) {
      std::smatch match;
      if (!std::regex_match(code, match, variable)) continue;
      EXPECT_THAT(sources, HasSubstr(match[1].str())) << document;
    }
  }
}

// --- what is shown -------------------------------------------------------------------------------

Names Fenced(const std::string& text, const std::string& language) {
  Names blocks;
  bool inside = false;
  for (const std::string& line : Lines(text)) {
    if (line.starts_with("```")) {
      inside = line == "```" + language;
      if (inside) blocks.emplace_back();
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

// A table [data] whose files need not exist: its keys must, and those of its transforms.
void CheckDataTable(const Config& table, const std::string& block) {
  EXPECT_NO_THROW(data::ReadPipelineOptions(table)) << block;
  const auto expect_known = [&](const std::function<void()>& read) {
    try {
      read();
    } catch (const Error& error) {
      for (const char* wrong : {"unknown key", "needs the key", "expected a"}) {
        EXPECT_THAT(error.what(), Not(HasSubstr(wrong))) << block;
      }
    }
  };
  if (const Config* transforms = table.Find("transforms")) {
    for (const Config& transform : transforms->items()) {
      expect_known([&] { data::MakeTransform(transform); });
    }
  }
  const Config* source = table.Find("source");
  if (source == nullptr) return;
  const data::SourceOpener opener = data::FindSource(source->AsString());
  ASSERT_TRUE(opener) << block;
  expect_known([&] {
    FieldReader reader(table, "data");
    reader.Take("source");
    data::PipelineOptions options;
    options.Visit(reader);
    opener(reader);
    reader.Finish();
  });
}

TEST(Documents, RunFilesAreRight) {
  int whole = 0;
  for (const fs::path& document : Documents()) {
    for (const std::string& block : Fenced(ReadFile(document), "toml")) {
      Config tree;
      ASSERT_NO_THROW(tree = Config::ParseToml(block, document)) << block;
      const Config* model = tree.Find("model");
      if (model != nullptr && tree.Find("data") != nullptr) {
        ++whole;
        const train::RunConfig config = train::ReadRunConfig(tree, "shown");
        const ir::Shape image(ir::DType::kU8, {28, 28, 1});
        EXPECT_NO_THROW(nn::Model::FromConfig(config.model, {"image"}, {image})) << block;
        EXPECT_NO_THROW(optim::OptimizerFromConfig(config.optimizer)) << block;
        continue;
      }
      // A part of a run file: its keys must exist all the same.
      if (const Config* table = tree.Find("data")) CheckDataTable(*table, block);
      tree.Set("data", Config::Table({{"source", Config(std::string("clicks"))}}));
      if (model == nullptr) tree.Set("model", Config::Table());
      EXPECT_NO_THROW(train::ReadRunConfig(tree, "shown")) << block;
      if (const Config* optimizer = tree.Find("optimizer")) {
        EXPECT_NO_THROW(optim::OptimizerFromConfig(*optimizer)) << block;
      }
    }
  }
  EXPECT_GE(whole, 1);
}

TEST(Documents, CppIsThatOfTheExample) {
  const std::string example = ReadFile(kRoot / "examples/fashion_mnist.cc");
  const Names blocks = Fenced(ReadFile(kRoot / "README.md"), "cpp");
  ASSERT_THAT(blocks, Not(IsEmpty()));
  for (const std::string& block : blocks) {
    for (const std::string& line : Lines(block)) EXPECT_THAT(example, HasSubstr(line));
  }
}

}  // namespace
}  // namespace flatout
