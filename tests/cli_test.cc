// The flatout command as people run it: what it prints, what it leaves behind, how it ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/command.h"
#include "tests/summary.h"

namespace {

namespace fs = std::filesystem;
using flatout::testing::Outcome;
using flatout::testing::Process;
using flatout::testing::ReadAll;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

// A folder for the whole program, with the cache of compiled programs.
class Scratch : public ::testing::Environment {
 public:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flatout-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    path = name;
    setenv("FLATOUT_CACHE", (path / "cache").c_str(), 1);
    setenv("FLATOUT_DEPS", FLATOUT_DEPS_FOLDER, 0);
    unsetenv("PJRT_NAMES_AND_LIBRARY_PATHS");
  }
  void TearDown() override { fs::remove_all(path); }
  static inline fs::path path;
};
[[maybe_unused]] const auto* const scratch =
    ::testing::AddGlobalTestEnvironment(new Scratch);  // NOLINT: gtest owns it

std::vector<std::string> FilesIn(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

class Cli : public ::testing::Test {
 protected:
  Cli() {
    static int count = 0;
    folder_ = Scratch::path / fmt::format("test{}", count++);
    fs::create_directories(folder_);
  }
  Outcome Run(std::vector<std::string> arguments) const {
    return flatout::testing::RunFlatout(folder_, std::move(arguments));
  }
  // A run must fail: one message on standard error with this start, and this exit code.
  std::string Error(int exit_code, std::vector<std::string> arguments) const {
    const Outcome outcome = Run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("flatout: "));
    EXPECT_EQ(outcome.err.find('\n'), outcome.err.size() - 1) << "one line:\n" << outcome.err;
    EXPECT_FALSE(fs::exists(folder_ / "runs")) << "nothing half-written";
    return outcome.err;
  }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return name;
  }
  // A run file of these layers for images of idx files (see WriteIdx).
  std::string RunFile(const std::string& layers, const std::string& data = "",
                      const std::string& train = "") const {
    return Write("run.toml", "[model]\n" + layers +
                                 "\n[data]\nsource = \"idx\"\ntrain_images = \"images\"\n"
                                 "train_labels = \"labels\"\nclasses = 3\n" +
                                 data + "\n[train]\nglobal_batch = 4\n" + train + "\n");
  }
  static std::string Layers() {
    return "[[model.layers]]\nclass = \"Flatten\"\n[[model.layers]]\nclass = \"Rescaling\"\n"
           "scale = 0.01\n[[model.layers]]\nclass = \"Dense\"\nunits = 3\n";
  }
  static std::string IdxHeader(std::vector<int> dims) {
    std::string text = {0, 0, 8, static_cast<char>(dims.size())};
    for (int dim : dims) text += {0, 0, static_cast<char>(dim >> 8), static_cast<char>(dim)};
    return text;
  }
  // `records` images of 2 x 2 and their labels 0, 1, 2, 0, ...
  void WriteIdx(int records = 10) const {
    std::string images = IdxHeader({records, 2, 2}), labels = IdxHeader({records});
    for (int i = 0; i < records; ++i) {
      for (int p = 0; p < 4; ++p) images += static_cast<char>(i % 3 == p ? 200 : (7 * i + p) % 50);
      labels += static_cast<char>(i % 3);
    }
    Write("images", images);
    Write("labels", labels);
  }
  nlohmann::json Summary(const std::string& run) const {
    return flatout::testing::ReadSummary(folder_ / run);
  }

  fs::path folder_;
};

const std::string kMlp = FLATOUT_SOURCE_DIR "/examples/fashion_mnist/mlp.toml";

// ---- the command line ---------------------------------------------------------------------------

TEST_F(Cli, HelpOfEveryCommand) {
  const Outcome all = Run({"--help"});
  EXPECT_EQ(all.exit_code, 0);
  EXPECT_EQ(all.err, "");
  for (const char* command :
       {"train", "evaluate", "predict", "data", "devices", "models", "doctor"}) {
    EXPECT_THAT(all.out, HasSubstr(command));
    const Outcome help = Run({command, "--help"});
    EXPECT_EQ(help.exit_code, 0) << command;
    EXPECT_THAT(help.out, AllOf(HasSubstr(std::string("flatout ") + command), HasSubstr("--help")));
  }
  EXPECT_THAT(Run({"train", "--help"}).out,
              AllOf(HasSubstr("run_file"), HasSubstr("--set"), HasSubstr("--run-dir"),
                    HasSubstr("--overwrite"), HasSubstr("Exit codes: 0 done, 2 bad arguments")));
  EXPECT_THAT(Run({"--version"}).out, StartsWith("flatout "));
}

