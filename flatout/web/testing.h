// For tests of what is shown: whether a document is well-formed, and a run to show.
#pragma once

#include <cctype>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "flatout/watch/run_status.h"

namespace flatout::web::testing {

// What is wrong with a document as XML ("" where nothing is): tags that do not match, attributes
// without quotes or given twice, bare & and <, bytes that are no UTF-8 text. `script` may hold
// anything.
inline std::string WhatIsWrong(const std::string& text) {
  std::vector<std::string> open;
  const auto at = [&](size_t i, const std::string& what) {
    return what + " at: " + text.substr(i, 60);
  };
  for (size_t i = 0; i < text.size();) {
    if (text.compare(i, 9, "<!DOCTYPE") == 0) {
      i = text.find('>', i) + 1;
      continue;
    }
    if (text[i] == '&') {
      const size_t end = text.find(';', i);
      if (end == std::string::npos || end - i > 8) return at(i, "a bare &");
      i = end + 1;
      continue;
    }
    if (text[i] == '>' && open.empty()) return at(i, "text outside of the document");
    if (text[i] != '<') {
      const auto c = static_cast<unsigned char>(text[i]);
      if (c < 0x20 && c != '\n' && c != '\t') return at(i, "a control character");
      ++i;
      continue;
    }
    const bool closes = text.compare(i, 2, "</") == 0;
    size_t k = i + (closes ? 2 : 1);
    std::string name;
    while (k < text.size() && std::isalnum(static_cast<unsigned char>(text[k])) != 0) {
      name += text[k++];
    }
    if (name.empty()) return at(i, "a bare <");
    if (closes) {
      if (open.empty() || open.back() != name || k >= text.size() || text[k] != '>') {
        return at(i, "</" + name + "> closes " + (open.empty() ? "nothing" : open.back()));
      }
      open.pop_back();
      i = k + 1;
      continue;
    }
    std::set<std::string> attributes;
    while (true) {
      while (k < text.size() && std::isspace(static_cast<unsigned char>(text[k])) != 0) ++k;
      if (k >= text.size()) return at(i, "a tag without end");
      if (text[k] == '>' || text.compare(k, 2, "/>") == 0) break;
      std::string attribute;
      while (k < text.size() && (std::isalnum(static_cast<unsigned char>(text[k])) != 0 ||
                                 text[k] == '-' || text[k] == ':')) {
        attribute += text[k++];
      }
      if (attribute.empty() || !attributes.insert(attribute).second) {
        return at(k, "no attribute, or one given twice");
      }
      // HTML has attributes without values; here only these are used.
      if (k < text.size() && text[k] != '=' && attribute == "hidden") continue;
      if (text.compare(k, 2, "=\"") != 0) return at(k, "an attribute without quotes");
      const size_t end = text.find('"', k + 2);
      if (end == std::string::npos) return at(k, "an attribute without end");
      const std::string value = text.substr(k + 2, end - k - 2);
      if (value.find('<') != std::string::npos) return at(k, "a < in an attribute");
      if (value.find("nan") != std::string::npos || value.find("inf") != std::string::npos) {
        return at(k, "a coordinate that is no number");
      }
      k = end + 1;
    }
    if (text[k] == '/') {
      i = k + 2;
      continue;
    }
    i = k + 1;
    if (name == "script" || name == "style") {
      i = text.find("</" + name + ">", i);
      if (i == std::string::npos) return name + " without end";
      i += name.size() + 3;
      continue;
    }
    open.push_back(name);
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

// A run in the middle of its work: two metrics, three stages, two cards, a price.
inline watch::RunStatus SomeRun() {
  using watch::Cause;
  watch::RunStatus run;
  run.name = "cnn";
  run.folder = "runs/cnn";
  run.host = "node1";
  run.device = "2 x NVIDIA H100 80GB HBM3";
  run.model = "cnn";
  run.optimizer = "Adam";
  run.learning_rate_schedule = "0.001";
  run.precision = "mixed_bfloat16";
  run.parameters = 1234567;
  run.epochs = 5;
  run.steps_per_epoch = 100;
  run.global_batch = 128;
  run.replicas = 2;
  run.state = "training";
  run.step = 230;
  run.epoch = 3;
  run.step_in_epoch = 30;
  run.samples = 230 * 128;
  run.process_steps = 230;
  run.process_samples = 230 * 128;
  run.loss = 0.25;
  run.metrics = {{"accuracy", 0.91}, {"AUC", 0.97}};
  run.learning_rate = 0.001;
  run.samples_per_second = 12345;
  run.full = 0.87654;
  run.run_full = 0.85;
  run.mfu = 0.41;
  run.limit = "input";
  run.stage = "decode_image";
  run.progress_age_seconds = 0.2;
  run.uptime_seconds = 100;
  run.resident_bytes = 1e9;
  run.peak_resident_bytes = 1.5e9;
  run.planned_bytes = 30e9;
  run.disk_free_bytes = 5e11;
  run.disk_bytes = 1e12;
  run.usable_cores = 8;
  run.ledger_known = true;
  run.communication_measured = false;
  watch::LedgerReport ledger;
  for (int i = 0; i <= 23; ++i) {
    watch::RunPoint point;
    point.step = i * 10;
    point.epoch = i * 0.1;
    point.seconds = 10 + i * 3.0;
    point.loss = 2.3 * std::exp(-i * 0.1);
    point.metrics = {{"accuracy", 0.1 + 0.035 * i}, {"AUC", 0.5 + 0.02 * i}};
    point.learning_rate = i < 12 ? 0.001 : 0.0005;
    point.samples_per_second = 12000 + 100 * std::sin(i);
    point.full = 0.85 + 0.02 * std::sin(i);
    point.queue_fill = 0.5;
    point.input_wait = 0.1;
    const auto spend = [&](Cause cause, double seconds) {
      ledger.seconds[static_cast<size_t>(cause)] += seconds;
    };
    if (i == 0) {
      spend(Cause::kStart, 4);
      spend(Cause::kCompile, 6);
    } else {
      spend(Cause::kCompute, 2.4);
      spend(Cause::kInput, 0.4);
      spend(Cause::kHost, 0.1);
      spend(i % 10 == 0 ? Cause::kEvaluation : Cause::kCheckpoint, 0.1);
    }
    ledger.wall = ledger.sum();
    point.ledger = ledger;
    run.history.Add(point);
  }
  run.ledger = run.process_ledger = ledger;
  for (int epoch = 1; epoch <= 2; ++epoch) {
    watch::RunEpoch end;
    end.epoch = epoch;
    end.step = 100 * epoch;
    end.seconds = 30;
    end.logs = {{"loss", 1.0 / epoch},
                {"accuracy", 0.5 + 0.2 * epoch},
                {"val_loss", 1.1 / epoch},
                {"val_accuracy", 0.45 + 0.2 * epoch},
                {"AUC", 0.8 + 0.05 * epoch}};
    run.last_epoch = end.logs;
    watch::AddEpoch(run, end);
  }
  run.input_known = true;
  run.input.workers = 4;
  run.input.depth = 8;
  run.input.queue_fill = 0.35;
  run.input.stages = {
      {"decode_image", 60, 30000, 0}, {"read", 12, 30000, 900000000}, {"assemble", 3, 30000, 0}};
  run.input_wait_seconds = 9.2;
  run.queue_bytes = 5e7;
  run.queue_budget_bytes = 2e8;
  for (int i = 0; i < 2; ++i) {
    watch::DeviceStatus device;
    device.index = i;
    device.name = "NVIDIA H100 80GB HBM3";
    device.memory_used_bytes = 40e9;
    device.memory_limit_bytes = 80e9;
    device.memory_peak_bytes = 42e9;
    device.kernel_active = 0.99;
    device.power_watts = 612;
    device.power_limit_watts = 700;
    device.temperature_celsius = 71;
    device.clock_hertz = 1.7e9;
    device.uncorrected_errors = 0;
    device.throttled = i == 0 ? std::vector<std::string>{} : std::vector<std::string>{"power cap"};
    run.devices.push_back(device);
  }
  run.compiles = 2;
  run.checkpoints.saved = 3;
  run.checkpoints.last_step = 200;
  run.checkpoints.age_seconds = 42;
  run.checkpoints.bytes = 2e7;
  run.checkpoints.blocked_seconds = 0.4;
  run.checkpoints.write_seconds = 2;
  run.price = {.price_per_hour = 4.5, .currency = "USD"};
  run.verdict = {"full    85.0 % of the training time the device ran training steps",
                 "limit   input: decode_image; more threads would give 1.15 times the speed"};
  watch::AddLogLine(run, "2026-11-30 18:00:00 epoch 2/5 in 30 s: loss 0.5");
  run.eta_seconds = watch::EstimateEta(run);
  return run;
}

}  // namespace flatout::web::testing
