#include "flatout/cli/top.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flatout/web/testing.h"

namespace flatout::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Columns on a terminal: characters outside of escape sequences.
size_t Width(const std::string& line) {
  size_t width = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      while (line[i] != 'm') ++i;
    } else if ((static_cast<unsigned char>(line[i]) & 0xC0) != 0x80) {
      ++width;
    }
  }
  return width;
}

std::string All(const std::vector<std::string>& lines) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  return all;
}

TEST(Sparkline, OfValues) {
  EXPECT_EQ(Sparkline({0, 1, 2, 3, 4, 5, 6, 7}, 8), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(Sparkline({1, 1}, 8), "▄▄");
  EXPECT_EQ(Sparkline({0, std::nan(""), 1}, 8), "▁ █");
  EXPECT_EQ(Sparkline({}, 8), "");
  EXPECT_EQ(Sparkline({0, 0, 0, 0, 1, 1, 1, 1}, 2), "▁█");
}

TEST(Top, ShowsARun) {
  const std::string text = All(TopLines(web::testing::SomeRun(), {.columns = 100}, false));
  for (const char* part : {"● training", "46.0 %", "step 230 of 500", "full 87.6 %", "MFU 41.0 %",
                           "accuracy", "val_loss", "◀ limit", "decode_image", "USD",
                           "checkpoint of step 200", "Is the device running full?"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(Top, FitsTheTerminal) {
  for (const int columns : {40, 60, 80, 100, 200}) {
    for (const int rows : {2, 5, 24, 50, 0}) {
      const auto lines = TopLines(web::testing::SomeRun(), {columns, rows}, true);
      EXPECT_FALSE(lines.empty());
      if (rows > 0) EXPECT_LT(lines.size(), static_cast<size_t>(rows));
      for (const std::string& line : lines) {
        EXPECT_LE(Width(line), static_cast<size_t>(columns)) << line;
      }
    }
  }
}

TEST(Top, LongLinesOfTheVerdictAreWrapped) {
  watch::RunStatus run = web::testing::SomeRun();
  run.verdict = {"limit: " + std::string(30, 'a') + " " + std::string(30, 'b') + " end"};
  const auto lines = TopLines(run, {.columns = 60}, false);
  const auto at = std::find(lines.begin(), lines.end(), "  limit: " + std::string(30, 'a'));
  ASSERT_NE(at, lines.end());
  EXPECT_EQ(*(at + 1), "    " + std::string(30, 'b') + " end");
}

TEST(Top, TextFromElsewhereCommandsNoTerminal) {
  watch::RunStatus run = web::testing::SomeRun();
  const std::string evil = "a\033]0;title\007\033[2Jb";
  run.name = run.device = run.error = evil;
  run.metrics = {{evil, 1}};
  run.input.stages[0].name = evil;
  run.verdict = {evil};
  run.notes = {evil};
  watch::AddLogLine(run, evil);
  const std::string text = All(TopLines(run, {.columns = 120}, false));
  EXPECT_THAT(text, HasSubstr("a?]0;title"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
}

TEST(Top, RunsThatHaveNotBegunOrWereKilled) {
  EXPECT_THAT(All(TopLines(watch::RunStatus(), {}, false)), HasSubstr("full n/a"));
  watch::RunStatus run = web::testing::SomeRun();
  run.state = "ended";
  EXPECT_THAT(All(TopLines(run, {}, false)), HasSubstr("it was killed"));
}

}  // namespace
}  // namespace flatout::cli
