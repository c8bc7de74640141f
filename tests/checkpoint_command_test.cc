// flatout checkpoint as people run it, on snapshots written here.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "flatout/base/file.h"
#include "flatout/checkpoint/safetensors.h"
#include "flatout/checkpoint/testing.h"
#include "tests/command.h"

namespace flatout::checkpoint {
namespace {

namespace fs = std::filesystem;
using flatout::testing::Outcome;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class CheckpointCommand : public ::testing::Test {
 protected:
  CheckpointCommand() : store_(scratch_.File("run/checkpoints")) {
    fs::create_directories(scratch_.File("run"));
    store_.Prepare();
  }

  // flatout checkpoint ARGUMENTS in the scratch folder.
  Outcome Run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "checkpoint");
    return flatout::testing::RunFlatout(scratch_.path(), std::move(arguments));
  }
  Outcome Good(const std::vector<std::string>& arguments) const {
    Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
    return outcome;
  }
  std::string Error(int exit_code, const std::vector<std::string>& arguments) const {
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("flatout: "));
    return outcome.err;
  }
  void Write(int64_t step, double loss) {
    Snapshot snapshot = MakeSnapshot(step);
    snapshot.score = Score{"val_loss", loss, false};
    store_.Write(std::move(snapshot));
  }
  void Damage(int64_t step) const {
    const std::string path =
        fmt::format("{}/step-{:09}/weights.safetensors", store_.folder(), step);
    std::string content = ReadFile(path);
    content.back() ^= 1;
    AtomicWriteFile(path, content);
  }
  TensorFile Load(const std::string& name) const { return LoadSafetensors(scratch_.File(name)); }

  ScratchFolder scratch_;
  Store store_;
};

TEST_F(CheckpointCommand, Lists) {
  EXPECT_THAT(Good({"list", "run"}).out, HasSubstr("no snapshots"));
  Write(10, 0.5);
  Write(1200, 0.25);
  Write(2000, 0.75);
  fs::remove(store_.folder() + "/step-000000010/state.json");
  const std::string out = Good({"list", "run"}).out;
  EXPECT_THAT(out,
              ::testing::ContainsRegex("2,000 +200 +20.*Z +.* complete +val_loss 0.75 +newest +"
                                       "step-000002000\n *1,200 .*best +step-000001200\n +- .*"
                                       "damaged"));
  EXPECT_THAT(out, HasSubstr("run/checkpoints/step-000000010/state.json is missing"));
  const json listed = Good({"list", "run/", "--json"}).Json();
  EXPECT_EQ(listed["path"], "run/checkpoints");
  ASSERT_EQ(listed["snapshots"].size(), 3u);
  EXPECT_EQ(listed["snapshots"][0]["step"], 2000);
  EXPECT_EQ(listed["snapshots"][0]["epoch"], 200);
  EXPECT_EQ(listed["snapshots"][0]["newest"], true);
  EXPECT_EQ(listed["snapshots"][0]["best"], false);
  EXPECT_EQ(listed["snapshots"][0]["score"]["value"], 0.75);
  EXPECT_EQ(listed["snapshots"][1]["best"], true);
  EXPECT_GT(listed["snapshots"][1]["bytes"], 100);
  EXPECT_EQ(listed["snapshots"][2]["condition"], "damaged");
  EXPECT_EQ(Good({"list", "run/checkpoints", "--json"}).Json(), listed);
  EXPECT_EQ(Good({"list", "run/checkpoints/step-000001200", "--json"}).Json()["snapshots"].size(),
            1u);
}

TEST_F(CheckpointCommand, Verifies) {
  Error(2, {"verify", "run"});
  Write(1, 1);
  Write(2, 1);
  fs::create_directory(store_.folder() + "/step-000000003");
  Outcome outcome = Good({"verify", "run"});
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("step-000000002: good"), HasSubstr("step-000000003: unfinished"),
                    HasSubstr("2 good, 0 bad")));
  Damage(2);
  outcome = Run({"verify", "run"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("step-000000002: BAD"), HasSubstr("weights.safetensors: bytes 0 to"),
                    HasSubstr("step-000000001: good"), HasSubstr("1 good, 1 bad")));
  Good({"verify", "run", "--step", "1"});
  EXPECT_EQ(Run({"verify", "run", "--step", "2"}).exit_code, 3);
  EXPECT_EQ(Run({"verify", "run/checkpoints/step-000000002"}).exit_code, 3);
  EXPECT_THAT(Error(2, {"verify", "run", "--step", "7"}),
              AllOf(HasSubstr("step 7"), HasSubstr("there are 2, 1")));
  outcome = Run({"verify", "run", "--json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.Json()["bad"], 1);
  EXPECT_EQ(outcome.Json()["snapshots"][1]["good"], false);
  EXPECT_THAT(outcome.Json()["snapshots"][1]["problems"][0], HasSubstr("were changed"));
}

TEST_F(CheckpointCommand, ExportsBestAndLast) {
  EXPECT_THAT(Error(2, {"export", "run", "--output", "w.safetensors"}),
              HasSubstr("nothing to export"));
  Write(10, 0.5);
  Write(20, 0.25);
  Write(30, 0.75);
  EXPECT_THAT(Good({"export", "run", "--output", "best.safetensors"}).out,
              AllOf(HasSubstr("of step 20"), HasSubstr("step-000000020")));
  TensorFile file = Load("best.safetensors");
  EXPECT_EQ(file.Find("dense/kernel")->bytes, BytesOf(1, 20, 0, 80));
  EXPECT_EQ(file.metadata.at("step"), "20");
  EXPECT_EQ(file.metadata.at("epoch"), "2");
  Good({"export", "run", "--weights", "last", "--output", "last.safetensors"});
  EXPECT_EQ(Load("last.safetensors").Find("dense/kernel")->bytes, BytesOf(1, 30, 0, 80));
  Good({"export", "run", "--step", "10", "--output", "ten.safetensors"});
  EXPECT_EQ(Load("ten.safetensors").metadata.at("step"), "10");
  Good({"export", "run/checkpoints/step-000000010", "--group", "optimizer", "--output",
        "slots.safetensors"});
  EXPECT_EQ(Load("slots.safetensors").Find("dense/kernel")->bytes, BytesOf(1, 10, 5, 80));
  // Nothing is replaced unasked.
  EXPECT_THAT(Error(2, {"export", "run", "--output", "ten.safetensors"}), HasSubstr("--overwrite"));
  EXPECT_EQ(Load("ten.safetensors").metadata.at("step"), "10");
  Good({"export", "run", "--output", "ten.safetensors", "--overwrite"});
  EXPECT_EQ(Load("ten.safetensors").metadata.at("step"), "20");
  // A damaged one is not exported, and the one before it is.
  Damage(30);
  const Outcome outcome = Good({"export", "run", "--weights", "last", "--output", "l.safetensors"});
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("skipped: "), HasSubstr("step-000000030")));
  EXPECT_EQ(Load("l.safetensors").metadata.at("step"), "20");
  Error(3, {"export", "run", "--step", "30", "--output", "d.safetensors"});
  EXPECT_THAT(Error(2, {"export", "run", "--step", "20", "--group", "x", "--output", "x"}),
              HasSubstr("it has weights.safetensors, optimizer.safetensors, state.json"));
}

