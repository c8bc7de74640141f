// The layers of the house (design, section "Layers"): every folder of flatout/ declares in its
// CMakeLists.txt what it uses; this test holds the declarations to the table below and every
// #include to the declarations. A folder may use another only if it says so itself: what comes in
// through a third folder does not count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Names = std::set<std::string>;

struct Layer {
  std::string name;
  Names may_use;
};

// From the bottom up. A folder may declare less than it may use.
const std::vector<Layer>& Layers() {
  static const std::vector<Layer> layers = [] {
    std::vector<Layer> table = {
        {"base", {}},
        {"ir", {"base"}},
        {"xla", {"base", "ir"}},
        {"kernels", {"base", "ir", "xla"}},
        {"nn", {"base", "ir"}},
        {"optim", {"base", "ir", "nn"}},
        {"step", {"base", "ir", "nn", "optim"}},
        // Buffers have the DType and Shape of ir, so whoever uses xla may use those too.
        {"data", {"base", "ir", "xla"}},
        {"checkpoint", {"base", "ir", "xla"}},
        {"cluster", {"base", "ir", "xla"}},
        {"watch", {"base", "ir", "xla"}},
        {"web", {"base", "ir", "xla", "watch"}},
        {"plan", {"base", "ir", "xla", "nn", "optim", "step"}},
    };
    Names below;
    for (const Layer& layer : table) below.insert(layer.name);
    table.push_back({"train", below});
    table.push_back({"interop", {"base", "ir", "nn"}});
    below.insert({"train", "interop"});
    table.push_back({"cli", below});
    return table;
  }();
  return layers;
}

const Layer* FindLayer(const std::string& name) {
  for (const Layer& layer : Layers()) {
    if (layer.name == name) return &layer;
  }
  return nullptr;
}

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Declaration {
  bool found = false;
  std::string name;
  Names uses;
  Names test_uses;
};

// The words of flatout_folder(...) in a CMakeLists.txt.
Declaration ParseDeclaration(const std::string& text) {
  const std::string plain = std::regex_replace(text, std::regex("#[^\n]*"), "");
  const std::string call = "flatout_folder(";
  const size_t start = plain.find(call);
  if (start == std::string::npos) return {};
  const size_t end = plain.find(')', start);
  std::istringstream words(plain.substr(start + call.size(), end - start - call.size()));
  Declaration declaration = {.found = true, .name = {}, .uses = {}, .test_uses = {}};
  words >> declaration.name;
  Names ignored;
  Names* into = &ignored;
  for (std::string word; words >> word;) {
    if (word == "USES") {
      into = &declaration.uses;
    } else if (word == "TEST_USES") {
      into = &declaration.test_uses;
    } else if (word == "LIBS") {
      into = &ignored;
    } else {
      into->insert(word);
    }
  }
  return declaration;
}

