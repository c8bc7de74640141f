// Optimizers, learning-rate schedules and the callbacks that watch a figure, against Keras
// (tests/recorded/optimizers.json, schedules.json). Cases of one optimizer share one program, in
// which a loop over the recorded gradients makes all updates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "flatout/ir/ops.h"
#include "flatout/optim/optimizer.h"
#include "flatout/optim/schedule.h"
#include "flatout/train/monitor.h"
#include "tests/recorded.h"

namespace flatout::testing {
namespace {

using nlohmann::json;

const json& Recorded(const std::string& name) {
  static std::map<std::string, json> files;
  if (!files.contains(name)) files[name] = LoadRecorded(name);
  return files.at(name);
}

// Keras accumulates gradients in the optimizer, we in the training step around it (micro-batches of
// one global batch). So this case is run as what it means: one update by the mean of so many
// gradients; between, nothing changes.
constexpr const char* kAccumulation = "gradient_accumulation_steps";

const std::map<std::string, std::vector<json>>& CasesByOptimizer() {
  static const std::map<std::string, std::vector<json>> cases = [] {
    std::map<std::string, std::vector<json>> result;
    for (const json& one : Recorded("optimizers.json").at("cases")) {
      result[one.at("optimizer").get<std::string>()].push_back(one);
    }
    return result;
  }();
  return cases;
}

// Within 1e-5 of the expected value, element by element; values that have come near zero keep the
// rounding errors of where they came from.
void ExpectEqual(const HostTensor& found, const HostTensor& expected, const std::string& what) {
  constexpr double kRelative = 1e-5, kRounding = 1e-6;
  ASSERT_EQ(ir::DimsToString(found.shape.dims), ir::DimsToString(expected.shape.dims)) << what;
  for (size_t i = 0; i < expected.data.size(); ++i) {
    EXPECT_NEAR(found.data[i], expected.data[i], kRelative * std::abs(expected.data[i]) + kRounding)
        << what << ", element " << i;
  }
}

HostTensor Stacked(const std::vector<HostTensor>& rows) {
  HostTensor result{rows.at(0).shape, {}};
  result.shape.dims.insert(result.shape.dims.begin(), static_cast<int64_t>(rows.size()));
  for (const HostTensor& row : rows) {
    result.data.insert(result.data.end(), row.data.begin(), row.data.end());
  }
  return result;
}

HostTensor Row(const HostTensor& stacked, size_t row) {
  HostTensor result{stacked.shape, {}};
  result.shape.dims.erase(result.shape.dims.begin());
  const auto size = static_cast<size_t>(result.shape.size());
  result.data.assign(stacked.data.begin() + static_cast<int64_t>(row * size),
                     stacked.data.begin() + static_cast<int64_t>((row + 1) * size));
  return result;
}

HostTensor Mean(const std::vector<HostTensor>& tensors) {
  HostTensor mean = tensors.at(0);
  for (size_t k = 1; k < tensors.size(); ++k) {
    for (size_t i = 0; i < mean.data.size(); ++i) mean.data[i] += tensors[k].data[i];
  }
  for (double& value : mean.data) value /= static_cast<double>(tensors.size());
  return mean;
}

// All cases of one optimizer.
class Updates {
 public:
  void AddCase(const json& one) {
    Case& added = cases_.emplace_back();
    added.name = one.at("name").get<std::string>();
    added.recorded = &one;
    Config config = ToConfig(one.at("config"));
    if (const Config* accumulation = config.Find(kAccumulation)) {
      added.accumulation = accumulation->AsInt();
      config = WithoutKey(config, kAccumulation);
    }
    config.Set("class", ToConfig(one.at("optimizer")));
    if (one.contains("exclude_from_weight_decay")) {
      config.Set("exclude_from_weight_decay", ToConfig(one.at("exclude_from_weight_decay")));
    }
    const auto optimizer = optim::OptimizerFromConfig(config);

    std::vector<nn::Variable> variables;
    for (const json& recorded : one.at("variables")) {
      const HostTensor initial = ReadTensor(recorded.at("initial"));
      variables.push_back({.path = recorded.at("name").get<std::string>(), .shape = initial.shape});
    }
    // Carried: variables, each variable's slots, the step.
    std::vector<ir::Value> carry;
    for (const json& recorded : one.at("variables")) {
      carry.push_back(Argument(ReadTensor(recorded.at("initial"))));
    }
    std::vector<size_t> slot_counts;
    for (const nn::Variable& variable : variables) {
      const std::vector<optim::Slot> slots = optimizer->Slots(variable);
      slot_counts.push_back(slots.size());
      for (const optim::Slot& slot : slots) {
        carry.push_back(ir::Full(graph_, slot.shape, slot.initial));
      }
    }
    carry.push_back(ir::Scalar(graph_, ir::DType::kI32, 0));

    const json& gradients = one.at("gradients");
    const auto each = static_cast<size_t>(added.accumulation);
    added.updates = gradients.size() / each;
    std::vector<ir::Value> xs;
    for (size_t v = 0; v < variables.size(); ++v) {
      std::vector<HostTensor> rows;
      for (size_t k = 0; k < added.updates; ++k) {
        std::vector<HostTensor> parts;
        for (size_t p = 0; p < each; ++p) parts.push_back(ReadTensor(gradients[k * each + p][v]));
        rows.push_back(Mean(parts));
      }
      xs.push_back(Argument(Stacked(rows)));
    }

    const bool ema = optimizer->uses_ema();
    const std::vector<ir::Value> results =
        ir::Scan(graph_, static_cast<int64_t>(added.updates), {}, carry, xs,
                 [&](ir::Graph&, std::span<const ir::Value> arguments) {
                   const size_t count = variables.size();
                   const ir::Value step = arguments[carry.size() - 1];
                   std::vector<const nn::Variable*> pointers;
                   std::vector<std::vector<ir::Value>> slots;
                   size_t next = count;
                   for (size_t v = 0; v < count; ++v) {
                     pointers.push_back(&variables[v]);
                     slots.emplace_back();
                     for (size_t s = 0; s < slot_counts[v]; ++s)
                       slots.back().push_back(arguments[next++]);
                   }
                   const auto result =
                       optimizer->Apply(pointers, arguments.first(count),
                                        arguments.subspan(carry.size(), count), slots, step, {});
                   std::vector<ir::Value> after = result.values;
                   for (const auto& own : result.slots)
                     after.insert(after.end(), own.begin(), own.end());
                   after.push_back(step + 1.0);
                   after.push_back(result.learning_rate);
                   after.insert(after.end(), result.values.begin(), result.values.end());
                   if (ema) {
                     for (const auto& own : result.slots) after.push_back(own.back());
                   }
                   return after;
                 });
    added.first_output = outputs_.size();
    outputs_.insert(outputs_.end(), results.begin() + static_cast<int64_t>(carry.size()),
                    results.end());
  }

