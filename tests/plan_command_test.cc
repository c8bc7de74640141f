// flatout plan as people run it: its table and JSON, what it refuses, and its cache.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr int kUsage = 2, kOutOfMemory = 4;

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Outcome {
  int exit_code = -1;  // -signal when a signal ended it
  std::string out, err;
  json Json() const { return json::parse(out); }
};

// Each test has a folder of its own with run files; the cache of compiled programs is shared.
class PlanCommand : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string name = (fs::temp_directory_path() / "flatout-plan-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
    setenv("FLATOUT_CACHE", (root_ / "cache").c_str(), 1);
    setenv("FLATOUT_DEPS", FLATOUT_DEPS_FOLDER, 0);
    unsetenv("PJRT_NAMES_AND_LIBRARY_PATHS");
  }
  static void TearDownTestSuite() { fs::remove_all(root_); }

  PlanCommand() {
    static int count = 0;
    folder_ = root_ / fmt::format("test{}", count++);
    fs::create_directories(folder_);
    // A run whose data is elsewhere.
    Write("run.toml", R"(
[model]
builtin = "mlp"
units = 64

[train]
epochs = 3
global_batch = 128
)");
  }

  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }

  // `flatout plan` with these arguments. `environment`: variables for it alone. `stack`: bytes of
  // each thread's stack, where not the system's.
  Outcome Plan(std::vector<std::string> arguments,
               const std::map<std::string, std::string>& environment = {},
               std::optional<rlim_t> stack = std::nullopt) const {
    arguments.insert(arguments.begin(), "plan");
    return Flatout(std::move(arguments), environment, stack);
  }

  Outcome Flatout(std::vector<std::string> arguments,
                  const std::map<std::string, std::string>& environment = {},
                  std::optional<rlim_t> stack = std::nullopt) const {
    arguments.insert(arguments.begin(), FLATOUT_BINARY);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    const std::string out = folder_ / "out", err = folder_ / "err";
    std::vector<std::string> variables;
    for (char** at = environ; *at != nullptr; ++at) {
      const std::string variable = *at;
      if (!environment.contains(variable.substr(0, variable.find('=')))) {
        variables.push_back(variable);
      }
    }
    for (const auto& [name, value] : environment) variables.push_back(name + "=" + value);
    std::vector<char*> envp;
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
      const int out_file = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      const int err_file = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
      if (chdir(folder_.c_str()) != 0 || dup2(out_file, 1) < 0 || dup2(err_file, 2) < 0) _exit(126);
      if (stack) {
        rlimit limit = {};
        getrlimit(RLIMIT_STACK, &limit);
        limit.rlim_cur = *stack;
        if (setrlimit(RLIMIT_STACK, &limit) != 0) _exit(126);
      }
      execve(argv[0], argv.data(), envp.data());
      _exit(127);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), ReadFile(out),
            ReadFile(err)};
  }

  // Of run.toml, with its fields, without the compiler.
  Outcome Estimate(std::vector<std::string> arguments, const std::string& run = "run.toml") const {
    arguments.insert(arguments.begin(), {run, "--no-compile", "--field", "image=u8[28,28,1]",
                                         "--field", "label=i32", "--records", "60000"});
    return Plan(std::move(arguments));
  }

  static inline fs::path root_;
  fs::path folder_;
};

// ---- what it says ----

