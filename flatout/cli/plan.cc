// flatout plan: what a run needs and costs on cards that this machine does not have.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "flatout/base/cgroup.h"
#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"
#include "flatout/cli/command.h"
#include "flatout/cli/session.h"
#include "flatout/nn/loss.h"
#include "flatout/nn/metric.h"
#include "flatout/optim/loss_scale.h"
#include "flatout/optim/optimizer.h"
#include "flatout/plan/planner.h"
#include "flatout/plan/report.h"
#include "flatout/step/step_program.h"
#include "flatout/train/batch_plan.h"
#include "flatout/train/run_config.h"
#include "flatout/xla/cards.h"
#include "flatout/xla/compile_cache.h"
#include "flatout/xla/topology.h"

namespace flatout::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostGpus = 1024;
constexpr int64_t kMostBatch = int64_t{1} << 30;
// Where the search for the largest batch on a card ends when the number of records is not known.
constexpr int64_t kMostRows = int64_t{1} << 20;
// XLA spends most of a compile on one thread; more of them than this take memory, not time.
constexpr int kCompileThreads = 2;

struct Options {
  std::string run_file;
  std::vector<std::string> assignments;
  std::optional<std::string> gpu, gpus, batches, precisions, records, write_cache;
  std::vector<std::string> prices, fields;
  bool json = false;
  bool no_compile = false;
};

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> items;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, comma - at);
    while (item.starts_with(' ')) item.erase(0, 1);
    while (item.ends_with(' ')) item.pop_back();
    items.push_back(std::move(item));
    at = comma + 1;
  }
  return items;
}

// A number as an option gives it, thousands apart allowed ("60_000").
int64_t ReadCount(const std::string& text, std::string_view option, int64_t most) {
  std::string digits;
  for (const char c : text) {
    if (c != '_') digits.push_back(c);
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size() || value < 1 || value > most) {
    throw Invalid("{} \"{}\": expected a whole number from 1 to {}", option, text,
                  HumanCount(most));
  }
  return value;
}

// "image=u8[28,28,1]", "label=i32[]" or "label=i32".
data::Field ParseField(const std::string& text) {
  const auto wrong = [&](std::string_view why) {
    return Invalid(
        "--field \"{}\": {}; expected NAME=DTYPE[DIMENSIONS] of one record, for example "
        "image=u8[28,28,1] or label=i32",
        text, why);
  };
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) throw wrong("there is no NAME=");
  data::Field field;
  field.name = text.substr(0, equals);
  std::string type = text.substr(equals + 1);
  if (const size_t open = type.find('['); open != std::string::npos) {
    if (!type.ends_with(']')) throw wrong("there is no ] at the end");
    const std::string dims = type.substr(open + 1, type.size() - open - 2);
    type.resize(open);
    if (!dims.empty()) {
      for (const std::string& dim : SplitList(dims)) {
        try {
          field.shape.dims.push_back(ReadCount(dim, "", kMostBatch));
        } catch (const UserError&) {
          throw wrong(fmt::format("\"{}\" is no dimension", dim));
        }
      }
    }
  }
  try {
    field.shape.dtype = ir::ParseDType(type);
  } catch (const UserError& error) {
    throw wrong(error.message());
  }
  return field;
}

// The run, and what it is trained on, as far as a plan needs it.
struct Subject {
  train::RunConfig config;
  std::vector<data::Field> fields;
  std::optional<int64_t> records;
};

Subject ReadSubject(const Options& options) {
  Subject subject;
  Config tree = Config::LoadToml(options.run_file);
  for (const std::string& assignment : options.assignments) tree.SetFromArgument(assignment);
  for (const std::string& text : options.fields) {
    data::Field field = ParseField(text);
    for (const data::Field& before : subject.fields) {
      if (before.name == field.name) throw Invalid("--field: \"{}\" is named twice", field.name);
    }
    subject.fields.push_back(std::move(field));
  }
  if (subject.fields.size() == 1) {
    throw Invalid(
        "--field {}: a target and at least one input are needed, found one field; give --field "
        "once for each field of a record, as in --field image=u8[28,28,1] --field label=i32",
        options.fields.front());
  }
  const std::string hint =
      "the plan needs no data, only the fields of a record and how many records there are: give "
      "them with --field image=u8[28,28,1] --field label=i32 --records 60000";
  const Config* data = tree.Find("data");
  if (data == nullptr && !subject.fields.empty()) {
    tree.Set("data", Config::Table());
  } else if (data == nullptr) {
    throw Invalid("{}: there is no table [data]; {}", options.run_file, hint);
  }
  subject.config = train::ReadRunConfig(std::move(tree),
                                        options.run_file.substr(options.run_file.rfind('/') + 1));
  if (options.records) {
    subject.records = ReadCount(*options.records, "--records", int64_t{1} << 50);
  }
  if (!subject.fields.empty()) return subject;
  try {
    const train::Sources sources = train::OpenSources(subject.config);
    const data::SourcePtr source = sources.train        ? sources.train
                                   : sources.validation ? sources.validation
                                                        : sources.test;
    if (source == nullptr) throw Invalid("there is no data: no split of [data] holds records");
    subject.fields = source->fields();
    if (!subject.records && sources.train != nullptr && source->indexed() && source->size() > 0) {
      subject.records = source->size();
    }
  } catch (Error& error) {
    throw UserError(error.code(),
                    fmt::format("{}\nIs the data on another machine? Then {}", error.what(), hint))
        .set_exit_code(error.exit_code());
  }
  return subject;
}

