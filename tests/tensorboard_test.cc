// What TensorBoard's own code makes of the event files of whole runs (tests/tensorboard/
// read_events.py; deps/install --tensorboard brings it).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "tests/small_run.h"

namespace flatout {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using testing::Outcome;
using ::testing::StartsWith;

class TensorBoard : public testing::SmallRun {
 protected:
  // What TensorBoard shows of a folder below the work folder.
  json Show(const std::string& folder) const {
    std::string path;
    for (const auto& entry : fs::directory_iterator(FLATOUT_DEPS_FOLDER)) {
      if (entry.path().filename().string().starts_with("python_")) {
        path += (path.empty() ? "" : ":") + entry.path().string();
      }
    }
    EXPECT_THAT(path, HasSubstr("python_tensorboard")) << "run deps/install --tensorboard";
    const std::string command =
        fmt::format("PYTHONPATH='{}' python3 '{}/tests/tensorboard/read_events.py' '{}'", path,
                    FLATOUT_SOURCE_DIR, Path(folder).string());
    std::FILE* pipe = popen(command.c_str(), "r");
    std::string text;
    std::array<char, 1 << 14> part;
    for (size_t got = 0; (got = std::fread(part.data(), 1, part.size(), pipe)) > 0;) {
      text.append(part.data(), got);
    }
    EXPECT_EQ(pclose(pipe), 0) << command;
    return json::parse(text);
  }
  // The names of an object's members.
  static std::vector<std::string> Keys(const json& object) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : object.items()) keys.push_back(key);
    return keys;
  }
  static std::vector<int64_t> Steps(const json& points) {
    std::vector<int64_t> steps;
    for (const json& point : points) steps.push_back(point[0]);
    return steps;
  }
  static std::vector<int64_t> Count(int64_t from, int64_t to) {
    std::vector<int64_t> numbers;
    for (int64_t i = from; i < to; ++i) numbers.push_back(i);
    return numbers;
  }
  // Of the newest snapshot that is complete; 0: there is none.
  int64_t StepOf(const std::string& folder) const {
    int64_t step = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(Path(folder) / "checkpoints", ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("step-")) step = std::max<int64_t>(step, std::atoll(&name[5]));
    }
    return step;
  }
  // The epochs' lines of metrics.jsonl.
  std::vector<json> EpochLines(const std::string& folder) const {
    std::vector<json> lines;
    for (const std::string& line : Epochs(folder)) lines.push_back(json::parse(line));
    return lines;
  }
  void ExpectRun(const json& shown, const std::string& folder, const std::string& run) const {
    const std::vector<json> epochs = EpochLines(folder);
    const json& train = shown["scalars"][run + "/train"];
    const json& validation = shown["scalars"][run + "/validation"];
    for (const char* name : {"loss", "accuracy"}) {
      const std::string tag = std::string("epoch_") + name;
      EXPECT_EQ(Steps(train[tag]), Count(0, static_cast<int64_t>(epochs.size()))) << tag;
      EXPECT_EQ(Steps(validation[tag]), Count(0, static_cast<int64_t>(epochs.size()))) << tag;
      const json& iterations = validation[fmt::format("evaluation_{}_vs_iterations", name)];
      ASSERT_EQ(iterations.size(), epochs.size());
      for (size_t i = 0; i < epochs.size(); ++i) {
        EXPECT_FLOAT_EQ(train[tag][i][1].get<float>(), epochs[i][name].get<float>()) << i;
        const float value = epochs[i][std::string("val_") + name].get<float>();
        EXPECT_FLOAT_EQ(validation[tag][i][1].get<float>(), value) << i;
        EXPECT_FLOAT_EQ(iterations[i][1].get<float>(), value) << i;
        EXPECT_EQ(iterations[i][0], epochs[i]["step"]) << i;
      }
    }
    // No point comes twice, none before one that it follows; the same for other readers.
    for (const char* reader : {"scalars", "accumulated"}) {
      for (const auto& [name, tags] : shown[reader].items()) {
        for (const auto& [tag, points] : tags.items()) {
          const std::vector<int64_t> steps = Steps(points);
          EXPECT_TRUE(std::adjacent_find(steps.begin(), steps.end(), std::greater_equal<>()) ==
                      steps.end())
              << reader << " " << name << " " << tag << " " << points;
        }
      }
    }
  }
};

