#include "flatout/train/tensorboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <system_error>
#include <utility>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"
#include "flatout/base/log.h"
#include "flatout/base/text.h"
#include "flatout/checkpoint/safetensors.h"
#include "flatout/data/dataset.h"
#include "flatout/data/launch.h"
#include "flatout/train/model_graph.h"

namespace flatout::train {
namespace {

namespace tb = watch::tensorboard;
using tb::HParam;

constexpr const char* kRoot = "";  // the folder itself
constexpr const char* kTrain = "train";
constexpr const char* kValidation = "validation";
constexpr const char* kTest = "test";
constexpr double kGiB = 1024.0 * 1024 * 1024;
// With update_freq = "auto".
constexpr double kBatchSeconds = 1;
// The HPARAMS tab is a table with a column for each.
constexpr size_t kMostHParams = 100;
constexpr size_t kLongestHParam = 200;

double WallTime() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void AddHParams(const Config& value, const std::string& name,
                std::map<std::string, HParam>& hparams) {
  if (hparams.size() >= kMostHParams) return;
  switch (value.kind()) {
    case Config::Kind::kNone:
      return;
    case Config::Kind::kBool:
      hparams[name] = value.AsBool();
      return;
    case Config::Kind::kInt:
    case Config::Kind::kFloat:
      hparams[name] = value.AsDouble();
      return;
    case Config::Kind::kString:
      hparams[name] = value.AsString().substr(0, kLongestHParam);
      return;
    case Config::Kind::kTable:
      for (const auto& [key, entry] : value.entries()) {
        AddHParams(entry, name.empty() ? key : name + "." + key, hparams);
      }
      return;
    case Config::Kind::kArray: {
      // A list is one value; its text is how TOML has it.
      const std::string text = Config::Table({{"x", value}}).ToToml();
      const size_t begin = text.find('=');
      std::string list = begin == std::string::npos ? text : text.substr(begin + 1);
      while (!list.empty() && (list.back() == '\n' || list.back() == ' ')) list.pop_back();
      while (!list.empty() && list.front() == ' ') list.erase(0, 1);
      hparams[name] = list.substr(0, kLongestHParam);
      return;
    }
  }
}

// What makes one run of a model differ from another: of the run file's tables those that change
// what is computed, and what is so where the file says nothing.
std::map<std::string, HParam> HParamsOf(const RunConfig& config, const RunStart& start) {
  std::map<std::string, HParam> hparams;
  hparams["train.global_batch"] = static_cast<double>(start.global_batch);
  hparams["train.epochs"] = static_cast<double>(start.epochs);
  hparams["train.precision"] = start.precision;
  hparams["train.seed"] = static_cast<double>(config.train.seed);
  hparams["optimizer.class"] = start.optimizer;
  double rate = 0;
  const char* end = start.learning_rate.data() + start.learning_rate.size();
  char* parsed = nullptr;
  rate = std::strtod(start.learning_rate.c_str(), &parsed);
  if (!start.learning_rate.empty() && parsed == end) {
    hparams["optimizer.learning_rate"] = rate;
  } else {
    hparams["optimizer.learning_rate"] = start.learning_rate;
  }
  if (config.optimizer.is_table()) AddHParams(config.optimizer, "optimizer", hparams);
  if (const Config* train = config.tree.Find("train")) AddHParams(*train, "train", hparams);
  AddHParams(config.model, "model", hparams);
  AddHParams(config.data, "data", hparams);
  return hparams;
}

std::string CodeBlock(const std::string& language, const std::string& text) {
  return fmt::format("```{}\n{}{}```\n", language, text, text.ends_with('\n') ? "" : "\n");
}

// Whether rows of this field can be shown: [height, width] or [height, width, channels], not tiny.
bool IsPicture(const ir::Shape& row) {
  constexpr int64_t kLeastSide = 4, kMostSide = 4096;
  const auto side = [](int64_t size) { return size >= kLeastSide && size <= kMostSide; };
  if (row.rank() != 2 && row.rank() != 3) return false;
  if (row.rank() == 3 && (row.dim(2) < 1 || row.dim(2) > 4)) return false;
  return side(row.dim(0)) && side(row.dim(1));
}

// One row as 8-bit pixels. 8-bit integers are as they are; of other numbers [0, 1] becomes
// black to white where all lie in it, else the row's own least to its own greatest.
tb::Picture MakePicture(const ir::Shape& row, const std::byte* elements) {
  tb::Picture picture{.height = row.dim(0),
                      .width = row.dim(1),
                      .channels = row.rank() == 3 ? row.dim(2) : 1,
                      .pixels = {}};
  const int64_t size = row.size();
  picture.pixels.resize(static_cast<size_t>(size));
  if (row.dtype == ir::DType::kU8) {
    std::memcpy(picture.pixels.data(), elements, static_cast<size_t>(size));
    return picture;
  }
  const int64_t step = ir::ByteSize(row.dtype);
  double least = 0, most = 1;
  for (int64_t i = 0; i < size; ++i) {
    const double value = ir::LoadElement(row.dtype, elements + i * step);
    if (!std::isfinite(value)) continue;
    least = std::min(least, value);
    most = std::max(most, value);
  }
  for (int64_t i = 0; i < size; ++i) {
    const double value = ir::LoadElement(row.dtype, elements + i * step);
    const double share = std::isfinite(value) ? (value - least) / (most - least) : 0;
    picture.pixels[static_cast<size_t>(i)] = static_cast<uint8_t>(std::lround(255 * share));
  }
  return picture;
}

// The first rows of an epoch, in the order and with the random transforms that training reads them
// in, as an event. Nothing where no field is a picture.
std::optional<tb::Event> SampleOf(const RunConfig& config, const data::SourcePtr& train,
                                  int64_t epoch, tb::Event event) {
  if (!train->indexed()) {
    throw Invalid(
        "watch.tensorboard.image_freq: {} can only be read in order, so no sample of it "
        "is shown",
        train->description());
  }
  data::Dataset dataset = data::Dataset::FromSource(train);
  const data::PipelineOptions& pipeline = config.pipeline;
  if (pipeline.shuffle) {
    dataset = pipeline.shuffle_window > 0
                  ? dataset.ShuffleWindow(config.train.seed, pipeline.shuffle_window)
                  : dataset.Shuffle(config.train.seed);
  }
  tb::Options options;
  ReadConfig(config.watch.tensorboard, options);
  int64_t rows = std::min({options.images, config.train.global_batch, train->size()});
  const data::LaunchReader reader(dataset.source(), {.rows = rows});
  data::IteratorState state = reader.Start();
  state.epoch = epoch;
  data::HostLaunch launch(reader);
  // Bad records have been, or will be, counted by training itself: here they are black.
  data::BadRecords bad(std::numeric_limits<int64_t>::max(), [](const DataError&) {});
  data::ReadContext context(&bad);
  reader.Assemble(reader.Plan(state), context, launch);
  for (size_t f = 0; f + 1 < reader.fields().size(); ++f) {
    ir::Shape row = launch.shape(f);  // [1, rows, ...]
    row.dims.erase(row.dims.begin(), row.dims.begin() + 2);
    if (!IsPicture(row)) continue;
    std::vector<tb::Picture> pictures;
    for (int64_t i = 0; i < rows; ++i) {
      pictures.push_back(MakePicture(row, launch.data(0, f) + i * row.bytes()));
    }
    event.Images("input/" + reader.fields()[f].name, pictures);
  }
  return event.empty() ? std::nullopt : std::optional(std::move(event));
}

}  // namespace

TensorBoardObserver::TensorBoardObserver(const RunConfig& config, const nn::Model& model,
                                         const Sources& sources)
    : config_(config), model_(model), sources_(sources) {
  ReadConfig(config_.watch.tensorboard, options_);
  const Config& freq = options_.update_freq;
  if (freq.kind() == Config::Kind::kInt) {
    update_steps_ = freq.AsInt();
  } else if (freq.AsString() == "epoch") {
    update_steps_ = -1;
  }
}

TensorBoardObserver::~TensorBoardObserver() {
  if (writer_ != nullptr) writer_->Flush();  // what is posted uses this
}

TensorBoardObserver::Event TensorBoardObserver::At(int64_t step) { return {WallTime(), step}; }

void TensorBoardObserver::Write(const std::string& run, const Event& event) {
  if (writer_ == nullptr || event.empty()) return;
  // Whoever has read on in an old file learns that the steps after the snapshot are done again.
  if (begun_.insert(run).second && resumed_step_) {
    writer_->Write(run, Event::SessionStart(WallTime(), *resumed_step_ + 1));
  }
  writer_->Write(run, event.Encode());
}

void TensorBoardObserver::OnStart(const RunStart& start) {
  if (!options_.enabled || start.folder.empty()) return;
  const std::string folder = start.folder + "/tensorboard";
  try {
    writer_ = std::make_unique<tb::EventWriter>(folder);
  } catch (const std::system_error& error) {
    LogWarning("TensorBoard: no thread could be started ({}); training goes on without its files",
               error.what());
    return;
  }
  resumed_step_ = start.resumed_step;
  epoch_step_ = start.resumed_step.value_or(0);
  epoch_time_ = batch_time_ = SteadySeconds();
  if (update_steps_ > 0) next_step_ = (epoch_step_ / update_steps_ + 1) * update_steps_;
  several_replicas_ = start.replicas > 1;
  batch_step_ = epoch_step_;
  // First of all: the files of earlier sessions, or of the run that this one replaces.
  writer_->Post([folder, start] {
    for (const char* run : {kRoot, kTrain, kValidation, kTest}) {
      const std::string files = *run == 0 ? folder : folder + "/" + run;
      if (start.resumed_step) {
        tb::TrimEvents(files, {*start.resumed_step, start.resumed_epochs});
      } else {
        tb::RemoveEvents(files);
      }
    }
  });
  WriteRunFile(start);
  if (options_.write_graph) {
    writer_->Post([this, step = epoch_step_] {
      Event event = At(step);
      event.Graph(tb::EncodeGraph(ModelGraph(model_)));
      writer_->Write(kTrain, event.Encode());
    });
  }
  if (options_.image_freq > 0) WriteImages(start.resumed_epochs, epoch_step_);
}

void TensorBoardObserver::WriteRunFile(const RunStart& start) {
  Event event = At(epoch_step_);
  // The name of the run's folder tells it from others in the table.
  const std::string name = std::filesystem::path(start.folder).filename().string();
  event.HParams(HParamsOf(config_, start), name.empty() ? start.name : name);
  event.Text("run_file", CodeBlock("toml", config_.tree.ToToml()));
  event.Text("model", CodeBlock("", model_.Summary()));
  Write(kRoot, event);
}

void TensorBoardObserver::WriteImages(int64_t epoch, int64_t step) {
  if (writer_ == nullptr || epoch % options_.image_freq != 0 || sources_.train == nullptr) return;
  writer_->Post([this, epoch, event = At(step)] {
    const std::optional<Event> sample = SampleOf(config_, sources_.train, epoch, event);
    if (sample) writer_->Write(kTrain, sample->Encode());
  });
}

bool TensorBoardObserver::WantsStep(int64_t step) {
  return writer_ != nullptr && update_steps_ > 0 && step >= next_step_;
}

void TensorBoardObserver::OnProgress(const Progress& progress) {
  if (writer_ == nullptr || progress.step == batch_step_) return;
  const bool due = update_steps_ > 0
                       ? progress.step >= next_step_
                       : update_steps_ == 0 && SteadySeconds() - batch_time_ >= kBatchSeconds;
  if (due) WriteBatch(progress);
}

void TensorBoardObserver::WriteBatch(const Progress& progress) {
  const double now = SteadySeconds();
  Event event = At(progress.step);
  event.Scalar("batch_loss", progress.loss);
  for (const auto& [name, value] : progress.metrics) event.Scalar("batch_" + name, value);
  event.Scalar("batch_learning_rate", progress.learning_rate);
  if (now > batch_time_) {
    event.Scalar("batch_steps_per_second",
                 static_cast<double>(progress.step - batch_step_) / (now - batch_time_));
  }
  if (progress.gradient_norm) event.Scalar("batch_gradient_norm", *progress.gradient_norm);
  if (progress.loss_scale) {
    event.Scalar("batch_loss_scale", *progress.loss_scale);
    event.Scalar("batch_skipped_steps", static_cast<double>(progress.skipped_steps));
  }
  Write(kTrain, event);
  batch_time_ = now;
  batch_step_ = progress.step;
  // The next multiple; a launch of several steps may go past it.
  if (update_steps_ > 0) next_step_ = (progress.step / update_steps_ + 1) * update_steps_;
}

void TensorBoardObserver::OnLog(const Progress& progress) { WritePerformance(progress); }

void TensorBoardObserver::WritePerformance(const Progress& progress) {
  if (writer_ == nullptr || progress.step == performance_step_) return;
  performance_step_ = progress.step;
  Event event = At(progress.step);
  event.Scalar("performance/samples_per_second", progress.samples_per_second);
  if (progress.full) event.Scalar("performance/full_percent", 100 * *progress.full);
  if (const double all = progress.ledger.sum(); all > 0) {
    for (int i = 0; i < watch::kNumCauses; ++i) {
      const auto cause = static_cast<watch::Cause>(i);
      // Between replicas of one process it is part of compute, and not known.
      if (cause == watch::Cause::kCommunication && several_replicas_) continue;
      event.Scalar(fmt::format("time/{}_percent", Name(cause)),
                   100 * progress.ledger.of(cause) / all);
    }
  }
  if (progress.resident_bytes >= 0) {
    event.Scalar("memory/host_gib", static_cast<double>(progress.resident_bytes) / kGiB);
  }
  if (progress.device_bytes) {
    event.Scalar("memory/device_gib", static_cast<double>(*progress.device_bytes) / kGiB);
  }
  Write(kTrain, event);
}

bool TensorBoardObserver::WantsWeights(int64_t epoch) {
  return writer_ != nullptr && options_.histogram_freq > 0 &&
         (epoch - 1) % options_.histogram_freq == 0;
}

void TensorBoardObserver::OnEpochEnd(const EpochEnd& end) {
  if (writer_ == nullptr) return;
  const double now = SteadySeconds();
  // Keras counts epochs from 0.
  const int64_t epoch = end.epoch - 1;
  Event train = At(epoch), validation = At(epoch), evaluation = At(end.step);
  for (const auto& [name, value] : end.logs) {
    if (!name.starts_with("val_")) {
      train.Scalar("epoch_" + name, value);
      continue;
    }
    validation.Scalar("epoch_" + name.substr(4), value);
    evaluation.Scalar("evaluation_" + name.substr(4) + "_vs_iterations", value);
  }
  if (end.progress.step == end.step) {
    train.Scalar("epoch_learning_rate", end.progress.learning_rate);
    if (end.progress.step != batch_step_ && update_steps_ >= 0) WriteBatch(end.progress);
    WritePerformance(end.progress);
  }
  if (now > epoch_time_ && end.step > epoch_step_) {
    train.Scalar("epoch_steps_per_second",
                 static_cast<double>(end.step - epoch_step_) / (now - epoch_time_));
  }
  Write(kTrain, train);
  Write(kValidation, validation);
  Write(kValidation, evaluation);
  if (end.weights && WantsWeights(end.epoch)) {
    writer_->Post([this, epoch, weights = end.weights] {
      const std::shared_ptr<const checkpoint::TensorFile> file = weights();
      for (const checkpoint::HostTensor& tensor : file->tensors) {
        const auto histogram = tb::MakeHistogram(tensor.shape.dtype, tensor.bytes);
        if (!histogram) continue;
        Event event = At(epoch);
        event.Histogram(tensor.name + "/histogram", *histogram);
        writer_->Write(kTrain, event.Encode());
      }
    });
  }
  if (options_.image_freq > 0 && end.epoch < end.epochs) WriteImages(end.epoch, end.step);
  epoch_step_ = end.step;
  epoch_time_ = now;
}

void TensorBoardObserver::OnEnd(const RunEnd& end) {
  if (writer_ == nullptr) return;
  Event test = At(end.step);
  for (const auto& [name, value] : end.test) {
    test.Scalar("evaluation_" + name + "_vs_iterations", value);
  }
  Write(kTest, test);
  Event last = At(end.step);
  if (!end.verdict.empty()) {
    std::string text = "**Is the device running full?**\n\n";
    for (const std::string& line : end.verdict) text += "* " + line + "\n";
    last.Text("verdict", text);
  }
  if (!end.error.empty()) last.Text("error", CodeBlock("", end.error));
  // A stopped run goes on: it has not ended.
  if (end.status == "done") last.HParamsEnd(tb::SessionStatus::kSuccess);
  if (end.status == "failed") last.HParamsEnd(tb::SessionStatus::kFailure);
  Write(kRoot, last);
  writer_->Flush();
}

}  // namespace flatout::train