  void RunAndCompare() {
    graph_.SetOutputs(outputs_);
    const std::vector<HostTensor> results = RunGraph(graph_, arguments_);
    for (const Case& one : cases_) Compare(one, std::span(results).subspan(one.first_output));
  }

 private:
  struct Case {
    std::string name;
    const json* recorded;
    int64_t accumulation = 1;
    size_t updates = 0;
    size_t first_output = 0;  // learning rates, values per variable, averages per variable
  };

  ir::Value Argument(HostTensor value) {
    arguments_.push_back(std::move(value));
    return graph_.AddParameter(arguments_.back().shape, "argument");
  }

  void Compare(const Case& one, std::span<const HostTensor> results) {
    const json& recorded = *one.recorded;
    const size_t count = recorded.at("variables").size();
    const auto each = static_cast<size_t>(one.accumulation);
    for (size_t step = 0; step < recorded.at("values").size(); ++step) {
      const size_t updates = (step + 1) / each;  // so far
      for (size_t v = 0; v < count; ++v) {
        const std::string what =
            fmt::format("{}: {} after step {}", one.name,
                        recorded.at("variables")[v].at("name").get<std::string>(), step + 1);
        const HostTensor found = updates == 0
                                     ? ReadTensor(recorded.at("variables")[v].at("initial"))
                                     : Row(results[1 + v], updates - 1);
        ExpectEqual(found, ReadTensor(recorded.at("values")[step][v]), what);
        if (!recorded.contains("ema")) continue;
        ExpectEqual(Row(results[1 + count + v], step), ReadTensor(recorded.at("ema")[step][v]),
                    what + " (average)");
      }
    }
    for (size_t k = 0; k < one.updates; ++k) {
      const double rate = recorded.at("learning_rates")[k * each].get<double>();
      EXPECT_NEAR(results[0].data[k], rate, 1e-6 * std::abs(rate)) << one.name << ": rate " << k;
    }
    if (!recorded.contains("finalized")) return;
    // What training ends with in Keras: the averages.
    for (size_t v = 0; v < count; ++v) {
      ExpectEqual(Row(results[1 + count + v], one.updates - 1),
                  ReadTensor(recorded.at("finalized")[v]), one.name + ": finalized");
    }
  }

