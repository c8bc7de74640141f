#include "flatout/train/run_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "flatout/base/error.h"

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
  return {{"best", Write(state->best)},
          {"best_epoch", state->best_epoch},
          {"wait", state->wait},
          {"cooldown", state->cooldown}};
}
std::optional<MonitorState> ReadMonitor(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return MonitorState{.best = ReadOptional(json.at("best")),
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
  json["position"] = Write(position);
  json["epoch_steps"] = epoch_steps;
  json["epoch_rows"] = epoch_rows;
  json["epoch_ended"] = epoch_ended;
  json["epoch_seconds"] = epoch_seconds;
  json["totals"] = Write(totals);
  json["rate_factor"] = Write(rate_factor);
  json["learning_rate"] = Write(learning_rate);
  json["best"] = Write(best);
  json["early_stopping"] = Write(early_stopping);
  json["reduce_lr_on_plateau"] = Write(reduce_lr_on_plateau);
  json["early_best"] = early_best;
  json["last_scale"] = Write(last_scale);
  json["skips_in_row"] = skips_in_row;
  json["last_epoch"] = Json::object();
  for (const auto& [name, value] : last_epoch) json["last_epoch"][name] = Write(value);
  json["ledger"] = Write(ledger);
  json["bad_records"] = bad_records;
  json["metrics_bytes"] = metrics_bytes;
  json["run_file"] = run_file;
  return json.dump(1) + "\n";
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
    state.position = ReadPosition(json.at("position"));
    state.epoch_steps = json.at("epoch_steps");
    state.epoch_rows = json.at("epoch_rows");
    state.epoch_ended = json.at("epoch_ended");
    state.epoch_seconds = json.at("epoch_seconds");
    state.totals = ReadSums(json.at("totals"));
    state.rate_factor = ReadNumber(json.at("rate_factor"));
    state.learning_rate = ReadNumber(json.at("learning_rate"));
    state.best = ReadOptional(json.at("best"));
    state.early_stopping = ReadMonitor(json.at("early_stopping"));
    state.reduce_lr_on_plateau = ReadMonitor(json.at("reduce_lr_on_plateau"));
    state.early_best = json.at("early_best");
    state.last_scale = ReadOptional(json.at("last_scale"));
    state.skips_in_row = json.at("skips_in_row");
    for (const auto& [name, value] : json.at("last_epoch").items()) {
      state.last_epoch[name] = ReadNumber(value);
    }
    state.ledger = ReadLedger(json.at("ledger"));
    state.bad_records = json.at("bad_records");
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

RunFileChanges CompareRunFiles(const Config& saved, const Config& now) {
  RunFileChanges changes;
  const auto note = [&](const std::string& table, const std::string& key, const Config* before,
                        const Config* after) {
    const Kind kind = KindOf(table, key);
    if (kind == Kind::kSilent) return;
    std::string line = key.empty() ? table : table + "." + key;
    line += ": " + Text(after) + ", was " + Text(before);
    (kind == Kind::kNoted ? changes.noted : changes.refused).push_back(std::move(line));
  };
  const auto names = [](const Config* table, std::vector<std::string>& into) {
    if (table == nullptr || !table->is_table()) return;
    for (const auto& [name, value] : table->entries()) {
      if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
    }
  };
  std::vector<std::string> tables;
  names(&now, tables);
  names(&saved, tables);
  for (const std::string& table : tables) {
    const Config *before = saved.Find(table), *after = now.Find(table);
    // The optimizer may be given as a name alone.
    if ((before != nullptr && !before->is_table()) || (after != nullptr && !after->is_table())) {
      if (before == nullptr || after == nullptr || !(*before == *after)) {
        note(table, "", before, after);
      }
      continue;
    }
    std::vector<std::string> keys;
    names(after, keys);
    names(before, keys);
    for (const std::string& key : keys) {
      const Config* old_value = before == nullptr ? nullptr : before->Find(key);
      const Config* new_value = after == nullptr ? nullptr : after->Find(key);
      const bool same =
          old_value != nullptr && new_value != nullptr ? *old_value == *new_value : false;
      if (!same) note(table, key, old_value, new_value);
    }
  }
  return changes;
}

}  // namespace flatout::train