TEST_F(Cli, WrongCommandLinesNameTheNearest) {
  EXPECT_THAT(Error(2, {}), HasSubstr("see flatout --help"));
  EXPECT_THAT(Error(2, {"trian"}),
              AllOf(HasSubstr("no command \"trian\""), HasSubstr("did you mean \"train\"?"),
                    HasSubstr("doctor")));
  EXPECT_THAT(Error(2, {"zzz"}), AllOf(HasSubstr("\"zzz\""), Not(HasSubstr("did you mean"))));
  EXPECT_THAT(Error(2, {"train", "--rundir", "x", "run.toml"}),
              AllOf(HasSubstr("no option --rundir"), HasSubstr("\"--run-dir\""),
                    HasSubstr("flatout train --help")));
  EXPECT_THAT(Error(2, {"predict", "--limt=3", "x"}), HasSubstr("did you mean \"--limit\"?"));
  EXPECT_THAT(Error(2, {"train"}),
              AllOf(HasSubstr("run_file is required"), Not(HasSubstr("mean"))));
  EXPECT_THAT(Error(2, {"train", "a.toml", "b.toml"}), HasSubstr("b.toml"));
  EXPECT_THAT(Error(2, {"train", "a.toml", "--set"}), HasSubstr("--set"));
  EXPECT_THAT(Error(2, {"predict", "x", "--limit", "many"}), HasSubstr("many"));
  EXPECT_THAT(Error(2, {"evaluate", "x", "--split", "tset"}),
              AllOf(HasSubstr("tset"), HasSubstr("validation")));
  EXPECT_THAT(Error(2, {"--log", "loud", "devices"}), HasSubstr("\"loud\""));
}

TEST_F(Cli, ListsDevicesModelsAndLayers) {
  const Outcome devices = Run({"devices"});
  EXPECT_EQ(devices.exit_code, 0);
  EXPECT_THAT(devices.out, AllOf(HasSubstr("cpu"), HasSubstr("cores")));
  const Outcome models = Run({"models"});
  EXPECT_EQ(models.exit_code, 0);
  for (const char* name : {"mlp", "cnn", "resnet18", "transformer", "dlrm"}) {
    EXPECT_THAT(models.out, HasSubstr(name));
  }
  EXPECT_THAT(Run({"models", "--layers"}).out,
              AllOf(HasSubstr("Conv2D(filters, kernel_size"), HasSubstr("Adam"),
                    HasSubstr("CosineDecay"), HasSubstr("sparse_categorical_crossentropy")));
  const Outcome summary = Run({"models", kMlp, "--summary"});
  EXPECT_EQ(summary.exit_code, 0);
  EXPECT_THAT(summary.out, AllOf(HasSubstr("dense (Dense)"), HasSubstr("Total params: 669,706"),
                                 HasSubstr("FLOPs per sample")));
  EXPECT_THAT(Error(2, {"models", "--summary"}), HasSubstr("run file"));
}

TEST_F(Cli, DoctorSaysReady) {
  const Outcome outcome = Run({"doctor"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("plugin cpu"), HasSubstr("compiles and runs"),
                                 HasSubstr("compile cache"), HasSubstr("ready to train")));
}

// ---- run files ----------------------------------------------------------------------------------

TEST_F(Cli, RunFilesThatCannotBeRead) {
  EXPECT_THAT(Error(2, {"train", "none.toml"}),
              AllOf(HasSubstr("none.toml"), HasSubstr("No such file")));
  EXPECT_THAT(Error(2, {"train", "."}), HasSubstr("directory"));
  Write("broken.toml", "[model]\nbuiltin = \"mlp\n");
  const Outcome broken = Run({"train", "broken.toml"});  // shows the line, so more than one
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_THAT(broken.err,
              AllOf(StartsWith("flatout: broken.toml:2:"), HasSubstr("builtin = \"mlp")));
  Write("empty.toml", "");
  EXPECT_THAT(Error(2, {"train", "empty.toml"}),
              AllOf(HasSubstr("empty.toml"), HasSubstr("[data]")));
  Write("nomodel.toml", "[data]\nsource = \"idx\"\n");
  EXPECT_THAT(Error(2, {"train", "nomodel.toml"}), HasSubstr("[model]"));
}