TEST_F(PlanCommand, ATableOfCardsPoliciesAndBatches) {
  const Outcome done = Estimate({"--gpu", "a100-80,h100,t4", "--gpus", "2", "--price", "2.5 EUR"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  for (const char* text : {"a100-80", "h100", "t4", "float32", "mixed_bfloat16", "mixed_float16",
                           "fits", "samples/s", "MFU", "cost of an epoch", "EUR", "Cheapest"}) {
    EXPECT_THAT(done.out, HasSubstr(text));
  }
  EXPECT_THAT(done.out, HasSubstr("flatout train run.toml"));
  EXPECT_THAT(done.out, HasSubstr("--set train.devices=2"));
  EXPECT_THAT(done.out, HasSubstr("[train]\n    device = \"cuda\"\n    devices = 2\n"));
  // T4 has no bf16, the others do.
  EXPECT_THAT(done.out, Not(::testing::ContainsRegex("\nt4 +2 +mixed_bfloat16")));
  EXPECT_THAT(done.out, Not(::testing::ContainsRegex("\nh100 +2 +mixed_float16")));
}

TEST_F(PlanCommand, JsonHasEveryFigureWithItsRange) {
  const Outcome done =
      Estimate({"--gpu", "h100", "--price", "h100=2.5", "--precision", "float32", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json plan = done.Json();
  EXPECT_EQ(plan["records"], 60000);
  EXPECT_EQ(plan["epochs"], 3);
  ASSERT_EQ(plan["rows"].size(), 2u) << "the run's batch and four times it";
  for (const json& row : plan["rows"]) {
    EXPECT_EQ(row["card"], "h100");
    EXPECT_TRUE(row["fits"].get<bool>());
    EXPECT_EQ(row["memory"]["by"], "estimate");
    EXPECT_GT(row["memory"]["bytes"], 0);
    EXPECT_GT(row["memory"]["limit"], 70e9);
    for (const json& range : {row["step_seconds"], row["samples_per_second"], row["mfu"],
                              row["epoch"]["hours"], row["run"]["money"]}) {
      EXPECT_GT(range["low"], 0);
      EXPECT_LT(range["low"], range["likely"]);
      EXPECT_LT(range["likely"], range["high"]);
    }
    EXPECT_LE(row["mfu"]["high"], 1);
    double parts = 0;
    for (const auto& [name, seconds] : row["parts_of_step"].items()) parts += seconds.get<double>();
    EXPECT_NEAR(parts, row["step_seconds"]["likely"].get<double>(), 1e-9);
    const double batch = row["global_batch"];
    const double steps = std::ceil(60000 / batch);
    EXPECT_NEAR(row["epoch"]["hours"]["likely"].get<double>() * 3600,
                steps * row["step_seconds"]["likely"].get<double>(), 1e-6);
    EXPECT_NEAR(row["run"]["money"]["likely"].get<double>(),
                3 * 2.5 * row["epoch"]["hours"]["likely"].get<double>(), 1e-9);
  }
  EXPECT_EQ(plan["recommendation"]["fastest"], 0) << "of the run's own batch";
}

TEST_F(PlanCommand, AllKnownCardsWithoutGpu) {
  const Outcome done = Estimate({"--json", "--batch", "128", "--precision", "float32"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  std::set<std::string> cards;
  const json plan = done.Json();
  for (const json& row : plan["rows"]) cards.insert(row["card"]);
  for (const char* card : {"t4", "l4", "a10g", "a100-40", "a100-80", "h100", "h200", "b200"}) {
    EXPECT_TRUE(cards.contains(card)) << card;
  }
}

TEST_F(PlanCommand, MoreCardsShareTheBatchAndPayForIt) {
  const auto row_for = [&](const std::string& gpus) {
    const Outcome done = Estimate({"--gpu", "h100", "--gpus", gpus, "--batch", "1024",
                                   "--precision", "float32", "--price", "1", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.Json()["rows"][0];
  };
  const json one = row_for("1"), eight = row_for("8");
  EXPECT_EQ(one["rows_per_gpu"], 1024);
  EXPECT_EQ(eight["rows_per_gpu"], 128);
  EXPECT_EQ(one["parts_of_step"]["all_reduce"], 0);
  EXPECT_GT(eight["parts_of_step"]["all_reduce"], 0);
  EXPECT_NEAR(eight["epoch"]["money"]["likely"].get<double>(),
              8 * eight["epoch"]["hours"]["likely"].get<double>(), 1e-12);
}

TEST_F(PlanCommand, ABatchThatDoesNotDivideIsRoundedUpAndSaysSo) {
  const Outcome done = Estimate({"--gpu", "h100", "--gpus", "6", "--batch", "128"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("128 does not divide over 6 GPUs; planned with 132"));
  EXPECT_THAT(done.out, HasSubstr("--set train.global_batch=132"));
}

TEST_F(PlanCommand, NoRecordsNoEpochs) {
  const Outcome done = Plan({"run.toml", "--no-compile", "--gpu", "l4", "--price", "1", "--field",
                             "image=f32[784]", "--field", "label=i32[]"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("--records"), Not(HasSubstr("cost of an epoch")),
                              HasSubstr("Fastest")));
}

TEST_F(PlanCommand, DataThatIsHereTellsItsFields) {
  Write("clicks.toml", R"(
[model]
builtin = "dlrm"
table_size = 1000
[data]
source = "clicks"
records = 5000
validation_records = 0
test_records = 0
table_size = 1000
[train]
global_batch = 256
loss = {class = "BinaryCrossentropy", from_logits = true}
metrics = ["auc"]
)");
  const Outcome done = Plan({"clicks.toml", "--no-compile", "--gpu", "l4", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(done.Json()["records"], 5000);
}

TEST_F(PlanCommand, SetsOfTheCommandLineAreInTheAdvice) {
  const Outcome done = Estimate({"--gpu", "h100", "--set", "model.units=32"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("flatout train run.toml --set 'model.units=32' --set"));
}

// ---- what does not fit ----

TEST_F(PlanCommand, ABatchTooLargeIsDividedIntoPieces) {
  const Outcome done = Estimate({"--gpu", "t4", "--batch", "800000", "--precision", "float32",
                                 "--set", "model.units=2048", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json row = done.Json()["rows"][0];
  EXPECT_TRUE(row["fits"].get<bool>());
  EXPECT_LT(row["micro_batch"], row["rows_per_gpu"]);
  EXPECT_LE(row["memory"]["bytes"], row["memory"]["limit"]);
}

TEST_F(PlanCommand, AModelThatFitsNowhereSaysWhatWouldHelp) {
  const Outcome done = Estimate(
      {"--gpu", "t4", "--precision", "float32", "--batch", "128", "--set", "model.units=60000"});
  EXPECT_EQ(done.exit_code, kOutOfMemory) << done.err;
  EXPECT_THAT(done.out, AllOf(HasSubstr("Nothing fits"), HasSubstr("GiB")));
}

TEST_F(PlanCommand, ACapThatIsTooSmallIsKeptTo) {
  const Outcome done =
      Estimate({"--gpu", "h100", "--precision", "float32", "--batch", "100000", "--set",
                "model.units=2048", "--set", "train.memory=2GiB", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json row = done.Json()["rows"][0];
  EXPECT_EQ(row["memory"]["limit"], int64_t{2} << 30);
  EXPECT_LE(row["memory"]["bytes"], int64_t{2} << 30);
}

// ---- bad input ----

TEST_F(PlanCommand, WrongOptionsAreNamed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--gpu", "h1000"}, "h100"},
      {{"--gpu", ""}, "--gpu"},
      {{"--gpu", "h100,h100"}, "h100"},
      {{"--gpus", "0"}, "--gpus"},
      {{"--gpus", "-2"}, "--gpus"},
      {{"--gpus", "100000"}, "1,024"},
      {{"--gpus", "many"}, "--gpus"},
      {{"--price", "cheap"}, "no number"},
      {{"--price", "-1"}, "negative"},
      {{"--price", "h1000=2"}, "h100"},
      {{"--batch", "0"}, "--batch"},
      {{"--batch", "12,x"}, "--batch"},
      {{"--precision", "float64"}, "float64"},
      {{"--precision", "mixed_float16,float32,mixed_float16"}, "the policy mixed_float16 twice"},
      {{"--price", "1,000"}, "a comma separates prices"},
      {{"--set", "train.global_batch=99999999999999999999"}, "does not fit 64 bits"},
      {{"--set", "train.global_bach=3"}, "global_batch"},
  };
  for (const auto& [arguments, text] : cases) {
    const Outcome done = Estimate(arguments);
    EXPECT_EQ(done.exit_code, kUsage) << arguments[1] << ": " << done.err;
    EXPECT_THAT(done.err, HasSubstr(text));
    EXPECT_THAT(done.out, IsEmpty()) << arguments[1];
  }
}

TEST_F(PlanCommand, FieldsAreChecked) {
  for (const char* field : {"image", "=u8", "image=u9[2]", "image=u8[2", "image=u8[2,x]",
                            "image=u8[0]", "image=u8[-1,3]"}) {
    const Outcome done =
        Plan({"run.toml", "--no-compile", "--field", field, "--field", "label=i32"});
    EXPECT_EQ(done.exit_code, kUsage) << field << done.out;
    EXPECT_THAT(done.err, HasSubstr("--field")) << field;
  }
}

TEST_F(PlanCommand, FieldsMustBeATargetAndAnInputOfDifferentNames) {
  const Outcome alone = Plan({"run.toml", "--no-compile", "--field", "image=u8"});
  EXPECT_EQ(alone.exit_code, kUsage);
  EXPECT_THAT(alone.err, HasSubstr("--field image=u8: a target and at least one input are needed"));
  const Outcome twice = Plan({"run.toml", "--no-compile", "--field", "image=u8", "--field",
                              "label=i32", "--field", "image=f32[3]"});
  EXPECT_EQ(twice.exit_code, kUsage);
  EXPECT_THAT(twice.err, HasSubstr("\"image\" is named twice"));
}

TEST_F(PlanCommand, APriceThatNoRowHasIsSaid) {
  const auto notes = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--batch", "128", "--precision", "float32", "--json"});
    const Outcome done = Estimate(std::move(arguments));
    EXPECT_EQ(done.exit_code, 0) << done.err;
    return done.Json()["notes"].get<std::vector<std::string>>();
  };
  EXPECT_THAT(notes({"--gpu", "cpu", "--price", "l4=1"}),
              ElementsAre(HasSubstr("the price of l4 is not used")));
  EXPECT_THAT(notes({"--gpu", "h100", "--price", "l4=1,h100=2"}),
              ElementsAre(HasSubstr("the price of l4 is not used")));
  EXPECT_THAT(notes({"--gpu", "cpu", "--price", "2"}),
              ElementsAre(HasSubstr("the price is not used")));
  EXPECT_THAT(notes({"--gpu", "h100,cpu", "--price", "2"}), IsEmpty());
}

TEST_F(PlanCommand, VariablesOfTheEnvironmentThatMeanNothingAreSaidOnce) {
  const auto times = [](const std::string& text, const std::string& word) {
    int found = 0;
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++found;
    return found;
  };
  const std::vector<std::string> arguments = {"run.toml",    "--gpu",       "cpu",      "--batch",
                                              "128",         "--precision", "float32",  "--field",
                                              "image=u8[9]", "--field",     "label=i32"};
  const std::string none = (folder_ / "none").string();
  const Outcome done = Plan(arguments, {{"FLATOUT_LOG", "xx"}, {"FLATOUT_DEPS", none}});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(times(done.err, "FLATOUT_LOG"), 1) << done.err;
  EXPECT_THAT(done.err, HasSubstr("debug, info, warning, error, off"));
  EXPECT_EQ(times(done.err, "FLATOUT_DEPS is \"" + none), 1) << done.err;
  EXPECT_THAT(Plan(arguments, {{"FLATOUT_LOG", "info"}}).err,
              AllOf(Not(HasSubstr("FLATOUT_LOG")), Not(HasSubstr("FLATOUT_DEPS"))));
}

TEST_F(PlanCommand, AThreadThatCannotBeStartedIsMemory) {
  // As much stack for each thread as there are addresses.
  const Outcome done = Plan(
      {"run.toml", "--no-compile", "--gpu", "l4", "--field", "image=u8[9]", "--field", "label=i32"},
      {}, rlim_t{1} << 47);
  EXPECT_EQ(done.exit_code, kOutOfMemory) << done.err;
  EXPECT_THAT(done.err, AllOf(HasSubstr("a thread could not be started"), HasSubstr("ulimit -v"),
                              Not(HasSubstr("fault in Flatout"))));
}

TEST_F(PlanCommand, WithoutDataItSaysHowToDoWithout) {
  const Outcome none = Plan({"run.toml", "--no-compile"});
  EXPECT_EQ(none.exit_code, kUsage);
  EXPECT_THAT(none.err, AllOf(HasSubstr("[data]"), HasSubstr("--field image=u8[28,28,1]")));
  Write("elsewhere.toml", R"(
[model]
builtin = "mlp"
[data]
source = "numpy"
file = "not/here.npz"
)");
  const Outcome elsewhere = Plan({"elsewhere.toml", "--no-compile"});
  EXPECT_NE(elsewhere.exit_code, 0);
  EXPECT_THAT(elsewhere.err, AllOf(HasSubstr("not/here.npz"), HasSubstr("--records")));
  EXPECT_EQ(Estimate({"--gpu", "l4"}, "elsewhere.toml").exit_code, 0);
}

TEST_F(PlanCommand, ARunFileThatIsNotThere) {
  const Outcome done = Plan({"none.toml"});
  EXPECT_EQ(done.exit_code, kUsage);
  EXPECT_THAT(done.err, HasSubstr("none.toml"));
}

// ---- compiling ----

TEST_F(PlanCommand, TheCompilerTellsTheMemoryAndTheCacheKeepsIt) {
  const std::vector<std::string> arguments = {
      "run.toml", "--gpu",   "h100,v100",         "--batch", "128",       "--precision",
      "float32",  "--field", "image=u8[28,28,1]", "--field", "label=i32", "--records",
      "60000",    "--json"};
  const Outcome first = Plan(arguments);
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, HasSubstr("compiled for h100, float32"));
  const json row = first.Json()["rows"][0];
  EXPECT_EQ(row["memory"]["by"], "compiler");
  // Both say how much: within a factor of two of our own estimate, and never less than the state.
  const json estimate =
      Estimate({"--gpu", "h100", "--batch", "128", "--precision", "float32", "--json"})
          .Json()["rows"][0];
  EXPECT_GT(row["memory"]["bytes"].get<double>(), estimate["memory"]["bytes"].get<double>() / 2);
  EXPECT_LT(row["memory"]["bytes"].get<double>(), estimate["memory"]["bytes"].get<double>() * 2);

  const Outcome second = Plan(arguments);
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, Not(HasSubstr("compiled for h100")));
  EXPECT_EQ(second.Json()["rows"], first.Json()["rows"]);
}

TEST_F(PlanCommand, TrainingTakesWhatWasPlannedAndThePartsAddUp) {
  Write("clicks.toml", R"(
[model]
builtin = "dlrm"
table_size = 1000
[data]
source = "clicks"
records = 2000
validation_records = 500
test_records = 0
table_size = 1000
[train]
device = "cpu"
global_batch = 256
max_steps = 4
steps_per_launch = 64
loss = {class = "BinaryCrossentropy", from_logits = true}
)");
  const Outcome planned = Plan({"clicks.toml", "--gpu", "cpu", "--batch", "256", "--json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const Outcome trained = Flatout({"train", "clicks.toml", "--run-dir", "run"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::string metrics = ReadFile(folder_ / "run/metrics.jsonl");
  const json plan = json::parse(metrics.substr(0, metrics.find('\n')));
  ASSERT_EQ(plan["event"], "plan");
  const int64_t training = plan["training_bytes"], evaluation = plan["evaluation_bytes"];
  int64_t parts = 0;
  for (const char* part : {"parameters", "gradients", "optimizer", "activations", "workspace",
                           "batch", "results", "code", "scratch"}) {
    parts += plan[std::string(part) + "_bytes"].get<int64_t>();
  }
  EXPECT_EQ(parts, training);
  EXPECT_EQ(plan["planned_bytes"], std::max(training, evaluation));
  EXPECT_EQ(planned.Json()["rows"][0]["memory"]["bytes"], training);
  // The larger one is evaluation, by its own launches, and the line says so.
  EXPECT_GT(evaluation, training);
  EXPECT_THAT(trained.out + trained.err, HasSubstr("training alone takes"));

  const json memory = json::parse(ReadFile(folder_ / "run/summary.json"))["memory"];
  EXPECT_EQ(memory["training"], training);
  EXPECT_EQ(memory["evaluation"], evaluation);
  EXPECT_EQ(memory["results"], plan["results_bytes"]);
  EXPECT_EQ(memory["code"], plan["code_bytes"]);
}

TEST_F(PlanCommand, WithoutThePluginItSaysSoAndEstimates) {
  const Outcome done =
      Plan({"run.toml", "--gpu", "h100", "--batch", "128", "--precision", "float32", "--field",
            "image=u8[28,28,1]", "--field", "label=i32"},
           {{"PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:" + (folder_ / "none.so").string()}});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("flatout plugin install cuda13"));
  EXPECT_THAT(done.out, ::testing::ContainsRegex("h100 +1 +float32 +128 +yes +~"));
}

TEST_F(PlanCommand, ACompilerThatCannotLeavesItsRowsEmpty) {
  // The CPU plugin under the GPU plugin's name knows no cards.
  const fs::path cpu =
      fs::path(FLATOUT_DEPS_FOLDER) / "xla_cpu_pjrt/xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so";
  ASSERT_TRUE(fs::exists(cpu));
  const Outcome done =
      Plan({"run.toml", "--gpu", "h100,cpu", "--batch", "128", "--precision", "float32", "--field",
            "image=u8[28,28,1]", "--field", "label=i32", "--json"},
           {{"PJRT_NAMES_AND_LIBRARY_PATHS", "cuda:" + cpu.string()}});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const json rows = done.Json()["rows"];
  EXPECT_FALSE(rows[0]["problem"].is_null());
  EXPECT_TRUE(rows[1]["problem"].is_null()) << "the CPU has its own plugin";
  EXPECT_EQ(rows[1]["memory"]["by"], "compiler");
}

TEST_F(PlanCommand, ProgramsAreKeptForTheRentedMachine) {
  const Outcome done =
      Plan({"run.toml", "--gpu", "h100", "--batch", "128", "--precision", "float32", "--field",
            "image=u8[28,28,1]", "--field", "label=i32", "--write-cache", "kept"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder_ / "kept")) {
    ++files;
    EXPECT_GT(entry.file_size(), 1000u);
  }
  EXPECT_EQ(files, 1);
}

}  // namespace
