#include "flatout/web/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "flatout/web/testing.h"

namespace flatout::web {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::SomeRun;
using testing::WhatIsWrong;

std::string SectionOf(const watch::RunStatus& run, const std::string& id) {
  for (const Section& section : Sections(run)) {
    if (section.id == id) return section.html;
  }
  return "no such section";
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Nothing that a browser would fetch from elsewhere; and nothing to run, in a report.
void ExpectSelfContained(const std::string& html) {
  for (const char* part : {"src=", "@import", "<link rel=\"stylesheet\"", "<iframe", "<object"}) {
    EXPECT_THAT(html, Not(HasSubstr(part)));
  }
  std::string rest = html;  // addresses may stand only where they name a format
  const std::string svg = "http://www.w3.org/2000/svg";
  for (size_t at = rest.find(svg); at != std::string::npos; at = rest.find(svg)) {
    rest.erase(at, svg.size());
  }
  EXPECT_THAT(rest, Not(HasSubstr("http:")));
  EXPECT_THAT(rest, Not(HasSubstr("https:")));
}

TEST(Sections, ShowARun) {
  const watch::RunStatus run = SomeRun();
  for (const Section& section : Sections(run)) {
    EXPECT_EQ(WhatIsWrong("<div>" + section.html + "</div>"), "") << section.id;
    EXPECT_NE(section.html, "") << section.id;
  }
  EXPECT_THAT(SectionOf(run, "head"), HasSubstr("● training"));
  // Not rounded up.
  EXPECT_THAT(SectionOf(run, "tiles"), HasSubstr("87.6 %"));
  EXPECT_THAT(SectionOf(run, "tiles"), HasSubstr("USD"));
  // Loss, accuracy, AUC, speed, full, learning rate (it changed).
  EXPECT_EQ(CountOf(SectionOf(run, "curves"), "<figure>"), 6u);
  EXPECT_THAT(SectionOf(run, "time"), HasSubstr("◀ limit"));
  EXPECT_THAT(SectionOf(run, "time"), HasSubstr("in compute"));  // communication, not measured
  EXPECT_THAT(SectionOf(run, "input"), HasSubstr("▶ decode_image"));
  EXPECT_THAT(SectionOf(run, "devices"), HasSubstr("▼ power cap"));
  EXPECT_THAT(SectionOf(run, "checkpoints"), HasSubstr("step 200"));
  EXPECT_THAT(SectionOf(run, "log"), HasSubstr("epoch 2/5"));
  EXPECT_THAT(Title(run), HasSubstr("cnn"));
}

TEST(Sections, OfARunThatHasNotBegun) {
  for (const Section& section : Sections(watch::RunStatus())) {
    EXPECT_EQ(WhatIsWrong("<div>" + section.html + "</div>"), "") << section.id;
  }
  EXPECT_THAT(SectionOf(watch::RunStatus(), "tiles"), HasSubstr("n/a"));
  EXPECT_THAT(SectionOf(watch::RunStatus(), "tiles"), Not(HasSubstr("0.0 %")));
}

TEST(Sections, TextFromElsewhereIsNeverMarkup) {
  watch::RunStatus run = SomeRun();
  const std::string evil = "<img src=x onerror=\"alert(1)\">\x01\xff&'";
  run.name = run.folder = run.host = run.device = run.model = run.optimizer = run.precision =
      run.error = run.stage = run.checkpoints.error = evil;
  run.state = "failed";
  run.metrics = {{evil, 1}};
  run.last_epoch = {{evil, 1}, {"val_" + evil, 2}};
  run.test = {{evil, 1}};
  run.input.stages[0].name = evil;
  run.input.decisions = {evil};
  run.devices[0].name = evil;
  run.devices[0].throttled = {{evil}};
  run.verdict = {evil};
  run.notes = {evil};
  run.price.currency = evil;
  run.run_file = evil;
  watch::AddLogLine(run, evil);
  for (const Section& section : Sections(run)) {
    EXPECT_EQ(WhatIsWrong("<div>" + section.html + "</div>"), "") << section.id;
    EXPECT_THAT(section.html, Not(HasSubstr("<img"))) << section.id;
  }
  EXPECT_EQ(WhatIsWrong(Report({run})), "");
  EXPECT_EQ(WhatIsWrong(Report({run, run})), "");
  EXPECT_THAT(Report({run, run}), Not(HasSubstr("<img")));
  // JSON stays JSON.
  EXPECT_TRUE(nlohmann::json::accept(SectionsJson(run)));
  EXPECT_TRUE(nlohmann::json::accept(StatusJson(run)));
}

TEST(LivePage, StandsOnItsOwn) {
  const std::string page = LivePage("abc");
  EXPECT_EQ(WhatIsWrong(page), "");
  ExpectSelfContained(page);
  EXPECT_THAT(page, Not(HasSubstr("{{")));
  EXPECT_THAT(page, HasSubstr("<script nonce=\"abc\">"));
  EXPECT_EQ(CountOf(page, "<script"), 1u);
  for (const Section& section : Sections(SomeRun())) {
    EXPECT_THAT(page, HasSubstr("id=\"" + section.id + "\""));
  }
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  EXPECT_THAT(page, HasSubstr("width=device-width"));
}

TEST(LivePage, WhatItGets) {
  const auto json = nlohmann::json::parse(SectionsJson(SomeRun()));
  EXPECT_EQ(json["sections"].size(), Sections(SomeRun()).size());
  EXPECT_THAT(json["title"].get<std::string>(), HasSubstr("46 %"));
}

TEST(StatusJson, KnownAndUnknown) {
  auto json = nlohmann::json::parse(StatusJson(SomeRun()));
  EXPECT_EQ(json["state"], "training");
  EXPECT_EQ(json["steps"], 500);
  EXPECT_EQ(json["ledger"]["communication"], nullptr);
  EXPECT_GT(json["ledger"]["compute"], 50);
  EXPECT_EQ(json["cost"]["currency"], "USD");
  EXPECT_EQ(json["devices"].size(), 2u);
  EXPECT_EQ(json["history"].size(), 24u);
  EXPECT_EQ(json["history"][0]["metrics"]["accuracy"], 0.1);
  json = nlohmann::json::parse(StatusJson(watch::RunStatus()));
  for (const char* key : {"loss", "full", "mfu", "ledger", "input", "cost", "eta_seconds"}) {
    EXPECT_EQ(json[key], nullptr) << key;
  }
}

TEST(Report, OfOneRun) {
  watch::RunStatus run = SomeRun();
  run.state = "done";
  run.run_file = "[train]\nepochs = 5\n";
  const std::string html = Report({run});
  EXPECT_EQ(WhatIsWrong(html), "");
  ExpectSelfContained(html);
  EXPECT_THAT(html, Not(HasSubstr("<script")));
  EXPECT_THAT(html, HasSubstr("Is the device running full?"));
  EXPECT_THAT(html, HasSubstr("epochs = 5"));
  EXPECT_GT(CountOf(html, "class=\"line s"), 10u);
  EXPECT_GT(CountOf(html, "class=\"area\""), 10u);
}

TEST(Report, OfSeveralRuns) {
  watch::RunStatus a = SomeRun(), b = SomeRun();
  b.name = "cnn-2";
  a.run_file = "[optimizer]\nclass = \"Adam\"\n[train]\nepochs = 5\n";
  b.run_file = "[optimizer]\nclass = \"SGD\"\n[train]\nepochs = 5\n";
  b.last_epoch["val_loss"] = 0.125;
  const std::string html = Report({a, b});
  EXPECT_EQ(WhatIsWrong(html), "");
  ExpectSelfContained(html);
  EXPECT_THAT(html, HasSubstr("2 runs"));
  EXPECT_THAT(html, HasSubstr("<td>optimizer.class</td><td class=\"n\">&quot;Adam&quot;</td><td "
                              "class=\"n\">&quot;SGD&quot;</td>"));
  EXPECT_THAT(html, Not(HasSubstr("<td>train.epochs</td>")));  // the same in both
  EXPECT_THAT(html,
              HasSubstr("<td>val_loss</td><td class=\"n\">0.55</td><td class=\"n\">0.125</td>"));
  // Two runs of one name are told apart by their folders.
  b.name = "cnn";
  b.folder = "elsewhere/cnn";
  EXPECT_THAT(Report({a, b}), HasSubstr("elsewhere/cnn"));
}

}  // namespace
}  // namespace flatout::web