TEST_F(TensorBoard, ShowsAWholeRun) {
  std::vector<std::string> command = Train("runs/first");
  for (const char* assignment :
       {"watch.tensorboard.update_freq=4", "watch.tensorboard.histogram_freq=5"}) {
    command.insert(command.end(), {"--set", assignment});
  }
  const Outcome outcome = Run(command);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("TensorBoard")));
  const json shown = Show("runs");
  const std::string run = "first/tensorboard";
  EXPECT_THAT(shown["runs"], ElementsAre(run, run + "/train", run + "/validation"));
  ExpectRun(shown, "runs/first", run);

  const json& train = shown["scalars"][run + "/train"];
  EXPECT_THAT(
      Keys(train),
      IsSupersetOf({"batch_loss", "batch_accuracy", "batch_learning_rate", "batch_steps_per_second",
                    "epoch_loss", "epoch_learning_rate", "epoch_steps_per_second",
                    "performance/samples_per_second", "performance/full_percent",
                    "time/input_percent", "time/compute_percent", "memory/host_gib"}));
  // 20 steps an epoch, two a launch.
  EXPECT_EQ(Steps(train["batch_loss"]).front(), 4);
  EXPECT_THAT(Steps(train["batch_loss"]), IsSupersetOf({8, 12, 100, 236, 240}));
  double percent = 0;
  for (const auto& [tag, points] : train.items()) {
    if (tag.starts_with("time/")) percent += points[0][1].get<double>();
  }
  EXPECT_NEAR(percent, 100, 0.01);
  // The same from the reader that other programs use.
  EXPECT_EQ(shown["accumulated"][run + "/train"]["batch_loss"], train["batch_loss"]);

  const json& histograms = shown["histograms"][run + "/train"];
  EXPECT_THAT(Keys(histograms), Contains("dense/kernel/histogram"));
  const json& kernel = histograms["dense/kernel/histogram"];
  EXPECT_THAT(Steps(kernel), ElementsAre(0, 5, 10));
  double weights = 0;
  for (const json& bucket : kernel[0][1]) {
    ASSERT_EQ(bucket.size(), 3u);
    EXPECT_LE(bucket[0], bucket[1]);
    weights += bucket[2].get<double>();
  }
  EXPECT_EQ(weights, 4 * 32) << "every weight is counted once";

  const json& texts = shown["texts"][run];
  EXPECT_THAT(texts["run_file"][0][1].get<std::string>(), HasSubstr("builtin = \"mlp\""));
  EXPECT_THAT(texts["model"][0][1].get<std::string>(), HasSubstr("Dense"));
  EXPECT_THAT(texts["verdict"][0][1].get<std::string>(), HasSubstr("running full"));

  std::set<std::string> boxes;
  std::set<std::string> names;
  const json& graph = shown["graphs"][run + "/train"];
  for (const json& node : graph) {
    const std::string name = node["name"];
    EXPECT_TRUE(names.insert(name).second) << name;
    boxes.insert(name.substr(0, name.find('/')));
    for (const json& input : node["inputs"]) {
      const std::string from = input;
      EXPECT_TRUE(names.contains(from.substr(0, from.find(':')))) << name << " takes " << from;
    }
  }
  EXPECT_THAT(boxes, IsSupersetOf({"input", "dense", "dropout", "dense_1", "output"}));
  const auto input = std::find_if(graph.begin(), graph.end(),
                                  [](const json& node) { return node["name"] == "input"; });
  ASSERT_NE(input, graph.end());
  EXPECT_EQ((*input)["shapes"], json::parse("[[-1, 4]]"));
}

TEST_F(TensorBoard, ComparesRunsInItsHParamsTab) {
  for (const auto& [folder, rate] : {std::pair{"runs/slow", "0.0001"}, {"runs/fast", "0.01"}}) {
    std::vector<std::string> command = Train(folder);
    command.insert(command.end(), {"--set", fmt::format("optimizer.learning_rate={}", rate),
                                   "--set", "train.epochs=2"});
    ASSERT_EQ(Run(command).exit_code, 0);
  }
  const json shown = Show("runs");
  std::map<std::string, json> hparams;
  for (const json& info : shown["experiment"]["hparamInfos"]) hparams[info["name"]] = info;
  ASSERT_TRUE(hparams.contains("optimizer.learning_rate"));
  EXPECT_EQ(hparams["optimizer.learning_rate"]["type"], "DATA_TYPE_FLOAT64");
  EXPECT_EQ(hparams["optimizer.learning_rate"]["differs"], true);
  EXPECT_TRUE(hparams.contains("model.units"));
  EXPECT_TRUE(hparams.contains("train.precision")) << "what the run file leaves at its default";
  EXPECT_EQ(hparams["optimizer.use_ema"]["type"], "DATA_TYPE_BOOL");

  ASSERT_EQ(shown["session_groups"].size(), 2u);
  std::map<std::string, double> rates;
  for (const json& group : shown["session_groups"]) {
    rates[group["name"]] = group["hparams"]["optimizer.learning_rate"];
    ASSERT_EQ(group["sessions"].size(), 1u);
    EXPECT_EQ(group["sessions"][0]["status"], "STATUS_SUCCESS");
    std::set<std::string> metrics;
    for (const json& metric : group["metricValues"]) {
      metrics.insert(metric["name"]["group"].get<std::string>() + ":" +
                     metric["name"]["tag"].get<std::string>());
    }
    EXPECT_THAT(metrics, IsSupersetOf({"train:epoch_loss", "validation:epoch_accuracy"}));
  }
  EXPECT_EQ(rates, (std::map<std::string, double>{{"slow", 0.0001}, {"fast", 0.01}}));
}