// What the trainer wrote beside the snapshots is later, or better, than they are.
TEST_F(CheckpointCommand, ExportsWhatTheRunSaysItself) {
  Write(10, 0.5);
  TensorFile weights;
  HostTensor& tensor = weights.tensors.emplace_back();
  tensor = {"dense/kernel", ir::Shape(ir::DType::kF32, {1}), BytesOf(1, 1, 1, 4)};
  weights.metadata["step"] = "15";
  SaveSafetensors(scratch_.File("run/weights.safetensors"), weights);
  Good({"export", "run", "--weights", "last", "--output", "a.safetensors"});
  EXPECT_EQ(Load("a.safetensors").metadata.at("step"), "15");
  weights.metadata["step"] = "5";
  SaveSafetensors(scratch_.File("run/weights.safetensors"), weights);
  Good({"export", "run", "--weights", "last", "--output", "b.safetensors"});
  EXPECT_EQ(Load("b.safetensors").metadata.at("step"), "10");
  weights.metadata["step"] = "7";
  SaveSafetensors(scratch_.File("run/best.safetensors"), weights);
  Good({"export", "run", "--output", "c.safetensors"});
  EXPECT_EQ(Load("c.safetensors").metadata.at("step"), "7");
}

TEST_F(CheckpointCommand, TellsTheDifference) {
  Write(10, 1);
  Write(20, 1);
  const Outcome same = Good({"diff", "run", "run/checkpoints/step-000000020"});
  EXPECT_THAT(same.out, HasSubstr("5 of 5 tensors are the same"));
  const Outcome outcome = Run({"diff", "run/checkpoints/step-000000010", "run"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("step-000000010"), ::testing::ContainsRegex("differs +dense/kernel"),
                    HasSubstr("of 20 values"), Not(HasSubstr("  empty")),
                    HasSubstr("1 of 5 tensors are the same")));
  EXPECT_THAT(Run({"diff", "run/checkpoints/step-000000010", "run", "--all"}).out,
              ::testing::ContainsRegex("same +empty"));
  TensorFile other;
  other.tensors = {{"dense/kernel", ir::Shape(ir::DType::kF32, {1}), BytesOf(1, 1, 1, 4)},
                   {"new", ir::Shape(ir::DType::kF32, {1}), BytesOf(1, 1, 1, 4)}};
  SaveSafetensors(scratch_.File("other.safetensors"), other);
  const Outcome as_json = Run({"diff", "run", "other.safetensors", "--json"});
  EXPECT_EQ(as_json.exit_code, 1);
  std::map<std::string, std::string> verdicts;
  const json differences = as_json.Json();
  for (const json& tensor : differences["tensors"]) verdicts[tensor["name"]] = tensor["verdict"];
  EXPECT_EQ(verdicts, (std::map<std::string, std::string>{{"dense/kernel", "shape"},
                                                          {"dense/bias", "missing"},
                                                          {"norm/moving_mean", "missing"},
                                                          {"empty", "missing"},
                                                          {"step", "missing"},
                                                          {"new", "extra"}}));
}

TEST_F(CheckpointCommand, SaysWhatIsWrongWithItsArguments) {
  EXPECT_THAT(Error(2, {"list", "nowhere"}), HasSubstr("there is no nowhere"));
  fs::create_directory(scratch_.File("other"));
  EXPECT_THAT(Error(2, {"list", "other"}), HasSubstr("neither a run folder nor a snapshot"));
  AtomicWriteFile(scratch_.File("other/run.toml"), "");
  EXPECT_THAT(Error(2, {"verify", "other"}), HasSubstr("no snapshots"));
  EXPECT_THAT(Error(2, {"list", "other/run.toml"}), HasSubstr("is a file"));
  EXPECT_THAT(Error(2, {"export", "other"}), HasSubstr("--output"));
  EXPECT_THAT(Error(2, {"lst", "run"}), HasSubstr("did you mean \"list\"?"));
  EXPECT_THAT(Error(2, {"export", "run", "--output", "x", "--weights", "good"}),
              HasSubstr("--weights"));
}

}  // namespace
}  // namespace flatout::checkpoint