TEST_F(Cli, UnknownKeysHavePlaceAndNearestName) {
  WriteIdx();
  const auto error = [&](const std::string& layers, const std::string& data,
                         const std::string& train) {
    return Error(2, {"train", RunFile(layers, data, train)});
  };
  EXPECT_THAT(error(Layers(), "", "epoch = 3"),
              AllOf(HasSubstr("run.toml:19:"), HasSubstr("unknown key \"epoch\""),
                    HasSubstr("did you mean \"epochs\"?")));
  EXPECT_THAT(error(Layers(), "suffle = true", ""),
              AllOf(HasSubstr("run.toml:16:"), HasSubstr("did you mean \"shuffle\"?")));
  EXPECT_THAT(error(Layers(), "", "[optimiser]\nclass = \"Adam\""),
              AllOf(HasSubstr("\"optimiser\""), HasSubstr("did you mean \"optimizer\"?")));
  EXPECT_THAT(
      error("[[model.layers]]\nclass = \"Dnse\"\nunits = 3", "", ""),
      AllOf(HasSubstr("run.toml:3:"), HasSubstr("\"Dnse\""), HasSubstr("did you mean \"Dense\"?")));
  EXPECT_THAT(error("[[model.layers]]\nclass = \"Dense\"\nunit = 3", "", ""),
              AllOf(HasSubstr("run.toml:"), HasSubstr("\"units\"")));
  EXPECT_THAT(error("[[model.layers]]\nclass = \"Dense\"\nunits = 3\nactivaton = \"relu\"", "", ""),
              AllOf(HasSubstr("run.toml:5:"), HasSubstr("did you mean \"activation\"?")));
  EXPECT_THAT(
      error("[[model.layers]]\nclass = \"Dense\"\nunits = 3\nactivation = \"rleu\"", "", ""),
      AllOf(HasSubstr("\"rleu\""), HasSubstr("relu")));
  EXPECT_THAT(error("builtin = \"cn\"", "", ""), HasSubstr("did you mean \"cnn\"?"));
  EXPECT_THAT(error(Layers(), "", "metrics = [\"acuracy\"]"), HasSubstr("\"accuracy\""));
  EXPECT_THAT(error(Layers(), "", "loss = \"MeanSquaredEror\""),
              HasSubstr("did you mean \"mean_squared_error\"?"));
  EXPECT_THAT(error(Layers(), "", "[optimizer]\nclass = \"Adm\""), HasSubstr("\"Adam\""));
  EXPECT_THAT(error(Layers(), "", "[optimizer]\nclass = \"Adam\"\nlr = 0.1"),
              AllOf(HasSubstr("unknown key \"lr\""), HasSubstr("learning_rate")));
  Write("source.toml", "[model]\nbuiltin = \"mlp\"\n[data]\nsource = \"fashion\"\n");
  EXPECT_THAT(Error(2, {"train", "source.toml"}),
              AllOf(HasSubstr("source.toml:4:"), HasSubstr("fashion_mnist")));
}

TEST_F(Cli, WrongTypesAndSizesHaveTheirPlace) {
  WriteIdx();
  const auto error = [&](const std::string& layers, const std::string& train) {
    return Error(2, {"train", RunFile(layers, "", train)});
  };
  EXPECT_THAT(error(Layers(), "epochs = \"three\""),
              AllOf(HasSubstr("run.toml:19:"), HasSubstr("train.epochs"),
                    HasSubstr("expected an integer"), HasSubstr("\"three\"")));
  EXPECT_THAT(error(Layers(), "epochs = 2.5"), HasSubstr("2.5"));
  EXPECT_THAT(error(Layers(), "epochs = 0"), AllOf(HasSubstr("at least 1"), HasSubstr("found 0")));
  EXPECT_THAT(error(Layers(), "steps_per_launch = -3"), HasSubstr("-3"));
  for (const char* layer :
       {"class = \"Dense\"\nunits = 0", "class = \"Dense\"\nunits = -4",
        "class = \"Conv2D\"\nfilters = 4\nkernel_size = 0",
        "class = \"Conv2D\"\nfilters = -1\nkernel_size = 3",
        "class = \"Conv2D\"\nfilters = 4\nkernel_size = 1\nstrides = 0",
        "class = \"MaxPooling2D\"\npool_size = 0", "class = \"Dropout\"\nrate = 1.5"}) {
    SCOPED_TRACE(layer);
    const std::string message =
        error(std::string("[[model.layers]]\n") + layer + "\n" + Layers(), "");
    EXPECT_THAT(message, HasSubstr("run.toml:"));
    EXPECT_THAT(message, ::testing::ContainsRegex("positive|at least|between|from|found"));
  }
  EXPECT_THAT(error(Layers(), "[optimizer]\nclass = \"Adam\"\nlearning_rate = \"fast\""),
              HasSubstr("fast"));
}

TEST_F(Cli, ShapesThatDoNotFitNameTheLayerAndBothShapes) {
  WriteIdx();
  const auto error = [&](const std::string& layers) {
    return Error(2, {"train", RunFile(layers)});
  };
  EXPECT_THAT(
      error("[[model.layers]]\nclass = \"Conv2D\"\nfilters = 4\nkernel_size = 3\n" + Layers()),
      AllOf(HasSubstr("conv2d"), HasSubstr("[None,2,2,1]"), HasSubstr("3")));
  EXPECT_THAT(error("[[model.layers]]\nclass = \"Reshape\"\ntarget_shape = [3, 2]\n" + Layers()),
              AllOf(HasSubstr("reshape"), HasSubstr("[None,2,2,1]"), HasSubstr("3,2")));
  EXPECT_THAT(error("[[model.layers]]\nclass = \"Flatten\"\n[[model.layers]]\nclass = \"Conv2D\"\n"
                    "filters = 4\nkernel_size = 1\n"),
              AllOf(HasSubstr("conv2d"), HasSubstr("[None,4]")));
  EXPECT_THAT(
      error("[[model.layers]]\nclass = \"Flatten\"\n[[model.layers]]\nclass = \"Rescaling\"\n"
            "scale = 0.1\nname = \"x\"\n[[model.layers]]\nclass = \"Dense\"\nunits = 3\nname = "
            "\"d\"\n"
            "[[model.layers]]\nclass = \"Add\"\ninputs = [\"x\", \"d\"]\n"),
      AllOf(HasSubstr("add"), HasSubstr("[None,4]"), HasSubstr("[None,3]")));
  // Three classes, two outputs.
  EXPECT_THAT(
      error("[[model.layers]]\nclass = \"Flatten\"\n[[model.layers]]\nclass = \"Rescaling\"\n"
            "scale = 0.1\n[[model.layers]]\nclass = \"Dense\"\nunits = 2\n"),
      AllOf(HasSubstr("3 classes (0 to 2)"), HasSubstr("f32[2]")));
  // No layer makes the images one output per record.
  EXPECT_THAT(error("[[model.layers]]\nclass = \"Rescaling\"\nscale = 0.1\n"), HasSubstr("["));
}

