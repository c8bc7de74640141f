#include "flatout/web/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "flatout/web/testing.h"

namespace flatout::web {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::SomeRun;

// Values by series, "flatout_metric{metric=\"accuracy\"}".
std::map<std::string, std::string> Parse(const std::string& text) {
  std::map<std::string, std::string> series;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("#")) continue;
    const size_t space = line.rfind(' ');
    EXPECT_NE(space, std::string::npos) << line;
    EXPECT_TRUE(series.emplace(line.substr(0, space), line.substr(space + 1)).second)
        << line << " is there twice";
  }
  return series;
}

std::string Write(const watch::RunStatus& run) {
  MetricsWriter writer;
  return writer.Write(run);
}

// Prometheus's rules: https://prometheus.io/docs/practices/naming, and its linter's.
TEST(Metrics, NamesAndUnits) {
  std::set<std::string> seen;
  for (const MetricInfo& metric : AllMetrics()) {
    SCOPED_TRACE(metric.name);
    EXPECT_TRUE(seen.insert(metric.name).second);
    EXPECT_TRUE(std::regex_match(metric.name, std::regex("(flatout|process)_[a-z_]+")));
    EXPECT_EQ(metric.name.ends_with("_total"), metric.type == "counter");
    EXPECT_TRUE(metric.type == "counter" || metric.type == "gauge");
    EXPECT_TRUE(metric.help.ends_with("."));
    for (const char* unit : {"_ms", "_milli", "_minutes", "_hours", "_percent", "_mb", "_gb",
                             "_kilobytes", "_fahrenheit", "_mhz"}) {
      EXPECT_THAT(metric.name, Not(HasSubstr(unit)));
    }
  }
}

TEST(Metrics, AllOfThemAreDocumented) {
  std::ifstream file(FLATOUT_SOURCE_DIR "/docs/monitoring.md");
  const std::string document((std::istreambuf_iterator<char>(file)), {});
  ASSERT_NE(document, "");
  std::set<std::string> known;
  for (const MetricInfo& metric : AllMetrics()) {
    known.insert(metric.name);
    EXPECT_THAT(document, HasSubstr("| `" + metric.name + "` | " + metric.type + " |"));
  }
  // And there are no others in it.
  const std::regex name("`(flatout_[a-z_]+)`");
  for (std::sregex_iterator it(document.begin(), document.end(), name), end; it != end; ++it) {
    EXPECT_TRUE(known.contains((*it)[1])) << (*it)[1];
  }
}

TEST(Metrics, OfARun) {
  const auto series = Parse(Write(SomeRun()));
  EXPECT_EQ(series.at("flatout_steps_total"), "230");
  EXPECT_EQ(series.at("flatout_planned_steps"), "500");
  EXPECT_EQ(series.at("flatout_metric{metric=\"accuracy\"}"), "0.91");
  EXPECT_EQ(series.at("flatout_validation_loss"), "0.55");
  EXPECT_EQ(series.at("flatout_run_state{state=\"training\"}"), "1");
  EXPECT_EQ(series.at("flatout_run_state{state=\"done\"}"), "0");
  EXPECT_EQ(series.at("flatout_limiting_cause{cause=\"input\"}"), "1");
  EXPECT_EQ(series.at("flatout_limiting_cause{cause=\"compute\"}"), "0");
  EXPECT_EQ(series.at("flatout_device_throttled{device=\"0\"}"), "0");
  EXPECT_EQ(series.at("flatout_device_throttled{device=\"1\"}"), "1");
  EXPECT_EQ(series.at("flatout_input_stage_records_total{stage=\"read\"}"), "30000");
  EXPECT_TRUE(series.contains("flatout_cost_by_cause{cause=\"input\",currency=\"USD\"}"));
  double all = 0;
  for (const auto& [name, value] : series) {
    if (name.starts_with("flatout_time_seconds_total")) all += std::stod(value);
  }
  EXPECT_NEAR(all, SomeRun().process_ledger.sum(), 1e-6);
}