  ir::Graph graph_{"main"};
  std::vector<HostTensor> arguments_;
  std::vector<ir::Value> outputs_;
  std::vector<Case> cases_;
};

class RecordedOptimizerTest : public ::testing::TestWithParam<std::string> {};

TEST_P(RecordedOptimizerTest, EqualsKeras) {
  Updates updates;
  for (const json& one : CasesByOptimizer().at(GetParam())) {
    WithContext(one.at("name").get<std::string>(), [&] { updates.AddCase(one); });
  }
  updates.RunAndCompare();
}

std::vector<std::string> RecordedOptimizers() {
  std::vector<std::string> names;
  for (const auto& [name, cases] : CasesByOptimizer()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedOptimizerTest, ::testing::ValuesIn(RecordedOptimizers()),
                         [](const auto& info) { return info.param; });

TEST(OptimizerTableTest, EveryRowIsRecordedAndEveryCaseRuns) {
  EXPECT_THAT(optim::OptimizerNames(), ::testing::UnorderedElementsAreArray(RecordedOptimizers()));
  size_t cases = 0;
  for (const auto& [name, own] : CasesByOptimizer()) cases += own.size();
  EXPECT_EQ(cases, Recorded("optimizers.json").at("cases").size());
}

TEST(RecordedScheduleTest, EqualsKerasAtEveryStep) {
  ir::Graph graph("main");
  std::vector<HostTensor> arguments;
  std::vector<ir::Value> outputs;
  std::set<std::string> seen;
  const json& cases = Recorded("schedules.json").at("cases");
  for (const json& one : cases) {
    Config config = ToConfig(one.at("config"));
    config.Set("class", ToConfig(one.at("schedule")));
    seen.insert(one.at("schedule").get<std::string>());
    const auto schedule = optim::ScheduleFromConfig(config);
    EXPECT_FALSE(schedule->constant());
    HostTensor steps;
    for (const json& step : one.at("steps")) steps.data.push_back(step.get<double>());
    const auto count = static_cast<int64_t>(steps.data.size());
    steps.shape = ir::Shape(ir::DType::kF32, {count});
    arguments.push_back(std::move(steps));
    const std::vector<ir::Value> xs = {graph.AddParameter(arguments.back().shape, "steps")};
    outputs.push_back(
        ir::Scan(graph, count, {}, {}, xs, [&](ir::Graph&, std::span<const ir::Value> step) {
          return std::vector<ir::Value>{schedule->Rate(step[0])};
        })[0]);
  }
  EXPECT_THAT(optim::ScheduleNames(), ::testing::UnorderedElementsAreArray(seen));
  graph.SetOutputs(outputs);
  const std::vector<HostTensor> results = RunGraph(graph, arguments);
  for (size_t i = 0; i < cases.size(); ++i) {
    for (size_t k = 0; k < results[i].data.size(); ++k) {
      const double expected = cases[i].at("values")[k].get<double>();
      // The cosine and the root of small differences keep the rounding of the numbers subtracted.
      EXPECT_NEAR(results[i].data[k], expected, 1e-5 * std::abs(expected) + 2e-8)
          << cases[i].at("name") << " at step " << cases[i].at("steps")[k];
    }
  }
}

template <typename Options>
Options ReadCallback(const json& one) {
  Options options;
  ReadConfig(ToConfig(one.at("config")), options);
  return options;
}

TEST(RecordedCallbackTest, EqualsKeras) {
  const json& cases = Recorded("schedules.json").at("callbacks");
  for (const json& one : cases) {
    const auto name = one.at("name").get<std::string>();
    SCOPED_TRACE(name);
    const auto monitored = one.at("monitored").get<std::vector<double>>();
    if (one.at("callback") == "ReduceLROnPlateau") {
      train::PlateauReducer reducer(ReadCallback<train::ReduceLrOnPlateau>(one));
      auto rate = one.at("initial_learning_rate").get<float>();
      for (size_t epoch = 0; epoch < monitored.size(); ++epoch) {
        rate = static_cast<float>(reducer.Observe(monitored[epoch], rate));
        EXPECT_FLOAT_EQ(rate, one.at("learning_rates")[epoch].get<float>()) << epoch;
      }
    } else if (one.at("callback") == "EarlyStopping") {
      train::EarlyStopper stopper(ReadCallback<train::EarlyStopping>(one));
      int64_t stopped = -1;
      for (size_t epoch = 0; epoch < monitored.size() && stopped < 0; ++epoch) {
        const auto number = static_cast<int64_t>(epoch);
        const auto decision = stopper.Observe(number, monitored[epoch]);
        EXPECT_EQ(decision.keep, stopper.best_epoch() == number);
        if (decision.stop) stopped = number;
      }
      const json& expected = one.at("stopped_epoch");
      EXPECT_EQ(stopped, expected.is_null() ? -1 : expected.get<int64_t>());
      EXPECT_EQ(stopper.best_epoch(), one.at("best_epoch").get<int64_t>());
    } else {
      ADD_FAILURE() << "no callback of ours for " << one.at("callback");
    }
  }
}

}  // namespace
}  // namespace flatout::testing