TEST_F(Cli, SetIsCheckedLikeTheFile) {
  EXPECT_THAT(Error(2, {"train", kMlp, "--set", "train.epoch=3"}),
              AllOf(HasSubstr("--set: train.epoch"), HasSubstr("did you mean \"epochs\"?")));
  EXPECT_THAT(Error(2, {"train", kMlp, "--set", "train.epochs"}), HasSubstr("train.epochs"));
  EXPECT_THAT(Error(2, {"train", kMlp, "--set", "train.epochs=many"}), HasSubstr("\"many\""));
}

// ---- data ---------------------------------------------------------------------------------------

TEST_F(Cli, BadDataHasItsOwnExitCode) {
  const auto error = [&] { return Error(3, {"train", RunFile(Layers())}); };
  EXPECT_THAT(error(), AllOf(HasSubstr("images"), HasSubstr("no such file")));
  WriteIdx();
  fs::remove(folder_ / "labels");
  EXPECT_THAT(error(), AllOf(HasSubstr("labels"), HasSubstr("no such file")));
  WriteIdx();
  const std::string images = ReadAll(folder_ / "images");
  Write("images", images.substr(0, images.size() - 3));
  EXPECT_THAT(error(), AllOf(HasSubstr("images"), HasSubstr("56"), HasSubstr("53")));
  Write("images", images.substr(0, 9));
  EXPECT_THAT(error(), HasSubstr("images"));
  Write("images", "");
  EXPECT_THAT(error(), HasSubstr("images"));
  Write("images", images + "x");
  EXPECT_THAT(error(), HasSubstr("images"));
  Write("images", "PNG is something else");
  EXPECT_THAT(error(), AllOf(HasSubstr("images"), HasSubstr("idx")));
  Write("images", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10) + images);
  EXPECT_THAT(error(), AllOf(HasSubstr("images"), HasSubstr("gzip")));
  WriteIdx();
  Write("labels", IdxHeader({9}) + std::string(9, '\0'));
  EXPECT_THAT(error(), AllOf(HasSubstr("10"), HasSubstr("9"), HasSubstr("labels")));
  Write("labels", IdxHeader({10}) + std::string(7, '\1') + "\3" + std::string(2, '\1'));
  EXPECT_THAT(error(), AllOf(HasSubstr("labels"), HasSubstr("7"), HasSubstr("3")));
  // The two files swapped.
  WriteIdx();
  fs::rename(folder_ / "images", folder_ / "other");
  fs::rename(folder_ / "labels", folder_ / "images");
  fs::rename(folder_ / "other", folder_ / "labels");
  EXPECT_THAT(error(), HasSubstr("labels"));
  EXPECT_THAT(Error(3, {"train", kMlp, "--set", "data.path=nowhere"}),
              AllOf(HasSubstr("nowhere"), HasSubstr("dataset-fashion-mnist")));
}

TEST_F(Cli, ACutGzipFileOfTheRealDataIsBadData) {
  fs::create_directories(folder_ / "data");
  const fs::path real = "/usr/share/datasets/fashion-mnist";
  ASSERT_TRUE(fs::exists(real)) << "install Debian's package dataset-fashion-mnist";
  for (const auto& entry : fs::directory_iterator(real)) {
    fs::copy(entry.path(), folder_ / "data" / entry.path().filename());
  }
  const fs::path labels = folder_ / "data" / "train-labels-idx1-ubyte.gz";
  fs::resize_file(labels, fs::file_size(labels) / 2);
  EXPECT_THAT(Error(3, {"train", kMlp, "--set", "data.path=data"}),
              AllOf(HasSubstr("train-labels-idx1-ubyte.gz")));
}

// ---- devices and plugins ------------------------------------------------------------------------