TEST(Metrics, UnknownIsAbsentAndNeverZero) {
  const std::string text = Write(SomeRun());
  EXPECT_THAT(text, Not(HasSubstr("cause=\"communication\"} 0\nflatout_time")));
  EXPECT_THAT(text, Not(HasSubstr("flatout_time_seconds_total{cause=\"communication\"}")));
  watch::RunStatus run;
  run.name = "new";
  const auto series = Parse(Write(run));
  for (const char* name : {"flatout_loss", "flatout_full_ratio", "flatout_mfu_ratio",
                           "flatout_eta_seconds", "flatout_last_progress_timestamp_seconds",
                           "flatout_checkpoint_last_step", "flatout_learning_rate"}) {
    EXPECT_FALSE(series.contains(name)) << name;
  }
  for (const auto& [name, value] : series) {
    EXPECT_FALSE(name.starts_with("flatout_device_")) << name;
    EXPECT_FALSE(name.starts_with("flatout_cost")) << name;
    EXPECT_FALSE(name.starts_with("flatout_time_")) << name;
  }
}

// Nobody counts the records of a transfer, which goes on beside the workers.
TEST(Metrics, RecordsThatNobodyCountsAreAbsent) {
  watch::RunStatus run = SomeRun();
  run.input.stages.push_back({"transfer", 5, 0, 0});
  const auto series = Parse(Write(run));
  EXPECT_EQ(series.at("flatout_input_stage_seconds_total{stage=\"transfer\"}"), "5");
  EXPECT_FALSE(series.contains("flatout_input_stage_records_total{stage=\"transfer\"}"));
  EXPECT_TRUE(series.contains("flatout_compiles"));
  EXPECT_FALSE(Parse(Write(watch::RunStatus())).contains("flatout_compiles"));
}

TEST(Metrics, ALossThatIsNoNumberIsShown) {
  watch::RunStatus run = SomeRun();
  run.loss = std::nan("");
  EXPECT_EQ(Parse(Write(run)).at("flatout_loss"), "Nan");
}

TEST(Metrics, CountersNeverFall) {
  MetricsWriter writer;
  watch::RunStatus run = SomeRun();
  const auto before = Parse(writer.Write(run));
  // Steps turn out to have been slowed by a snapshot: the ledger moves their time.
  const auto compute = static_cast<size_t>(watch::Cause::kCompute);
  run.process_ledger.seconds[compute] -= 5;
  run.process_ledger.seconds[static_cast<size_t>(watch::Cause::kCheckpoint)] += 5;
  const std::string name = "flatout_time_seconds_total{cause=\"compute\"}";
  EXPECT_EQ(Parse(writer.Write(run)).at(name), before.at(name));
  run.process_ledger.seconds[compute] += 10;
  EXPECT_GT(std::stod(Parse(writer.Write(run)).at(name)), std::stod(before.at(name)));
}

TEST(Metrics, LabelsAreBoundedAndEscaped) {
  watch::RunStatus run = SomeRun();
  run.name = "a\"b\\c\nd";
  run.metrics.clear();
  for (int i = 0; i < 1000; ++i) run.metrics["metric_" + std::to_string(i)] = i;
  run.device = std::string(127, 'x') + "é" + std::string(5000, 'y');
  const std::string text = Write(run);
  EXPECT_THAT(text, HasSubstr("run=\"a\\\"b\\\\c\\nd\""));
  EXPECT_THAT(text, HasSubstr("device=\"" + std::string(127, 'x') + "\""));  // not half an é
  size_t count = 0;
  for (const auto& [name, value] : Parse(text))
    count += name.starts_with("flatout_metric{") ? 1 : 0;
  EXPECT_EQ(count, 64u);
}

TEST(Metrics, AClockThatIsSetBackChangesNoAge) {
  // Ages are counted on a steady clock, and moments made of them when somebody asks.
  watch::RunStatus run = SomeRun();
  run.progress_age_seconds = 1000;
  const double now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(std::stod(Parse(Write(run)).at("flatout_last_progress_timestamp_seconds")),
              now - 1000, 2);
}

}  // namespace
}  // namespace flatout::web