// A run that is killed and goes on, twice, has the curves of one that was left alone.
TEST_F(TensorBoard, HasNoPointTwiceAfterARunWasKilled) {
  const auto train = [&](const std::string& folder) {
    std::vector<std::string> command = Train(folder);
    command.insert(command.end(), {"--set", "watch.tensorboard.update_freq=2", "--set",
                                   "watch.tensorboard.histogram_freq=1"});
    return command;
  };
  ASSERT_EQ(Run(train("runs/whole")).exit_code, 0);
  for (const int64_t snapshot : {45, 144}) {
    auto process = Start(train("runs/killed"));
    // Some steps, and their events, after the snapshot that it will go on from.
    while (StepOf("runs/killed") < snapshot) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    const Outcome outcome = process.End(SIGKILL);
    if (outcome.exit_code == 0) break;  // it was faster; then it has nothing to go on with
  }
  const Outcome last = Run(train("runs/killed"));
  ASSERT_EQ(last.exit_code, 0) << last.err;
  const json shown = Show("runs");
  ExpectRun(shown, "runs/killed", "killed/tensorboard");
  for (const char* tag : {"batch_loss", "batch_accuracy", "epoch_loss", "epoch_accuracy"}) {
    EXPECT_EQ(shown["scalars"]["killed/tensorboard/train"][tag],
              shown["scalars"]["whole/tensorboard/train"][tag])
        << tag;
  }
  EXPECT_EQ(shown["histograms"]["killed/tensorboard/train"],
            shown["histograms"]["whole/tensorboard/train"]);
  EXPECT_EQ(shown["graphs"]["killed/tensorboard/train"],
            shown["graphs"]["whole/tensorboard/train"]);
  for (const json& group : shown["session_groups"]) {
    EXPECT_EQ(group["sessions"][0]["status"], "STATUS_SUCCESS") << group["name"];
  }
}