TEST_F(Cli, DevicesThatAreNotThere) {
  const auto error = [&](const std::string& assignment) {
    return Error(2, {"train", kMlp, "--set", assignment});
  };
  EXPECT_THAT(error("train.device=tpu"),
              AllOf(HasSubstr("no plugin \"tpu\""), HasSubstr("cpu"), HasSubstr("cuda")));
  EXPECT_THAT(error("train.device=/no/plugin.so"),
              AllOf(HasSubstr("/no/plugin.so"), HasSubstr("no such file")));
  EXPECT_THAT(error("train.device=cpu:one"), HasSubstr("cuda:0"));
  EXPECT_THAT(error("train.devices=0"), HasSubstr("\"all\""));
  EXPECT_THAT(error("train.devices=100000"), HasSubstr("100000"));
  EXPECT_THAT(error("train.devices=3"), AllOf(HasSubstr("128"), HasSubstr("3 devices")));
}

TEST_F(Cli, PluginsThatCannotBeUsed) {
  const auto error = [&](const std::string& plugin) {
    return Error(2, {"train", kMlp, "--set", "train.device=" + plugin});
  };
  Write("text.so", "this is no library");
  EXPECT_THAT(error((folder_ / "text.so").string()), HasSubstr("text.so"));
  EXPECT_THAT(error(FAKES "/fake_no_api.so"),
              AllOf(HasSubstr("fake_no_api.so"), HasSubstr("PJRT")));
  // Of another major version, and too old: both versions are named.
  EXPECT_THAT(error(FAKES "/fake_major1.so"), AllOf(HasSubstr("1.0"), HasSubstr("0.")));
  EXPECT_THAT(error(FAKES "/fake_old.so"), HasSubstr("0.28"));
}

// ---- a run and what comes after it --------------------------------------------------------------