// One line for every breach in the tree whose folders are root/flatout/*.
std::vector<std::string> Breaches(const fs::path& root) {
  static const std::regex kOurs(R"re(^\s*#\s*include\s*[<"]flatout/([^">]*)[">])re");
  static const std::regex kQuoted(R"re(^\s*#\s*include\s*"([^"]*)")re");
  // Headers that take a second or more to compile; they belong into .cc files only.
  static const std::regex kHeavy(
      R"re(^\s*#\s*include\s*[<"]((toml\+\+|nlohmann|spdlog|CLI|httplib|prometheus|grpcpp?|google)[/.][^">]*)[">])re");
  std::vector<std::string> breaches;
  for (const auto& folder : fs::directory_iterator(root / "flatout")) {
    if (!folder.is_directory()) continue;
    const std::string name = folder.path().filename().string();
    std::vector<fs::path> sources;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".cc" || extension == ".h") sources.push_back(entry.path());
    }
    if (sources.empty()) continue;
    std::sort(sources.begin(), sources.end());

    const Layer* layer = FindLayer(name);
    if (layer == nullptr) {
      breaches.push_back("flatout/" + name + " is not in the table of layers");
      continue;
    }
    const std::string cmake = "flatout/" + name + "/CMakeLists.txt";
    const Declaration declared = ParseDeclaration(Read(root / cmake));
    if (!declared.found || declared.name != name) {
      breaches.push_back(cmake + " has no flatout_folder(" + name + " ...)");
      continue;
    }
    for (const std::string& used : declared.uses) {
      if (!layer->may_use.contains(used)) {
        breaches.push_back(cmake + ": " + name + " may not use " + used);
      }
    }
    for (const std::string& used : declared.test_uses) {
      if (FindLayer(used) == nullptr) {
        breaches.push_back(cmake + ": " + used + " is not in the table of layers");
      }
    }

    for (const fs::path& source : sources) {
      const std::string file = source.lexically_relative(root).generic_string();
      const bool test = file.ends_with("_test.cc") || file.ends_with("testing.h");
      std::istringstream text(Read(source));
      int number = 0;
      for (std::string line; std::getline(text, line);) {
        const std::string at = file + ":" + std::to_string(++number) + ": ";
        std::smatch match;
        if (std::regex_search(line, match, kOurs)) {
          const std::string path = match[1];
          const std::string used = path.substr(0, path.find('/'));
          if (used == name || declared.uses.contains(used)) continue;
          if (test && declared.test_uses.contains(used)) continue;
          breaches.push_back(at + name + " does not declare that it uses " + used);
        } else if (std::regex_search(line, match, kHeavy)) {
          // What only tests share costs those tests, which read JSON in any case.
          if (source.extension() == ".h" && !file.ends_with("testing.h")) {
            breaches.push_back(at + "a header includes " + match[1].str());
          }
        } else if (std::regex_search(line, match, kQuoted) &&
                   fs::exists(source.parent_path() / match[1].str())) {
          breaches.push_back(at + "includes are written from the root: " + match[1].str());
        }
      }
    }
  }
  return breaches;
}

TEST(Layering, TheHouseKeepsToItsLayers) { EXPECT_THAT(Breaches(FLATOUT_SOURCE_DIR), IsEmpty()); }

TEST(Layering, EveryFolderIsSeen) {
  // Guards the test above against looking into an empty place.
  int sources = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(FLATOUT_SOURCE_DIR) / "flatout")) {
    if (entry.path().extension() == ".cc") ++sources;
  }
  EXPECT_GT(sources, 20);
}

TEST(Layering, TheTableGoesDownwardOnly) {
  Names below;
  for (const Layer& layer : Layers()) {
    for (const std::string& used : layer.may_use) {
      EXPECT_TRUE(below.contains(used)) << layer.name << " uses " << used;
    }
    below.insert(layer.name);
  }
}

TEST(Layering, DeclarationsAreReadWithCommentsAndLineBreaks) {
  const Declaration declared = ParseDeclaration(
      "find_package(x)\nflatout_folder(nn USES base # the USES of old\n  ir\n  TEST_USES xla\n"
      "  LIBS a::b)\nother(cli)\n");
  EXPECT_EQ(declared.name, "nn");
  EXPECT_THAT(declared.uses, ElementsAre("base", "ir"));
  EXPECT_THAT(declared.test_uses, ElementsAre("xla"));
}