// The objects that a step is made from; the spec refers to them.
struct StepObjects {
  nn::Model model;
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<nn::Loss> loss;
  std::vector<std::unique_ptr<nn::Metric>> metrics;
  step::StepSpec spec;  // one row
};

std::unique_ptr<StepObjects> MakeStep(const Subject& subject) {
  const train::TrainOptions& options = subject.config.train;
  auto objects = std::make_unique<StepObjects>(
      StepObjects{MakeModel(subject.config, subject.fields),
                  optim::OptimizerFromConfig(subject.config.optimizer),
                  nn::LossFromConfig(options.loss),
                  {},
                  {}});
  for (const Config& metric : options.metrics) {
    objects->metrics.push_back(nn::MetricFromConfig(metric, *objects->loss));
  }
  step::StepSpec& spec = objects->spec;
  spec.model = &objects->model;
  spec.optimizer = objects->optimizer.get();
  spec.loss = objects->loss.get();
  for (const auto& metric : objects->metrics) spec.metrics.push_back(metric.get());
  for (const data::Field& field : subject.fields) {
    ir::Shape shape = field.shape;
    shape.dims.insert(shape.dims.begin(), 1);
    spec.field_shapes.push_back(std::move(shape));
    spec.field_names.push_back(field.name);
  }
  spec.target_field = options.target.empty()
                          ? static_cast<int>(subject.fields.size()) - 1
                          : static_cast<int>(data::FindField(subject.fields, options.target));
  for (const std::string& name : options.inputs) {
    spec.input_fields.push_back(static_cast<int>(data::FindField(subject.fields, name)));
  }
  if (options.inputs.empty()) {
    for (int i = 0; i < static_cast<int>(subject.fields.size()); ++i) {
      if (i != spec.target_field) spec.input_fields.push_back(i);
    }
  }
  spec.seed = options.seed;
  if (!options.micro_batch.is_string()) spec.micro_rows = options.micro_batch.AsInt();
  if (!options.loss_blocks.is_string()) spec.loss_blocks = options.loss_blocks.AsInt();
  nn::Recompute recompute;
  ReadConfig(options.recompute, recompute);
  if (recompute.kind != nn::Recompute::Kind::kAuto) spec.recompute = recompute;
  return objects;
}

optim::LossScale LossScaleFor(const train::TrainOptions& options, const nn::Model& model) {
  const Config& value = options.loss_scale;
  if (value.is_string() && value.AsString() == "auto") {
    return optim::LossScale::Auto(model.computes_in(ir::DType::kF16));
  }
  optim::LossScale scale;
  ReadConfig(value, scale);
  return scale;
}