std::vector<std::string> SmallRun(const std::string& run_dir, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {
      "train", kMlp, "--set", "data.limit=1000", "--set", "train.epochs=2", "--run-dir", run_dir};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_F(Cli, TrainEvaluatePredict) {
  const Outcome train = Run(SmallRun("run"));
  ASSERT_EQ(train.exit_code, 0) << train.err;
  EXPECT_EQ(train.err, "");
  EXPECT_THAT(
      train.out,
      AllOf(HasSubstr("run mlp on 1 x cpu"), HasSubstr("669,706 parameters"),
            HasSubstr("1,000 train, 1,000 validation, 1,000 test rows"),
            HasSubstr("2 epochs of 8 steps"), HasSubstr("epoch 1/2 in"), HasSubstr("epoch 2/2 in"),
            HasSubstr("val_accuracy"), HasSubstr("test on 1,000 rows"),
            HasSubstr("Is the device running full?"), HasSubstr("full: "), HasSubstr("limit: "),
            HasSubstr("MFU: not available"), HasSubstr("kept in run:")));
  // Not a terminal: no bar, no colours.
  EXPECT_THAT(train.out, AllOf(Not(HasSubstr("\033")), Not(HasSubstr("\r"))));
  EXPECT_THAT(FilesIn(folder_ / "run"),
              UnorderedElementsAre("run.toml", "metrics.jsonl", "summary.json", "facts.json",
                                   "run.log", "tensorboard", "weights.safetensors",
                                   "best.safetensors", "checkpoints"));
  const nlohmann::json summary = Summary("run");
  EXPECT_EQ(summary["status"], "done");
  EXPECT_EQ(summary["exit_code"], 0);
  EXPECT_EQ(summary["steps"], 16);
  const double accuracy = summary["metrics"]["test"]["accuracy"];
  EXPECT_GT(accuracy, 0.5);

  // The run folder, explained; of a run that was killed before it wrote its summary, too.
  Outcome doctor = Run({"doctor", "run"});
  ASSERT_EQ(doctor.exit_code, 0) << doctor.err;
  EXPECT_THAT(doctor.out,
              AllOf(HasSubstr("The run in run is done, after step 16 of 16"),
                    HasSubstr("The newest checkpoint is of step 16"), HasSubstr("full: "),
                    HasSubstr("limit: "), Not(HasSubstr("note:"))));
  std::filesystem::rename(folder_ / "run/summary.json", folder_ / "summary.json");
  doctor = Run({"doctor", "run"});
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("ended without a word"), HasSubstr("full: ")));
  std::filesystem::rename(folder_ / "summary.json", folder_ / "run/summary.json");
  EXPECT_EQ(Run({"doctor", "nowhere"}).exit_code, 2);

  // The last weights score what training's end said.
  const Outcome evaluate = Run({"evaluate", "run", "--weights", "last", "--json"});
  ASSERT_EQ(evaluate.exit_code, 0) << evaluate.err;
  const auto scores = nlohmann::json::parse(evaluate.out);
  EXPECT_EQ(scores["rows"], 1000);
  EXPECT_EQ(scores["metrics"]["accuracy"], accuracy);
  EXPECT_EQ(scores["metrics"]["loss"], summary["metrics"]["test"]["loss"]);
  const Outcome validation = Run({"evaluate", "run", "--split", "validation"});
  EXPECT_EQ(validation.exit_code, 0);
  EXPECT_THAT(validation.out, AllOf(HasSubstr("validation on 1,000 rows"), HasSubstr("accuracy"),
                                    HasSubstr("best.safetensors")));
  // From the run file and the weights alone.
  const Outcome apart =
      Run({"evaluate", "run/run.toml", "--weights", "run/weights.safetensors", "--json"});
  EXPECT_EQ(nlohmann::json::parse(apart.out)["metrics"], scores["metrics"]);

  const Outcome predict = Run({"predict", "run", "--limit", "30", "--output", "p.csv"});
  ASSERT_EQ(predict.exit_code, 0) << predict.err;
  EXPECT_THAT(predict.out, AllOf(HasSubstr("30 predictions"), HasSubstr("p.csv")));
  std::istringstream csv(ReadAll(folder_ / "p.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_THAT(line, StartsWith("record,output_0,"));
  int64_t lines = 0;
  while (std::getline(csv, line)) {
    EXPECT_THAT(line, StartsWith(fmt::format("{},", lines)));
    EXPECT_EQ(std::count(line.begin(), line.end(), ','), 10);
    ++lines;
  }
  EXPECT_EQ(lines, 30);
  EXPECT_EQ(Run({"predict", "run", "--output", "p.safetensors"}).exit_code, 0);
  EXPECT_GT(fs::file_size(folder_ / "p.safetensors"), 1000u * 10 * 4);

  // What cannot work is said.
  EXPECT_THAT(Error(2, {"predict", "run", "--output", "p.json"}), HasSubstr("p.json"));
  EXPECT_THAT(Error(2, {"predict", "run", "--limit", "0"}), HasSubstr("at least 1"));
  EXPECT_THAT(Error(2, {"predict", "run", "--output", "no/such/p.csv"}),
              HasSubstr("no/such/p.csv"));
  EXPECT_THAT(Error(2, {"evaluate", "run", "--weights", "none.safetensors"}),
              HasSubstr("none.safetensors"));
  EXPECT_THAT(Error(2, {"evaluate", "run/run.toml"}), HasSubstr("--weights"));
  EXPECT_THAT(Error(2, {"evaluate", "."}), HasSubstr("run.toml"));
  EXPECT_THAT(Error(2, {"evaluate", "run", "--set", "model.builtin=cnn"}),
              AllOf(HasSubstr("does not fit the model"), HasSubstr("missing"),
                    HasSubstr("is not in the model")));
  const std::string weights = ReadAll(folder_ / "run" / "weights.safetensors");
  Write("cut.safetensors", weights.substr(0, weights.size() / 2));
  EXPECT_THAT(Error(3, {"evaluate", "run", "--weights", "cut.safetensors"}),
              AllOf(HasSubstr("cut.safetensors"), HasSubstr("cut")));
}

TEST_F(Cli, ARunIsNotOverwrittenUnasked) {
  ASSERT_EQ(Run(SmallRun("run")).exit_code, 0);
  const std::string summary = ReadAll(folder_ / "run" / "summary.json");
  EXPECT_THAT(Error(2, SmallRun("run", {"--fresh"})),
              AllOf(HasSubstr("run holds a run already"), HasSubstr("--overwrite")));
  // The same again has nothing left to do; another run file is another run.
  const Outcome done = Run(SmallRun("run"));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("the run in run is done"));
  EXPECT_THAT(Error(2, SmallRun("run", {"--set", "train.seed=7"})),
              AllOf(HasSubstr("train.seed: 7, was 0"), HasSubstr("--fresh --overwrite")));
  EXPECT_THAT(Error(2, SmallRun("run", {"--set", "train.epochs=9", "--weights",
                                        "run/weights.safetensors"})),
              HasSubstr("--weights is for new runs"));
  EXPECT_EQ(ReadAll(folder_ / "run" / "summary.json"), summary);
  const Outcome again = Run(SmallRun("run", {"--overwrite", "--set", "train.epochs=1"}));
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(Summary("run")["epochs"], 1);
  // Everything was in the compile cache.
  EXPECT_EQ(Summary("run")["compiles"], 0);
}

TEST_F(Cli, RunFoldersGetNewNames) {
  WriteIdx();
  RunFile(Layers());
  ASSERT_EQ(Run({"train", "run.toml"}).exit_code, 0);
  ASSERT_EQ(Run({"train", "run.toml"}).exit_code, 0);
  EXPECT_THAT(FilesIn(folder_ / "runs"), UnorderedElementsAre("run", "run-2"));
}

TEST_F(Cli, TheSameSeedGivesTheSameFile) {
  WriteIdx();
  RunFile(Layers(), "", "epochs = 3");
  for (const char* name : {"a", "b"}) {
    ASSERT_EQ(Run({"train", "run.toml", "--run-dir", name}).exit_code, 0);
  }
  ASSERT_EQ(Run({"train", "run.toml", "--run-dir", "c", "--set", "train.seed=5"}).exit_code, 0);
  const auto weights = [&](const char* name) {
    return ReadAll(folder_ / name / "weights.safetensors");
  };
  EXPECT_EQ(weights("a"), weights("b"));
  EXPECT_NE(weights("a"), weights("c"));
}