// Killed at any moment, what is there can be read.
TEST_F(TensorBoard, ReadsTheFilesOfAKilledRun) {
  std::vector<std::string> command = Train("runs/killed");
  command.insert(command.end(), {"--set", "watch.tensorboard.update_freq=2", "--set",
                                 "train.epochs=100000", "--set", "watch.progress=plain"});
  auto process = Start(command);
  while (StepOf("runs/killed") == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  // Until events have been written.
  while (!fs::exists(Path("runs/killed/tensorboard/train"))) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  process.End(SIGKILL);
  const json shown = Show("runs");
  EXPECT_FALSE(shown["scalars"]["killed/tensorboard/train"]["batch_loss"].empty());
}

TEST_F(TensorBoard, ShowsASampleOfTheInput) {
  AtomicWriteFile(Path("images.toml"), R"(
[model]
builtin = "mlp"
[data]
source = "fashion_mnist"
[train]
epochs = 1
max_steps = 4
evaluate_every = 0
evaluate_test = false
[watch]
ceiling = false
progress = "none"
tensorboard = {image_freq = 1, images = 3}
)");
  const Outcome outcome = Run({"train", "images.toml", "--run-dir", "runs/images"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const json shown = Show("runs");
  const json& images = shown["images"]["images/tensorboard/train"]["input/image"];
  ASSERT_EQ(images.size(), 1u) << shown["images"].dump().substr(0, 200);
  EXPECT_EQ(images[0]["size"], json::parse("[28, 28]"));
  ASSERT_EQ(images[0]["pngs"].size(), 3u);
  std::set<std::string> different;
  for (const std::string png : images[0]["pngs"]) {
    EXPECT_THAT(png, StartsWith("89504e470d0a1a0a"));
    different.insert(png);
  }
  EXPECT_EQ(different.size(), 3u);
}

TEST_F(TensorBoard, SaysThatARunHasFailed) {
  std::vector<std::string> command = Train("runs/bad");
  command.insert(command.end(), {"--set", "optimizer.learning_rate=1e30"});
  ASSERT_NE(Run(command).exit_code, 0);
  const json shown = Show("runs");
  EXPECT_THAT(shown["texts"]["bad/tensorboard"]["error"][0][1].get<std::string>(),
              HasSubstr("the loss is NaN"));
  ASSERT_EQ(shown["session_groups"].size(), 1u);
  EXPECT_EQ(shown["session_groups"][0]["sessions"][0]["status"], "STATUS_FAILURE");
}

TEST_F(TensorBoard, WritesNothingWhereToldSo) {
  std::vector<std::string> command = Train("quiet");
  command.insert(command.end(), {"--set", "watch.tensorboard=false"});
  ASSERT_EQ(Run(command).exit_code, 0);
  EXPECT_FALSE(fs::exists(Path("quiet/tensorboard")));
}

TEST_F(TensorBoard, KeysThatMakeNoSenseAreRefused) {
  for (const auto& [assignment, complaint] :
       {std::pair{"watch.tensorboard=3", "expected true, false or a table"},
        {"watch.tensorboard.update_freq=0", "must be \"auto\", \"epoch\" or a number of steps"},
        {"watch.tensorboard.histogram_freq=-1", "must be at least 0"},
        {"watch.tensorboard.images=0", "must be a number of rows from 1 to 256"},
        {"watch.tensorboard.images=100000000", "must be a number of rows from 1 to 256"},
        {"watch.tensorboard.histograms=1", "histogram_freq"}}) {
    std::vector<std::string> command = Train("never");
    command.insert(command.end(), {"--set", assignment});
    const Outcome outcome = Run(command);
    EXPECT_EQ(outcome.exit_code, 2) << assignment;
    EXPECT_THAT(outcome.err, HasSubstr(complaint)) << assignment;
  }
}

// A place where nothing can be written, and a disk that is full: training is what it is without
// TensorBoard, and one message says so.
TEST_F(TensorBoard, DisturbsNoTraining) {
  std::vector<std::string> off = Train("off");
  off.insert(off.end(), {"--set", "watch.tensorboard=false"});
  ASSERT_EQ(Run(off).exit_code, 0);

  fs::create_directories(Path("blocked"));
  AtomicWriteFile(Path("blocked/tensorboard"), "a file where the folder should be");
  const Outcome blocked = Run(Train("blocked"));
  EXPECT_EQ(blocked.exit_code, 0) << blocked.err;
  const size_t said = blocked.err.find("TensorBoard: ");
  ASSERT_NE(said, std::string::npos) << blocked.err;
  EXPECT_EQ(blocked.err.find("TensorBoard: ", said + 1), std::string::npos) << blocked.err;
  EXPECT_THAT(blocked.err, HasSubstr("training goes on"));
  ExpectSame("off", "blocked");

  for (const std::string error : {"ENOSPC", "EIO", "EROFS"}) {
    // Only the event files are hit; "write": the files are there, and nothing goes into them.
    for (const std::string calls : {"", "write"}) {
      std::vector<std::string> plan = {"=" + error};
      if (!calls.empty()) plan.push_back("_CALLS=" + calls);
      const std::string folder = error + calls;
      const Outcome failed = Run(Train(folder), Faults(folder + "/tensorboard", plan));
      EXPECT_EQ(failed.exit_code, 0) << failed.err;
      const size_t first = failed.err.find("TensorBoard: ");
      ASSERT_NE(first, std::string::npos) << folder << ": " << failed.err;
      EXPECT_EQ(failed.err.find("TensorBoard: ", first + 1), std::string::npos) << failed.err;
      ExpectSame("off", folder);
    }
  }
}

TEST_F(TensorBoard, ANewRunInTheFolderOfAnotherBeginsAnew) {
  ASSERT_EQ(Run(Train("runs/again")).exit_code, 0);
  std::vector<std::string> command = Train("runs/again");
  command.insert(command.end(), {"--fresh", "--overwrite", "--set", "train.epochs=2"});
  const Outcome outcome = Run(command);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  ExpectRun(Show("runs"), "runs/again", "again/tensorboard");
}

}  // namespace
}  // namespace flatout