// Which policies to plan for on a card: the run's own, float32, and the half precision that the
// card is fast in.
std::vector<std::string> PoliciesFor(const xla::Card* card, const std::string& own) {
  std::vector<std::string> names = {own};
  const auto add = [&](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  if (card == nullptr) return names;
  add("float32");
  add(card->peak_flops.contains(ir::DType::kBF16) ? "mixed_bfloat16" : "mixed_float16");
  return names;
}

// What decides how many steps a launch has, of a batch of `rows` rows on each of `gpus` devices
// that can give the run `room` bytes.
train::LaunchQuestion LaunchOf(const Subject& subject, const StepObjects& objects, bool cpu,
                               int64_t gpus, int64_t rows, int64_t room) {
  train::LaunchQuestion question{.row_flops = 3 * objects.model.ForwardFlops(),
                                 .rows = rows,
                                 .cpu = cpu,
                                 .room = room,
                                 .records = subject.records,
                                 .global_batch = rows * gpus};
  for (const data::Field& field : subject.fields) question.row_bytes += field.shape.bytes();
  return question;
}

// Lines of progress on standard error, from any thread.
class Progress {
 public:
  explicit Progress(bool compiles) : compiles_(compiles) {}
  void Say(const std::string& line) {
    const std::lock_guard lock(mutex_);
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  void Compiled(const std::string& what, const xla::AotProgram& program) {
    const std::lock_guard lock(mutex_);
    ++programs_;
    if (program.from_cache) {
      ++from_cache_;
    } else {
      std::fprintf(stderr, "  compiled for %s in %.1f s\n", what.c_str(), program.compile_seconds);
    }
  }
  void Finish() const {
    if (!compiles_ || programs_ == 0) return;
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
    std::fprintf(stderr, "%d programs in %.1f s, %d of them from the cache\n", programs_,
                 seconds.count(), from_cache_);
  }

 private:
  std::mutex mutex_;
  bool compiles_;
  int programs_ = 0, from_cache_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Compiles for this machine's CPU through its plugin.
class CpuCompiler {
 public:
  explicit CpuCompiler(int64_t devices)
      : devices_(devices),
        client_(xla::Client::Create(xla::Plugin::Load("cpu"),
                                    {.cpu_device_count = static_cast<int>(devices)})) {}
  xla::AotProgram operator()(const plan::PlannedProgram& program) {
    const auto executable =
        cache_.Compile(*client_, program.stablehlo, {.num_replicas = static_cast<int>(devices_)});
    xla::AotProgram result;
    const auto memory = executable->memory();
    if (!memory) throw UserError(Code::kUnimplemented, "the CPU plugin tells no memory");
    result.memory = *memory;
    result.compile_seconds = executable->compile_seconds();
    result.from_cache = executable->from_cache();
    return result;
  }

 private:
  int64_t devices_;
  std::shared_ptr<xla::Client> client_;
  xla::CompileCache cache_;
};

struct Targets {
  std::vector<const xla::Card*> cards;
  bool cpu = false;
};

Targets ReadTargets(const std::optional<std::string>& text) {
  Targets targets;
  if (!text) {
    for (const xla::Card& card : xla::Cards()) targets.cards.push_back(&card);
    return targets;
  }
  std::string cards;
  for (const std::string& name : SplitList(*text)) {
    if (name == "cpu") {
      targets.cpu = true;
    } else {
      cards += (cards.empty() ? "" : ",") + name;
    }
  }
  if (!targets.cpu || !cards.empty()) {
    targets.cards = WithContext("--gpu", [&] { return xla::ParseCards(cards); });
  }
  return targets;
}

// What is said of prices that no row has.
std::vector<std::string> UnusedPrices(const plan::Prices& prices, const Targets& targets) {
  std::vector<std::string> notes;
  for (const std::string& card : prices.cards()) {
    if (std::none_of(targets.cards.begin(), targets.cards.end(),
                     [&](const xla::Card* planned) { return planned->name == card; })) {
      notes.push_back(
          fmt::format("the price of {} is not used: it is not among the cards of --gpu", card));
    }
  }
  if (targets.cards.empty() && !prices.empty() && notes.empty()) {
    notes.push_back(
        "the price is not used: --gpu cpu is this machine, of which no time is planned");
  }
  return notes;
}

std::vector<int64_t> ReadBatches(const Options& options, const Subject& subject, int64_t gpus,
                                 std::vector<std::string>& notes) {
  std::vector<int64_t> asked;
  const int64_t own = subject.config.train.global_batch;
  if (options.batches) {
    for (const std::string& text : SplitList(*options.batches)) {
      asked.push_back(ReadCount(text, "--batch", kMostBatch));
    }
  } else {
    asked = {own, 4 * own};
    if (subject.records && 4 * own > *subject.records) asked.pop_back();
  }
  std::vector<int64_t> batches;
  for (const int64_t batch : asked) {
    const int64_t even = (batch + gpus - 1) / gpus * gpus;
    if (even != batch) {
      notes.push_back(fmt::format("a batch of {} does not divide over {} GPUs; planned with {}",
                                  batch, gpus, even));
    }
    if (std::find(batches.begin(), batches.end(), even) == batches.end()) batches.push_back(even);
  }
  return batches;
}

// ---- output ----

Json RangeJson(const plan::Range& range) {
  return {{"low", range.low}, {"likely", range.likely}, {"high", range.high}};
}

Json CostJson(const plan::Cost& cost) {
  Json json = {{"hours", RangeJson(cost.hours)}};
  json["money"] = cost.money ? RangeJson(*cost.money) : Json(nullptr);
  return json;
}

Json RowJson(const plan::PlanReport& report, const plan::PlanRow& row) {
  Json json = {{"card", row.card_name()},
               {"gpus", row.gpus},
               {"policy", row.policy},
               {"global_batch", row.global_batch},
               {"rows_per_gpu", row.rows}};
  json["problem"] = row.problem.empty() ? Json(nullptr) : Json(row.problem);
  if (!row.problem.empty()) return json;
  json["fits"] = row.fits;
  json["memory"] = {
      {"bytes", row.bytes}, {"limit", row.limit}, {"by", row.compiled ? "compiler" : "estimate"}};
  if (!row.fits) {
    json["advice"] = row.advice;
    return json;
  }
  json["micro_batch"] = row.micro_rows;
  json["recompute"] = row.recompute.empty() ? Json(nullptr) : Json(row.recompute);
  json["largest_rows_per_gpu"] = row.largest_rows;
  json["largest_is_bound"] = !row.largest_is_all;
  if (!row.estimate) {
    json["step_seconds"] = nullptr;
    return json;
  }
  const plan::StepEstimate& estimate = *row.estimate;
  json["step_seconds"] = RangeJson(estimate.seconds);
  json["parts_of_step"] = {{"arithmetic", estimate.arithmetic},
                           {"memory", estimate.memory},
                           {"launches", estimate.launches},
                           {"all_reduce", estimate.all_reduce}};
  json["limited_by"] = plan::LimitName(estimate.limit);
  json["samples_per_second"] = RangeJson(estimate.samples_per_second);
  json["mfu"] = RangeJson(estimate.mfu);
  json["peak_flops"] = estimate.peak_flops;
  json["epoch"] = report.records ? CostJson(row.epoch) : Json(nullptr);
  json["run"] = report.records ? CostJson(row.run) : Json(nullptr);
  return json;
}

Json ReportJson(const plan::PlanReport& report, const std::vector<std::string>& notes) {
  Json json = {{"run", report.run_file}, {"epochs", report.epochs}};
  json["records"] = report.records ? Json(*report.records) : Json(nullptr);
  json["currency"] =
      report.prices.currency().empty() ? Json(nullptr) : Json(report.prices.currency());
  json["rows"] = Json::array();
  for (const plan::PlanRow& row : report.rows) json["rows"].push_back(RowJson(report, row));
  const plan::Choice choice = plan::Choose(report);
  const auto index = [](std::optional<size_t> row) { return row ? Json(*row) : Json(nullptr); };
  json["recommendation"] = {{"cheapest", index(choice.cheapest)},
                            {"fastest", index(choice.fastest)},
                            {"cheapest_any_batch", index(choice.cheapest_any_batch)},
                            {"fastest_any_batch", index(choice.fastest_any_batch)},
                            {"text", plan::FormatRecommendation(report)}};
  json["notes"] = notes;
  return json;
}

void PrintReport(const Subject& subject, const plan::PlanReport& report, const Options& options,
                 const std::vector<std::string>& notes) {
  std::printf("%s: fields %s; %s\n", report.run_file.c_str(),
              data::DescribeFields(subject.fields).c_str(),
              report.records ? fmt::format("{} records, {} epoch{}", HumanCount(*report.records),
                                           report.epochs, report.epochs == 1 ? "" : "s")
                                   .c_str()
                             : "number of records not known (--records), so no epochs");
  std::printf("\n%s\n", plan::FormatTable(report).c_str());
  std::printf("%s", plan::FormatRecommendation(report).c_str());
  for (const std::string& note : notes) std::printf("note: %s.\n", note.c_str());
  std::printf(
      "Memory %s, of training alone. Times are a roofline's, with their range in parentheses, not "
      "measured: training "
      "steps alone, without start, evaluation, checkpoints or waiting for input. docs/plan.md says "
      "how far to trust each number.\n",
      options.no_compile ? "marked ~ is estimated from our graph"
                         : "is the compiler's plan for that card; marked ~ it is estimated");
}

// ---- the command ----

struct Job {
  const xla::Card* card = nullptr;
  nn::Policy policy;
  std::vector<plan::PlanRow> rows;
};

// The rows of all jobs, planned on a few threads; what one of them throws ends all.
void RunJobs(std::vector<Job>& jobs, const std::function<std::vector<plan::PlanRow>(Job&)>& plan) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) {
      try {
        jobs[i].rows = plan(jobs[i]);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (failure == nullptr) failure = std::current_exception();
        next = jobs.size();
      }
    }
  };
  std::vector<std::jthread> threads;
  for (int i = 1; i < kCompileThreads; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  if (failure != nullptr) std::rethrow_exception(failure);
}

int Plan(const Options& options) {
  // All options before anything that takes time.
  plan::PlanReport report;
  report.prices = plan::Prices::Parse(options.prices);
  Targets targets = ReadTargets(options.gpu);
  const int64_t gpus = options.gpus ? ReadCount(*options.gpus, "--gpus", kMostGpus) : 1;
  std::vector<std::string> policies;
  if (options.precisions) policies = SplitList(*options.precisions);
  for (size_t i = 0; i < policies.size(); ++i) {
    WithContext("--precision", [&] { nn::Policy::Named(policies[i]); });
    if (std::find(policies.begin(), policies.begin() + static_cast<std::ptrdiff_t>(i),
                  policies[i]) != policies.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw Invalid("--precision: \"{}\" names the policy {} twice", *options.precisions,
                    policies[i]);
    }
  }
  const Subject subject = ReadSubject(options);
  const train::TrainOptions& train = subject.config.train;
  std::vector<std::string> notes = UnusedPrices(report.prices, targets);
  const std::vector<int64_t> batches = ReadBatches(options, subject, gpus, notes);
  const std::unique_ptr<StepObjects> objects = MakeStep(subject);
  xla::MemoryOptions memory;
  ReadConfig(train.memory, memory);
  nn::Recompute recompute;
  ReadConfig(train.recompute, recompute);

  std::shared_ptr<xla::Plugin> plugin;
  if (!options.no_compile && !targets.cards.empty()) {
    try {
      plugin = xla::LoadPlanningPlugin();
    } catch (const UserError& error) {
      if (error.code() != Code::kNotFound) throw;
      notes.push_back(
          "without the CUDA plugin nothing can be compiled for these cards, so that their memory "
          "is "
          "estimated; flatout plugin install cuda13 brings it, and needs no GPU");
      std::fprintf(stderr, "flatout: %s\n", notes.back().c_str());
      targets.cpu = true;
    }
  }
  if (options.write_cache) {
    if (plugin == nullptr) throw Invalid("--write-cache needs the CUDA plugin and compiling");
    MakeDirs(*options.write_cache);
  }

  std::vector<Job> jobs;
  const auto add = [&](const xla::Card* card) {
    for (const std::string& name :
         policies.empty() ? PoliciesFor(card, train.precision) : policies) {
      jobs.push_back({card, nn::Policy::Named(name), {}});
    }
  };
  for (const xla::Card* card : targets.cards) add(card);
  if (targets.cpu) add(nullptr);

  report.run_file = options.run_file;
  report.sets = options.assignments;
  report.records = subject.records;
  report.epochs = train.epochs;
  report.own_batch = (train.global_batch + gpus - 1) / gpus * gpus;
  plan::Programs programs;
  Progress progress(!options.no_compile);
  std::mutex cpu_mutex;
  std::unique_ptr<CpuCompiler> cpu;
  RunJobs(jobs, [&](Job& job) {
    plan::CardQuestion ask;
    ask.card = job.card;
    ask.gpus = gpus;
    ask.batches_in_flight = train::LaunchesOnDevice(subject.config.pipeline);
    ask.spec = objects->spec;
    // Weights of 16 bits are a matter of the policy, too; jobs run side by side.
    nn::Model model = *objects->spec.model;
    model.SetPolicy(job.policy);
    ask.spec.model = &model;
    ask.spec.policy = job.policy;
    ask.spec.loss_scale = LossScaleFor(train, model);
    ask.auto_recompute = recompute.kind == nn::Recompute::Kind::kAuto;
    ask.steps_per_launch = [&](int64_t rows) {
      return train::StepsPerLaunch(
          train, LaunchOf(subject, *objects, ask.card == nullptr, gpus, rows, ask.memory_limit));
    };
    ask.batches = batches;
    ask.most_rows =
        subject.records ? std::max<int64_t>(1, (*subject.records + gpus - 1) / gpus) : kMostRows;
    if (subject.records) ask.records = static_cast<double>(*subject.records);
    ask.epochs = static_cast<double>(train.epochs);
    if (train.max_steps) ask.max_steps = static_cast<double>(*train.max_steps);
    if (job.card == nullptr) {
      const int64_t usable = ReadCgroup().memory.usable;
      ask.memory_limit = (usable < 0 ? INT64_MAX : usable) / gpus;
      if (memory.limit_bytes) ask.memory_limit = std::min(ask.memory_limit, *memory.limit_bytes);
      if (!options.no_compile) {
        ask.compile = [&](const plan::PlannedProgram& program) {
          const std::lock_guard lock(cpu_mutex);
          if (cpu == nullptr) cpu = std::make_unique<CpuCompiler>(gpus);
          xla::AotProgram result = (*cpu)(program);
          progress.Compiled("cpu, " + job.policy.name, result);
          return result;
        };
      }
      return plan::PlanCard(programs, ask);
    }
    ask.memory_limit = plan::UsableMemory(*job.card, gpus, memory);
    ask.price = report.prices.Of(job.card->name);
    if (plugin != nullptr) {
      const auto topology = std::make_shared<std::shared_ptr<xla::Topology>>();
      xla::AotOptions aot;
      aot.num_replicas = static_cast<int>(gpus);
      ask.compile = [&, topology, aot](const plan::PlannedProgram& program) {
        if (*topology == nullptr) {
          *topology = xla::Topology::Create(plugin, *job.card, static_cast<int>(gpus));
        }
        xla::AotProgram result = (*topology)->Compile(program.stablehlo, aot);
        progress.Compiled(job.card->name + ", " + job.policy.name, result);
        return result;
      };
      if (options.write_cache) {
        ask.keep = [&, topology, aot](const plan::PlannedProgram& program) {
          (*topology)->WriteCache(*options.write_cache, program.stablehlo, aot);
        };
      }
    }
    return plan::PlanCard(programs, ask);
  });
  progress.Finish();
  for (Job& job : jobs) {
    report.rows.insert(report.rows.end(), std::make_move_iterator(job.rows.begin()),
                       std::make_move_iterator(job.rows.end()));
  }

  if (options.json) {
    std::printf("%s\n", ReportJson(report, notes).dump(2).c_str());
  } else {
    PrintReport(subject, report, options, notes);
  }
  const auto any = [&](const auto& holds) {
    return std::any_of(report.rows.begin(), report.rows.end(), holds);
  };
  if (any([](const plan::PlanRow& row) { return row.fits; })) return kExitDone;
  if (any([](const plan::PlanRow& row) { return row.problem.empty(); })) return kExitOutOfMemory;
  return kExitUsage;
}

}  // namespace