TEST_F(Cli, TwoDevicesTrain) {
  const Outcome two = Run(SmallRun("two", {"--set", "train.devices=2"}));
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_THAT(two.out, AllOf(HasSubstr("2 x cpu"), HasSubstr("global batch 128 = 2 devices x 64")));
  ASSERT_EQ(Run(SmallRun("one")).exit_code, 0);
  EXPECT_NEAR(Summary("two")["metrics"]["test"]["loss"], Summary("one")["metrics"]["test"]["loss"],
              1e-3);
  EXPECT_TRUE(Summary("two")["ledger"]["communication"].is_null());
}

TEST_F(Cli, ALossThatIsNotFiniteEndsTheRun) {
  const Outcome outcome = Run(
      SmallRun("nan", {"--set", "optimizer.class=SGD", "--set", "optimizer.learning_rate=1e30"}));
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, AllOf(StartsWith("flatout: "), HasSubstr("at step 2"),
                                 HasSubstr("layer dense"), HasSubstr("nan/weights.safetensors")));
  EXPECT_EQ(Summary("nan")["status"], "failed");
  EXPECT_EQ(Summary("nan")["exit_code"], 2);
  EXPECT_EQ(Summary("nan")["steps"], 1);
}

// ---- memory and precision -----------------------------------------------------------------------

TEST_F(Cli, NonsenseAboutMemoryAndPrecisionHasItsPlace) {
  const auto error = [&](const std::string& assignment, int exit_code = 2) {
    return Error(exit_code, {"train", kMlp, "--set", assignment});
  };
  EXPECT_THAT(error("train.micro_batch=0"), HasSubstr("train.micro_batch"));
  EXPECT_THAT(error("train.micro_batch=-3"), HasSubstr("-3"));
  EXPECT_THAT(error("train.micro_batch=129"), HasSubstr("train.global_batch = 128"));
  EXPECT_THAT(error("train.micro_batch=half"), HasSubstr("\"auto\""));
  EXPECT_THAT(error("train.recompute=blcks"), HasSubstr("blocks"));
  EXPECT_THAT(error("train.loss_scale=-1"), HasSubstr("train.loss_scale"));
  EXPECT_THAT(error("train.loss_scale=dynamite"), HasSubstr("dynamic"));
  EXPECT_THAT(error("train.precision=mixed_bfloat"), HasSubstr("mixed_bfloat16"));
  EXPECT_THAT(error("train.memory=lots"), HasSubstr("train.memory"));
  EXPECT_THAT(error("train.memory=2000000GiB"), HasSubstr("train.memory"));
  // Less than the weights: said before anything is taken, with the code for lack of memory.
  EXPECT_THAT(error("train.memory=1MiB", 4),
              AllOf(HasSubstr("the weights and the optimizer's state"), HasSubstr("1.00 MiB"),
                    HasSubstr("dense/kernel")));
}

TEST_F(Cli, TheStartSaysWhatMemoryIsPlannedAndHowTheBatchIsSplit) {
  const Outcome whole = Run(SmallRun("whole"));
  ASSERT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_THAT(whole.out, AllOf(HasSubstr("memory: "), HasSubstr("the whole batch of 128 at once"),
                               HasSubstr("memory: planned ")));
  const int64_t planned = Summary("whole")["memory"]["planned_bytes"];
  const int64_t batch = Summary("whole")["memory"]["batch"];
  const Outcome pieces = Run(SmallRun("pieces", {"--set", "train.micro_batch=50"}));
  ASSERT_EQ(pieces.exit_code, 0) << pieces.err;
  EXPECT_THAT(pieces.out, HasSubstr("micro-batch 50 x 3 (batch 128)"));
  EXPECT_EQ(Summary("pieces")["memory"]["micro_batch"], 50);
  EXPECT_EQ(Summary("pieces")["memory"]["micro_batches"], 3);
  EXPECT_NEAR(Summary("pieces")["metrics"]["test"]["loss"],
              Summary("whole")["metrics"]["test"]["loss"], 1e-3);
  // Too little for anything but the weights: what it would take.
  const Outcome none =
      Run(SmallRun("none", {"--set", fmt::format("train.memory={}B", planned - batch - 1000000)}));
  EXPECT_EQ(none.exit_code, 4) << none.err;
  EXPECT_THAT(none.err, AllOf(StartsWith("flatout: "), HasSubstr("nothing has been run"),
                              HasSubstr("dense"), HasSubstr("even one row")));
}

