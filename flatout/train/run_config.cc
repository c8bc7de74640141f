#include "flatout/train/run_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/data/keep_fields.h"
#include "flatout/nn/context.h"
#include "flatout/nn/recompute.h"
#include "flatout/optim/loss_scale.h"
#include "flatout/train/preemption.h"
#include "flatout/watch/tensorboard/options.h"
#include "flatout/xla/pjrt.h"

namespace flatout::train {
namespace {

void RequireAtLeast(const Config& table, std::string_view key, int64_t value, int64_t least) {
  if (value >= least) return;
  const Config* entry = table.Find(key);
  const std::string message = fmt::format("must be at least {}, found {}", least, value);
  if (entry != nullptr) throw entry->Complain(message);
  throw Invalid("{} {}", key, message);
}

void CheckMode(const Config& table, const std::string& mode) {
  if (mode == "auto" || mode == "min" || mode == "max") return;
  const Config* entry = table.Find("mode");
  const std::string message =
      fmt::format("mode must be \"auto\", \"min\" or \"max\", found \"{}\"", mode);
  throw entry == nullptr ? table.Complain(message) : entry->Complain(message);
}

constexpr double kAnyTime = 1e-9;         // seconds: above 0
constexpr double kLeastSampling = 0.001;  // seconds

bool IsAuto(const Config& value) { return value.is_string() && value.AsString() == "auto"; }

void CheckMicroBatch(const TrainOptions& options) {
  const Config& rows = options.micro_batch;
  if (IsAuto(rows)) return;
  const bool whole = rows.kind() == Config::Kind::kInt;
  if (!whole || rows.AsInt() < 1 || rows.AsInt() > options.global_batch) {
    throw rows.Complain(fmt::format(
        "must be \"auto\" or a number of rows from 1 to train.global_batch = {}, found {}",
        options.global_batch, rows.Describe()));
  }
}

void CheckLossBlocks(const Config& blocks) {
  if (IsAuto(blocks)) return;
  if (blocks.kind() != Config::Kind::kInt || blocks.AsInt() < 1) {
    throw blocks.Complain(fmt::format(
        "must be \"auto\" or a number of blocks from 1 (the whole at once) on, found {}",
        blocks.Describe()));
  }
}

}  // namespace

void CheckTrainOptions(const TrainOptions& options, const Config& table) {
  RequireAtLeast(table, "epochs", options.epochs, 1);
  RequireAtLeast(table, "global_batch", options.global_batch, 1);
  if (options.max_steps) RequireAtLeast(table, "max_steps", *options.max_steps, 1);
  RequireAtLeast(table, "evaluate_every", options.evaluate_every, 0);
  const Config& devices = options.devices;
  if (devices.is_string() ? devices.AsString() != "all" : devices.AsInt() < 1) {
    throw devices.Complain(fmt::format(
        "must be a number of devices from 1 on, or \"all\"; found {}", devices.Describe()));
  }
  xla::MemoryOptions memory;
  ReadConfig(options.memory, memory);  // complains; the run's Runtime reads it again
  const Config& launch = options.steps_per_launch;
  if (launch.is_string() ? launch.AsString() != "auto" : launch.AsInt() < 1) {
    throw launch.Complain(fmt::format("must be a number of steps from 1 on, or \"auto\"; found {}",
                                      launch.Describe()));
  }
  CheckMicroBatch(options);
  CheckLossBlocks(options.loss_blocks);
  optim::LossScale loss_scale;
  if (!IsAuto(options.loss_scale)) ReadConfig(options.loss_scale, loss_scale);
  nn::Recompute recompute;
  ReadConfig(options.recompute, recompute);
  const std::vector<std::string>& policies = nn::Policy::Names();
  if (std::find(policies.begin(), policies.end(), options.precision) == policies.end()) {
    const std::string message =
        fmt::format("must be one of \"{}\", found \"{}\"{}", fmt::join(policies, "\", \""),
                    options.precision, DidYouMean(options.precision, policies));
    const Config* entry = table.Find("precision");
    throw entry != nullptr ? entry->Complain(message) : Invalid("precision {}", message);
  }
}

namespace {

Config TableOrEmpty(FieldReader& reader, std::string_view key) {
  const Config* table = reader.Take(key);
  if (table == nullptr) return Config::Table();
  if (!table->is_table()) {
    throw table->Complain(fmt::format(
        "expected a table [{0}], found {1}; write {0}.{2}, for example, or [{0}] on a line of its "
        "own and its keys below it",
        key, table->Describe(),
        key == "cost" && table->is_number() ? fmt::format("price_per_hour = {}", table->AsDouble())
                                            : "KEY = VALUE"));
  }
  return *table;
}

}  // namespace

void ReadConfig(const Config& value, EarlyStopping& field) {
  ReadOptions(value, "early_stopping", field);
  CheckMode(value, field.mode);
  RequireAtLeast(value, "patience", field.patience, 0);
}

void ReadConfig(const Config& value, ReduceLrOnPlateau& field) {
  ReadOptions(value, "reduce_lr_on_plateau", field);
  CheckMode(value, field.mode);
  RequireAtLeast(value, "patience", field.patience, 0);
  if (!(field.factor > 0 && field.factor < 1)) {
    throw value.Complain(fmt::format("factor must lie between 0 and 1, found {}", field.factor));
  }
}

RunConfig ReadRunConfig(Config tree, std::string name) {
  RunConfig config;
  config.name = std::move(name);
  config.tree = std::move(tree);
  FieldReader reader(config.tree, "run file");
  const Config* model = reader.Take("model");
  const Config* data = reader.Take("data");
  const Config train = TableOrEmpty(reader, "train");
  const Config checkpoint = TableOrEmpty(reader, "checkpoint");
  const Config watch = TableOrEmpty(reader, "watch");
  config.cost = watch::ReadCostOptions(TableOrEmpty(reader, "cost"));
  reader("optimizer", config.optimizer);
  reader.Finish();
  if (data == nullptr || !data->is_table()) {
    throw config.tree.Complain(
        "a run file needs a table [data], for example [data] source = "
        "\"fashion_mnist\"");
  }
  if (model == nullptr || !model->is_table()) {
    throw config.tree.Complain(
        "a run file needs a table [model], for example [model] builtin = "
        "\"mlp\"");
  }
  config.model = *model;
  config.data = *data;
  config.pipeline = data::ReadPipelineOptions(config.data);
  ReadOptions(train, "[train]", config.train);
  CheckTrainOptions(config.train, train);
  ReadOptions(checkpoint, "[checkpoint]", config.checkpoint);
  RequireAtLeast(checkpoint, "every_steps", config.checkpoint.every_steps, 0);
  RequireSeconds(checkpoint, "every_seconds", config.checkpoint.every_seconds);
  RequireSeconds(checkpoint, "grace_seconds", config.checkpoint.grace_seconds);
  RequireSeconds(checkpoint, "between_interruptions", config.checkpoint.between_interruptions,
                 kAnyTime);
  RequireAtLeast(checkpoint, "keep_last", config.checkpoint.keep_last, 1);
  RequireAtLeast(checkpoint, "keep_every", config.checkpoint.keep_every, 0);
  ReadPreemption(config.checkpoint);  // complains
  CheckMode(checkpoint, config.checkpoint.mode);
  ReadOptions(watch, "[watch]", config.watch);
  RequireSeconds(watch, "log_seconds", config.watch.log_seconds, kAnyTime);
  // More often a thread would do nothing else.
  if (config.watch.sample_seconds != 0) {
    RequireSeconds(watch, "sample_seconds", config.watch.sample_seconds, kLeastSampling);
  }
  watch::tensorboard::Options tensorboard;
  ReadConfig(config.watch.tensorboard, tensorboard);  // complains
  const std::string& progress = config.watch.progress;
  if (progress != "auto" && progress != "bar" && progress != "plain" && progress != "none") {
    throw watch.Find("progress")
        ->Complain("must be \"auto\", \"bar\", \"plain\" or \"none\", found \"" + progress + "\"");
  }
  return config;
}

RunConfig LoadRunConfig(const std::string& path, const std::vector<std::string>& assignments) {
  Config tree = Config::LoadToml(path);
  for (const std::string& assignment : assignments) tree.SetFromArgument(assignment);
  return ReadRunConfig(std::move(tree), std::filesystem::path(path).stem().string());
}

namespace {

// The split with the fields that training can use. `say`: warn of those that are left out; once,
// not for each split.
data::SourcePtr Usable(const RunConfig& config, const data::SourcePtr& source, bool say) {
  if (source == nullptr) return nullptr;
  std::vector<std::string> kept;
  for (const data::Field& field : source->fields()) {
    const std::vector<std::string>& inputs = config.train.inputs;
    const bool named = field.name == config.train.target ||
                       std::find(inputs.begin(), inputs.end(), field.name) != inputs.end();
    if (field.fixed() || named) kept.push_back(field.name);
  }
  for (const data::Field& field : source->fields()) {
    if (field.fixed() || std::find(kept.begin(), kept.end(), field.name) == kept.end()) continue;
    throw Invalid(
        "{}: the field {} differs in size from record to record, but batches need one: bring it to "
        "one with data.transforms (resize, pad_or_truncate, lookup, ...)",
        source->description(), field.ToString());
  }
  // With inputs to be chosen from what is there, one field alone would be the target.
  if (kept.size() < 2 && kept.size() < source->fields().size() && config.train.inputs.empty()) {
    throw Invalid(
        "{}: {} has one size for all records, as batches need, of {}: bring the others to one with "
        "data.transforms (decode_image, resize, pad_or_truncate, lookup, ...), or mend the records "
        "that differ",
        source->description(), kept.empty() ? "no field" : "only " + kept[0],
        data::DescribeFields(source->fields()));
  }
  for (const data::Field& field : source->fields()) {
    if (!say || std::find(kept.begin(), kept.end(), field.name) != kept.end()) continue;
    LogWarning("{}: the field {} differs in size from record to record and is left out; {}",
               config.data.place().ToString(), field.ToString(),
               field.text ? "lookup, hash, tokenize or decode_image make numbers of text (or was "
                            "a column of numbers taken for text? declare its type)"
                          : "pad_or_truncate or resize bring it to one size");
  }
  return kept.size() == source->fields().size() ? source : data::KeepFields(source, kept);
}

}  // namespace

Sources OpenSources(const RunConfig& config) {
  const data::Splits splits = data::OpenSplits(config.data, config.train.seed);
  return {Usable(config, splits.train, true), Usable(config, splits.validation, false),
          Usable(config, splits.test, false)};
}

Sources OpenSources(const Config& data_table) {
  RunConfig config;
  config.data = data_table;
  return OpenSources(config);
}

}  // namespace flatout::train