void AddPlan(CLI::App& app, Run* run) {
  CLI::App* command = app.add_subcommand(
      "plan", "Say what a run needs and costs on GPUs that this machine does not have");
  auto options = std::make_shared<Options>();
  command
      ->add_option("run_file", options->run_file,
                   "Run file (TOML), for example examples/fashion_mnist/cnn.toml")
      ->required();
  command
      ->add_option("--set", options->assignments,
                   "Change a key of the run file: --set model.width=64 (may be repeated)")
      ->take_all();
  command->add_option(
      "--gpu", options->gpu,
      "Cards to plan for: a100-80,h100,l4 (default: all known; cpu is this machine)");
  command->add_option("--gpus", options->gpus, "How many of them, in one machine (default: 1)");
  command
      ->add_option("--price", options->prices,
                   "Price of one GPU for an hour: 2.5, or h100=2.5,l4=0.8, or \"2.5 EUR\"")
      ->take_all();
  command->add_option("--batch", options->batches,
                      "Global batches: 256,1024 (default: the run's, and four times it)");
  command->add_option(
      "--precision", options->precisions,
      "Policies: float32,mixed_bfloat16 (default: the run's and what suits the card)");
  command
      ->add_option("--field", options->fields,
                   "A field of a record, where the data is elsewhere: image=u8[28,28,1] (once for "
                   "each field, in the data's order)")
      ->take_all();
  command->add_option("--records", options->records,
                      "Records of an epoch, where the data is elsewhere");
  command->add_option("--write-cache", options->write_cache,
                      "Keep the compiled programs in this folder");
  command->add_flag("--no-compile", options->no_compile,
                    "Only our own estimate, at once, without the compiler");
  command->add_flag("--json", options->json, "Print JSON instead of a table");
  command->callback([options, run] { *run = [options] { return Plan(*options); }; });
}

}  // namespace flatout::cli