TEST_F(Cli, ALossScaleGoesOnFromAFileOfWeights) {
  const std::vector<std::string> half = {"--set", "train.precision=mixed_float16", "--set",
                                         "train.loss_scale={initial=256, growth_steps=10}"};
  const Outcome first = Run(SmallRun("first", half));
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.out, AllOf(HasSubstr("does not pay on CPU devices"),
                               HasSubstr("loss scale: 512, no step skipped")));
  EXPECT_EQ(Summary("first")["loss_scale"], 512);
  EXPECT_EQ(Summary("first")["skipped_steps"], 0);
  std::vector<std::string> more = half;
  more.insert(more.end(), {"--weights", "first/weights.safetensors"});
  const Outcome second = Run(SmallRun("second", more));
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(Summary("second")["loss_scale"], 2048) << "6 + 16 good steps: twice more";
  EXPECT_LT(Summary("second")["metrics"]["train"]["loss"],
            Summary("first")["metrics"]["train"]["loss"]);
  // The weights are those of any precision.
  const Outcome evaluate = Run(
      {"evaluate", "second", "--weights", "last", "--json", "--set", "train.precision=float32"});
  ASSERT_EQ(evaluate.exit_code, 0) << evaluate.err;
  EXPECT_NEAR(nlohmann::json::parse(evaluate.out)["metrics"]["loss"].get<double>(),
              Summary("second")["metrics"]["test"]["loss"].get<double>(), 0.02);
  EXPECT_THAT(Error(2, {"train", kMlp, "--weights", "none.safetensors"}),
              HasSubstr("none.safetensors"));
}

TEST_F(Cli, CheckFiniteLooksIntoEveryStep) {
  WriteIdx();
  RunFile(Layers(), "", "epochs = 2");
  const Outcome plain = Run({"train", "run.toml", "--run-dir", "plain"});
  const Outcome checked = Run({"train", "run.toml", "--check-finite", "--run-dir", "checked"});
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(ReadAll(folder_ / "plain" / "weights.safetensors"),
            ReadAll(folder_ / "checked" / "weights.safetensors"));
  const Outcome bad = Run({"train", "run.toml", "--check-finite", "--run-dir", "bad", "--set",
                           "optimizer={class=\"SGD\", learning_rate=1e38}"});
  EXPECT_EQ(bad.exit_code, 2) << bad.err;
  EXPECT_THAT(bad.err,
              AllOf(HasSubstr("not finite at step "), HasSubstr("the output of layer dense")));
}

TEST_F(Cli, CtrlCKeepsWhatWasLearned) {
  for (int signal : {SIGINT, SIGTERM}) {
    SCOPED_TRACE(signal);
    const std::string run = fmt::format("run{}", signal);
    Process process(folder_, {"train", kMlp, "--set", "data.limit=1000", "--set",
                              "train.epochs=1000000", "--run-dir", run});
    ASSERT_TRUE(process.WaitFor("epoch 2/"));
    process.Signal(signal);
    const Outcome outcome = process.Wait();
    EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("stopping"));
    EXPECT_THAT(outcome.out,
                AllOf(HasSubstr("the same command goes on from there"), HasSubstr("full: ")));
    const nlohmann::json summary = Summary(run);
    EXPECT_EQ(summary["status"], "stopped");
    EXPECT_EQ(summary["exit_code"], 6);
    EXPECT_GE(summary["steps"], 16);
    const Outcome evaluate = Run({"evaluate", run, "--weights", "last", "--json"});
    EXPECT_EQ(evaluate.exit_code, 0) << evaluate.err;
    EXPECT_GT(nlohmann::json::parse(evaluate.out)["metrics"]["accuracy"], 0.4);
  }
  // The folder can be used again.
  EXPECT_EQ(Run(SmallRun("run2", {"--overwrite"})).exit_code, 0);
}

// Asked to stop while it compiles, with nothing in the cache: the flag is not forgotten.
TEST_F(Cli, AStopWhileItCompilesCounts) {
  Process process(
      folder_, {"train", kMlp, "--set", "data.limit=1000", "--set", "train.epochs=1000000", "--set",
                "train.global_batch=50", "--run-dir", "run"});
  while (!fs::exists(folder_ / "run" / "run.toml")) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process.Signal(SIGTERM);
  const Outcome outcome = process.Wait();
  EXPECT_EQ(outcome.exit_code, 6) << outcome.err;
  EXPECT_EQ(Summary("run")["status"], "stopped");
  EXPECT_TRUE(fs::exists(folder_ / "run" / "weights.safetensors"));
}

TEST_F(Cli, AFolderThatCannotBeMadeIsAnError) {
  WriteIdx();
  RunFile(Layers());
  EXPECT_THAT(Error(2, {"train", "run.toml", "--run-dir", "images/run"}),
              AllOf(HasSubstr("images/run"), HasSubstr("Not a directory")));
}

TEST_F(Cli, StandardOutputThatIsFullIsAnError) {
  WriteIdx();
  RunFile(Layers());
  const std::string command =
      fmt::format("cd '{}' && '{}' models > /dev/full 2> err", folder_.string(), FLATOUT_BINARY);
  const int status = std::system(command.c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_THAT(ReadAll(folder_ / "err"), HasSubstr("standard output"));
}

}  // namespace