// A small house under a temporary folder, with no breach until a test makes one.
class MadeUpHouse : public ::testing::Test {
 protected:
  MadeUpHouse()
      : root_(fs::path(::testing::TempDir()) /
              ("flatout_layering_" + std::to_string(getpid()) + "_" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    Put("base/CMakeLists.txt", "flatout_folder(base)\n");
    Put("base/error.h", "#include <string>\n");
    Put("base/log.cc", "#include <spdlog/spdlog.h>\n#include \"flatout/base/error.h\"\n");
    Put("ir/CMakeLists.txt", "flatout_folder(ir USES base TEST_USES xla)\n");
    Put("ir/graph.h", "#include \"flatout/base/error.h\"\n#include \"third/party.h\"\n");
    Put("ir/graph_test.cc", "#include \"flatout/xla/client.h\"\n");
    Put("xla/CMakeLists.txt", "flatout_folder(xla USES base ir)\n");
    Put("xla/client.h", "#include \"flatout/ir/graph.h\"\n");
    Put("data/CMakeLists.txt", "flatout_folder(data USES base xla)\n");
    Put("data/source.h", "#include \"flatout/xla/client.h\"\n");
  }
  ~MadeUpHouse() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  void Put(const std::string& path, const std::string& text) const {
    const fs::path file = root_ / "flatout" / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  fs::path root_;
};

TEST_F(MadeUpHouse, StandsAsItIs) { EXPECT_THAT(Breaches(root_), IsEmpty()); }

TEST_F(MadeUpHouse, UndeclaredIncludeIsABreach) {
  Put("base/file.cc", "\n  #  include \"flatout/ir/graph.h\"\n");
  EXPECT_THAT(Breaches(root_), ElementsAre("flatout/base/file.cc:2: base does not declare that it "
                                           "uses ir"));
}

TEST_F(MadeUpHouse, WhatComesThroughAThirdFolderDoesNotCount) {
  Put("data/idx.cc", "#include <flatout/ir/graph.h>\n");
  EXPECT_THAT(Breaches(root_), ElementsAre(HasSubstr("data does not declare that it uses ir")));
}

TEST_F(MadeUpHouse, UpwardDeclarationIsABreach) {
  Put("ir/CMakeLists.txt", "flatout_folder(ir USES base xla)\n");
  EXPECT_THAT(Breaches(root_), ElementsAre("flatout/ir/CMakeLists.txt: ir may not use xla"));
}

TEST_F(MadeUpHouse, TestUsesAreForTestsOnly) {
  Put("ir/writer.cc", "#include \"flatout/xla/client.h\"\n");
  EXPECT_THAT(Breaches(root_), ElementsAre(HasSubstr("flatout/ir/writer.cc:1")));
}

TEST_F(MadeUpHouse, HeavyHeadersInHeadersAreBreaches) {
  Put("base/a.h", "#include <toml++/toml.h>\n");
  Put("base/sub/b.h", "#include \"nlohmann/json.hpp\"\n");
  Put("base/c.h", "#include <spdlog/spdlog.h>\n");
  Put("base/d.h", "#include <CLI/CLI.hpp>\n");
  EXPECT_THAT(Breaches(root_),
              ElementsAre(HasSubstr("flatout/base/a.h:1: a header includes toml++"),
                          HasSubstr("flatout/base/c.h:1: a header includes spdlog"),
                          HasSubstr("flatout/base/d.h:1: a header includes CLI"),
                          HasSubstr("flatout/base/sub/b.h:1: a header includes nlohmann")));
}

TEST_F(MadeUpHouse, RelativeIncludesAreBreaches) {
  Put("base/file.cc", "#include \"error.h\"\n");
  EXPECT_THAT(Breaches(root_), ElementsAre(HasSubstr("from the root: error.h")));
}

TEST_F(MadeUpHouse, FoldersMustBeKnownAndDeclared) {
  Put("attic/box.cc", "\n");
  Put("nn/layer.cc", "\n");
  Put("optim/CMakeLists.txt", "flatout_folder(sgd USES base)\n");
  Put("optim/sgd.cc", "\n");
  const std::vector<std::string> breaches = Breaches(root_);
  EXPECT_THAT(breaches, Contains("flatout/attic is not in the table of layers"));
  EXPECT_THAT(breaches, Contains("flatout/nn/CMakeLists.txt has no flatout_folder(nn ...)"));
  EXPECT_THAT(breaches, Contains("flatout/optim/CMakeLists.txt has no flatout_folder(optim ...)"));
  EXPECT_EQ(breaches.size(), 3U);
}

}  // namespace
