#include "flatout/train/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "flatout/base/error.h"
#include "flatout/data/pipeline.h"
#include "flatout/train/options.h"

namespace flatout::train {
namespace {

using Json = nlohmann::ordered_json;

// ---- numbers, to the bit ----

// JSON has no infinity and no NaN.
Json Write(double value) {
  return std::isfinite(value) ? Json(value) : Json(fmt::format("{}", value));
}
Json Write(const std::optional<double>& value) { return value ? Write(*value) : Json(nullptr); }

double ReadNumber(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string& text = json.get_ref<const std::string&>();
  for (const char* known : {"inf", "-inf", "nan", "-nan"}) {
    if (text == known) return std::strtod(text.c_str(), nullptr);
  }
  throw BadData("expected a number, found \"{}\"", text);
}
std::optional<double> ReadOptional(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<double>(ReadNumber(json));
}

// ---- the parts ----

Json Write(const data::IteratorState& state) {
  // 64 bits without a sign do not survive all readers of JSON as a number.
  return {{"seed", std::to_string(state.seed)},
          {"epoch", state.epoch},
          {"position", state.position},
          {"size", state.size},
          {"stream", state.stream}};
}
data::IteratorState ReadPosition(const Json& json) {
  data::IteratorState state;
  state.seed = std::stoull(json.at("seed").get<std::string>());
  state.epoch = json.at("epoch");
  state.position = json.at("position");
  state.size = json.at("size");
  state.stream = json.at("stream").get<std::vector<int64_t>>();
  return state;
}

Json Write(const Totals::Sums& sums) {
  Json metrics = Json::array();
  for (const auto& metric : sums.metrics) {
    Json& values = metrics.emplace_back(Json::array());
    for (const std::vector<double>& value : metric) {
      Json& elements = values.emplace_back(Json::array());
      for (const double element : value) elements.push_back(Write(element));
    }
  }
  return {{"loss", Write(sums.loss)}, {"weight", Write(sums.weight)}, {"metrics", metrics}};
}
Totals::Sums ReadSums(const Json& json) {
  Totals::Sums sums;
  sums.loss = ReadNumber(json.at("loss"));
  sums.weight = ReadNumber(json.at("weight"));
  for (const Json& metric : json.at("metrics")) {
    auto& values = sums.metrics.emplace_back();
    for (const Json& value : metric) {
      auto& elements = values.emplace_back();
      for (const Json& element : value) elements.push_back(ReadNumber(element));
    }
  }
  return sums;
}

Json Write(const std::optional<MonitorState>& state) {
  if (!state) return nullptr;
  return {{"monitor", state->monitor},  {"higher", state->higher},
          {"best", Write(state->best)}, {"best_epoch", state->best_epoch},
          {"wait", state->wait},        {"cooldown", state->cooldown}};
}
std::optional<MonitorState> ReadMonitor(const Json& json) {
  if (json.is_null()) return std::nullopt;
  // Earlier snapshots do not say of what.
  return MonitorState{.monitor = json.value("monitor", ""),
                      .higher = json.value("higher", false),
                      .best = ReadOptional(json.at("best")),
                      .best_epoch = json.at("best_epoch"),
                      .wait = json.at("wait"),
                      .cooldown = json.at("cooldown")};
}

Json Write(const watch::LedgerReport& ledger) {
  Json json = {{"wall", ledger.wall}};
  for (int i = 0; i < watch::kNumCauses; ++i) {
    const auto cause = static_cast<watch::Cause>(i);
    json[std::string(watch::Name(cause))] = ledger.of(cause);
  }
  return json;
}
watch::LedgerReport ReadLedger(const Json& json) {
  watch::LedgerReport ledger;
  ledger.wall = json.at("wall");
  for (int i = 0; i < watch::kNumCauses; ++i) {
    ledger.seconds[i] = json.at(std::string(watch::Name(static_cast<watch::Cause>(i))));
  }
  return ledger;
}

}  // namespace

std::string RunState::ToJson() const {
  Json json;
  json["steps"] = steps;
  json["epochs"] = epochs;
  json["samples"] = samples;
  json["skipped_steps"] = skipped_steps;
  json["launches"] = launches;
  json["sessions"] = sessions;
  json["done"] = done;
  json["stopped_early"] = stopped_early;
  json["position"] = Write(position);
  json["epoch_steps"] = epoch_steps;
  json["epoch_rows"] = epoch_rows;
  json["epoch_ended"] = epoch_ended;
  json["epoch_seconds"] = epoch_seconds;
  json["totals"] = Write(totals);
  json["rate_factor"] = Write(rate_factor);
  json["learning_rate"] = Write(learning_rate);
  json["best"] = Write(best.best);
  json["best_of"] = {{"monitor", best.monitor}, {"higher", best.higher}};
  json["early_stopping"] = Write(early_stopping);
  json["reduce_lr_on_plateau"] = Write(reduce_lr_on_plateau);
  json["early_best"] = early_best;
  json["last_scale"] = Write(last_scale);
  json["skips_in_row"] = skips_in_row;
  json["last_epoch"] = Json::object();
  for (const auto& [name, value] : last_epoch) json["last_epoch"][name] = Write(value);
  json["ledger"] = Write(ledger);
  json["save_costs"] = {{"training", save_costs.training}, {"save", save_costs.save}};
  json["bad_records"] = {{"count", bad_records.count},
                         {"messages", bad_records.messages},
                         {"others", bad_records.others}};
  json["metrics_bytes"] = metrics_bytes;
  json["run_file"] = run_file;
  // A message may hold bytes of a bad record.
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunState RunState::FromJson(const std::string& text, const std::string& origin) {
  try {
    const Json json = Json::parse(text);
    RunState state;
    state.steps = json.at("steps");
    state.epochs = json.at("epochs");
    state.samples = json.at("samples");
    state.skipped_steps = json.at("skipped_steps");
    state.launches = json.at("launches");
    state.sessions = json.at("sessions");
    state.done = json.at("done");
    state.stopped_early = json.at("stopped_early");
    state.position = ReadPosition(json.at("position"));
    state.epoch_steps = json.at("epoch_steps");
    state.epoch_rows = json.at("epoch_rows");
    state.epoch_ended = json.at("epoch_ended");
    state.epoch_seconds = json.at("epoch_seconds");
    state.totals = ReadSums(json.at("totals"));
    state.rate_factor = ReadNumber(json.at("rate_factor"));
    state.learning_rate = ReadNumber(json.at("learning_rate"));
    state.best.best = ReadOptional(json.at("best"));
    if (const auto of = json.find("best_of"); of != json.end()) {
      state.best.monitor = of->at("monitor");
      state.best.higher = of->at("higher");
    }
    state.early_stopping = ReadMonitor(json.at("early_stopping"));
    state.reduce_lr_on_plateau = ReadMonitor(json.at("reduce_lr_on_plateau"));
    state.early_best = json.at("early_best");
    state.last_scale = ReadOptional(json.at("last_scale"));
    state.skips_in_row = json.at("skips_in_row");
    for (const auto& [name, value] : json.at("last_epoch").items()) {
      state.last_epoch[name] = ReadNumber(value);
    }
    state.ledger = ReadLedger(json.at("ledger"));
    // Not in every earlier snapshot.
    if (const auto costs = json.find("save_costs"); costs != json.end()) {
      state.save_costs = {.training = costs->at("training"), .save = costs->at("save")};
    }
    const Json& bad = json.at("bad_records");
    state.bad_records.count = bad.at("count");
    state.bad_records.messages = bad.at("messages").get<std::vector<std::string>>();
    state.bad_records.others = bad.at("others").get<std::vector<std::string>>();
    state.metrics_bytes = json.at("metrics_bytes");
    state.run_file = json.at("run_file");
    return state;
  } catch (const Error& error) {
    throw BadData("{}: {}", origin, error.message());
  } catch (const std::exception& error) {
    throw BadData("{}: not the state of a run: {}", origin, error.what());
  }
}

// ---- run files ----

namespace {

// What only says where and how the work is done and what is shown of it.
const std::set<std::string>& Silent() {
  static const std::set<std::string> keys = {
      "data.prefetch", "data.prefetch_memory", "data.workers",
      "data.cache",    "data.max_bad_records", "train.check_finite",
      "train.memory",  "train.evaluate_test",  "train.steps_per_launch",
  };
  return keys;
}

// Where the data lie: moved along with the run, as a rule.
bool IsPlace(std::string_view key) {
  for (const std::string_view prefix : {"validation_", "test_"}) {
    if (key.starts_with(prefix)) key.remove_prefix(prefix.size());
  }
  return key == "path" || key == "file" || key == "files" || key == "fields";
}

enum class Kind { kSilent, kNoted, kRefused };

Kind KindOf(const std::string& table, const std::string& key) {
  if (table == "watch" || table == "checkpoint") return Kind::kSilent;
  if (Silent().contains(table + "." + key)) return Kind::kSilent;
  if (table == "model") return Kind::kRefused;
  if (table == "data") return IsPlace(key) ? Kind::kNoted : Kind::kRefused;
  if (table == "optimizer" && key == "class") return Kind::kRefused;
  if (table == "train" && (key == "seed" || key == "loss" || key == "inputs" || key == "target")) {
    return Kind::kRefused;
  }
  return Kind::kNoted;
}

std::string Text(const Config* value) {
  if (value == nullptr) return "not set";
  Config table = Config::Table({{"x", *value}});
  std::string text = table.ToToml();
  if (const size_t begin = text.find("= "); begin != std::string::npos && !value->is_table()) {
    text = text.substr(begin + 2);
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (text.size() <= 60 && text.find('\n') == std::string::npos) return text;
  }
  return value->Describe();
}

}  // namespace

namespace {

// The value of each option that the run file does not set.
class Defaults {
 public:
  template <typename T>
  void operator()(std::string_view name, T& field) {
    values_.emplace(name, ToConfig(field));
  }
  const Config* Find(const std::string& name) const {
    const auto found = values_.find(name);
    return found == values_.end() || found->second.is_none() ? nullptr : &found->second;
  }

 private:
  static Config ToConfig(const Config& value) { return value; }
  static Config ToConfig(bool value) { return Config(value); }
  static Config ToConfig(int64_t value) { return Config(value); }
  static Config ToConfig(double value) { return Config(value); }
  static Config ToConfig(const std::string& value) { return Config(value); }
  template <typename T>
  static Config ToConfig(const std::vector<T>&) {
    return Config::Array();
  }
  template <typename T>
  static Config ToConfig(const std::optional<T>&) {
    return Config();
  }

  std::map<std::string, Config> values_;
};

const Config* DefaultOf(const std::string& table, const std::string& key) {
  static const auto defaults = [] {
    std::map<std::string, Defaults> all;
    TrainOptions train;
    train.Visit(all["train"]);
    data::PipelineOptions data;
    data.Visit(all["data"]);
    return all;
  }();
  const auto found = defaults.find(table);
  return found == defaults.end() ? nullptr : found->second.Find(key);
}

class Comparison {
 public:
  RunFileChanges changes;

  void Compare(Kind kind, const std::string& path, const Config* before, const Config* after) {
    if (kind == Kind::kSilent) return;
    if (before != nullptr && after != nullptr) {
      if (*before == *after) return;
      // 1 and 1.0 are the same number.
      if (before->is_number() && after->is_number() && before->AsDouble() == after->AsDouble()) {
        return;
      }
      if (before->is_table() && after->is_table()) {
        for (const std::string& key : Keys(before, after)) {
          Compare(kind, path + "." + key, before->Find(key), after->Find(key));
        }
        return;
      }
      if (before->is_array() && after->is_array() &&
          before->items().size() == after->items().size()) {
        for (size_t i = 0; i < after->items().size(); ++i) {
          Compare(kind, fmt::format("{}[{}]", path, i), &before->items()[i], &after->items()[i]);
        }
        return;
      }
    }
    (kind == Kind::kNoted ? changes.noted : changes.refused)
        .push_back(path + ": " + Text(after) + ", was " + Text(before));
  }

  // Of both, in the second's order.
  static std::vector<std::string> Keys(const Config* before, const Config* after) {
    std::vector<std::string> keys;
    for (const Config* table : {after, before}) {
      if (!table->is_table()) continue;
      for (const auto& [key, value] : table->entries()) {
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
      }
    }
    return keys;
  }
};

// `optimizer = "Adam"` is short for a table.
Config AsTable(const Config* value) {
  if (value == nullptr) return Config::Table();
  return value->is_string() ? Config::Table({{"class", *value}}) : *value;
}

}  // namespace

RunFileChanges CompareRunFiles(const Config& saved, const Config& now) {
  Comparison comparison;
  for (const std::string& table : Comparison::Keys(&saved, &now)) {
    const Config before = AsTable(saved.Find(table)), after = AsTable(now.Find(table));
    for (const std::string& key : Comparison::Keys(&before, &after)) {
      const Config *old_value = before.Find(key), *new_value = after.Find(key);
      if (old_value == nullptr) old_value = DefaultOf(table, key);
      if (new_value == nullptr) new_value = DefaultOf(table, key);
      comparison.Compare(KindOf(table, key), table + "." + key, old_value, new_value);
    }
  }
  return comparison.changes;
}

}  // namespace flatout::train
