#include "flatout/cli/session.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "flatout/base/error.h"

namespace flatout::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string MessageOf(const std::function<void()>& body) {
  try {
    body();
  } catch (const UserError& error) {
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another kind of error: " << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

train::RunConfig Config(const std::string& text) {
  return train::ReadRunConfig(flatout::Config::ParseToml(text, "run.toml"), "run");
}

class FindTrainedRunTest : public ::testing::Test {
 protected:
  FindTrainedRunTest() {
    std::string name = (std::filesystem::temp_directory_path() / "flatout-session-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Internal("mkdtemp failed");
    folder_ = name;
  }
  ~FindTrainedRunTest() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text = "") const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string WriteRunFile(const std::string& name) const {
    return Write(name, "[model]\nbuiltin = \"mlp\"\n[data]\nsource = \"fashion_mnist\"\n");
  }
  std::filesystem::path folder_;
};

TEST_F(FindTrainedRunTest, AFolderGivesItsBestWeightsOrTheLast) {
  WriteRunFile("run.toml");
  const std::string folder = folder_.string();
  EXPECT_THAT(MessageOf([&] { FindTrainedRun(folder, "", {}); }),
              AllOf(HasSubstr("no weights"), HasSubstr("weights.safetensors")));
  const std::string last = Write("weights.safetensors");
  EXPECT_EQ(FindTrainedRun(folder, "", {}).weights_path, last);
  const std::string best = Write("best.safetensors");
  EXPECT_EQ(FindTrainedRun(folder, "", {}).weights_path, best);
  EXPECT_EQ(FindTrainedRun(folder, "last", {}).weights_path, last);
  EXPECT_EQ(FindTrainedRun(folder, "best", {}).weights_path, best);
  const std::string other = Write("other.safetensors");
  const TrainedRun run = FindTrainedRun(folder, other, {"train.global_batch=7"});
  EXPECT_EQ(run.weights_path, other);
  EXPECT_EQ(run.config.train.global_batch, 7);
}

TEST_F(FindTrainedRunTest, ARunFileNeedsWeights) {
  const std::string file = WriteRunFile("mine.toml");
  EXPECT_THAT(MessageOf([&] { FindTrainedRun(file, "", {}); }), HasSubstr("--weights"));
  EXPECT_THAT(MessageOf([&] { FindTrainedRun(file, "none", {}); }),
              HasSubstr("no weights at none"));
  const std::string weights = Write("w.safetensors");
  EXPECT_EQ(FindTrainedRun(file, weights, {}).config.name, "mine");
  EXPECT_THAT(MessageOf([&] { FindTrainedRun(folder_.string(), "", {}); }),
              AllOf(HasSubstr("no run folder"), HasSubstr("run.toml")));
}

TEST(MakeModelTest, InputsAreTheFieldsWithoutTheTarget) {
  const std::vector<data::Field> fields = {{"a", ir::Shape(ir::DType::kF32, {2}), 0},
                                           {"b", ir::Shape(ir::DType::kF32, {3}), 0},
                                           {"y", ir::Shape(ir::DType::kI32, {}), 4}};
  const std::string layers =
      "[[model.layers]]\nclass = \"Concatenate\"\ninputs = [\"b\", \"a\"]\n"
      "[[model.layers]]\nclass = \"Dense\"\nunits = 4\n[data]\nsource = \"arrays\"\n";
  const nn::Model model = MakeModel(Config(layers), fields);
  ASSERT_EQ(model.inputs().size(), 2u);
  EXPECT_EQ(model.parameters(), 5 * 4 + 4);
  EXPECT_THAT(
      MessageOf([&] { MakeModel(Config(layers + "[train]\ninputs = [\"a\", \"c\"]\n"), fields); }),
      AllOf(HasSubstr("train.inputs"), HasSubstr("\"c\""), HasSubstr("b f32[3]")));
  // Another target leaves other inputs.
  const nn::Model other = MakeModel(
      Config("[[model.layers]]\nclass = \"Dense\"\nunits = 2\n[data]\nsource = \"arrays\"\n"
             "[train]\ntarget = \"b\"\ninputs = [\"a\"]\n"),
      fields);
  EXPECT_EQ(other.inputs().size(), 1u);
}

}  // namespace
}  // namespace flatout::cli
