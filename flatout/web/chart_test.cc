#include "flatout/web/chart.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "flatout/web/testing.h"

namespace flatout::web {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::WhatIsWrong;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(Escape, WhatHtmlWouldObey) {
  EXPECT_EQ(Escape("<script>alert('x & \"y\"')</script>"),
            "&lt;script&gt;alert(&#39;x &amp; &quot;y&quot;&#39;)&lt;/script&gt;");
  EXPECT_EQ(Escape("épochs ▶ 😀"), "épochs ▶ 😀");
}

TEST(Escape, WhatIsNoText) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(Escape(std::string("a\0b\x1b[31m", 8)), "a" + bad + "b" + bad + "[31m");
  EXPECT_EQ(Escape("\xff"), bad);
  EXPECT_EQ(Escape("\xc3"), bad);                                // cut
  EXPECT_EQ(Escape("\xc0\xbc"), bad + bad);                      // an overlong <
  EXPECT_EQ(Escape("\xed\xa0\x80"), bad + bad + bad);            // half of a surrogate pair
  EXPECT_EQ(Escape("\xef\xbf\xbf"), bad);                        // U+FFFF
  EXPECT_EQ(Escape("\xf4\x90\x80\x80"), bad + bad + bad + bad);  // above U+10FFFF
}

TEST(ShortNumber, AsPeopleReadThem) {
  EXPECT_EQ(ShortNumber(0), "0");
  EXPECT_EQ(ShortNumber(0.123456), "0.1235");
  EXPECT_EQ(ShortNumber(1.2e-7), "1.2e-07");
  EXPECT_EQ(ShortNumber(kNan), "NaN");
  EXPECT_EQ(ShortCount(999), "999");
  EXPECT_EQ(ShortCount(1234), "1,234");
  EXPECT_EQ(ShortCount(12345), "12.3k");
  EXPECT_EQ(ShortCount(4.56e6), "4.56M");
}

TEST(Chart, ALine) {
  const std::string html = Draw({.title = "loss <1>",
                                 .x_label = "step",
                                 .lines = {{.name = "a & b", .points = {{0, 2}, {10, 1}}}}});
  EXPECT_EQ(WhatIsWrong(html), "");
  EXPECT_THAT(html, HasSubstr("loss &lt;1&gt;"));
  EXPECT_THAT(html, HasSubstr("a &amp; b"));
  // From the upper left to the lower right of the plot.
  EXPECT_THAT(html, HasSubstr("d=\"M62.0 10.0L546.0 208.0\""));
}

TEST(Chart, NothingToShow) {
  for (const LineChart& chart :
       {LineChart{.title = "loss"}, LineChart{.title = "loss", .lines = {{.name = "a"}}},
        LineChart{.title = "loss", .lines = {{.name = "a", .points = {{0, kNan}, {1, kInf}}}}}}) {
    const std::string html = Draw(chart);
    EXPECT_EQ(WhatIsWrong(html), "");
    EXPECT_THAT(html, HasSubstr("nothing yet"));
    EXPECT_THAT(html, Not(HasSubstr("<path")));
  }
}

TEST(Chart, GapsWhereNothingIsKnown) {
  const std::string html =
      Draw({.title = "loss",
            .x_label = "step",
            .lines = {
                {.name = "a", .points = {{0, 1}, {1, 2}, {2, kNan}, {3, 2}, {4, 1}, {5, -kInf}}}}});
  EXPECT_EQ(WhatIsWrong(html), "");
  EXPECT_EQ(CountOf(html.substr(html.find("class=\"line s0\" d=\"M62")), "M62"), 1u);
  EXPECT_THAT(html, HasSubstr("L183.0"));     // 0 to 1
  EXPECT_THAT(html, HasSubstr("M425.0"));     // begins anew at 3
  EXPECT_THAT(html, HasSubstr("<b>-∞</b>"));  // how it is now is said
}

TEST(Chart, ConstantsZerosAndSinglePoints) {
  for (const double value : {0.0, 1.0, -3.0, 1e-300, 1e300, 5e-324}) {
    for (const bool log : {false, true}) {
      for (const auto& points : std::vector<std::vector<std::pair<double, double>>>{
               {{7, value}}, {{7, value}, {8, value}}, {{7, value}, {7, value}}}) {
        const std::string html = Draw({.title = "x",
                                       .x_label = "step",
                                       .lines = {{.name = "a", .points = points}},
                                       .from_zero = !log,
                                       .may_be_log = log});
        EXPECT_EQ(WhatIsWrong(html), "") << value;
        EXPECT_THAT(html, HasSubstr("class=\"line s0\" d=\"M")) << value;
      }
    }
  }
}

TEST(Chart, ValuesThatHardlyDiffer) {
  for (const double value : {1.0, -1.0, 1e16, 1e-12, 1e299}) {
    const double next = std::nextafter(value, 1e300);
    const std::string html =
        Draw({.title = "x", .x_label = "step", .lines = {{.points = {{0, value}, {1, next}}}}});
    EXPECT_EQ(WhatIsWrong(html), "") << value;
    EXPECT_LT(html.size(), size_t{10000});
  }
}

TEST(Chart, LogarithmicWhereValuesSpanMuch) {
  LineChart chart{.title = "loss",
                  .x_label = "step",
                  .lines = {{.name = "a", .points = {{0, 100}, {1, 10}, {2, 1}, {3, 0.1}}}},
                  .may_be_log = true};
  const std::string html = Draw(chart);
  EXPECT_THAT(html, HasSubstr("logarithmic scale"));
  for (const char* tick : {">0.1<", ">1<", ">10<", ">100<"}) EXPECT_THAT(html, HasSubstr(tick));
  chart.lines[0].points.push_back({4, 0});  // has no place on such an axis
  EXPECT_THAT(Draw(chart), Not(HasSubstr("logarithmic")));
  chart.may_be_log = false;
  EXPECT_THAT(Draw(chart), Not(HasSubstr("logarithmic")));
}

TEST(Chart, LinesAreToldApartWithoutColour) {
  LineChart chart{.title = "x", .x_label = "step"};
  for (int i = 0; i < 4; ++i) {
    chart.lines.push_back({.name = std::string(1, static_cast<char>('a' + i)),
                           .points = {{0, i}, {1, i + 1}},
                           .style = i,
                           .marked = true});
  }
  const std::string html = Draw(chart);
  EXPECT_THAT(html, HasSubstr("<circle class=\"m s0\""));
  EXPECT_THAT(html, HasSubstr("<rect class=\"m s1\""));
  EXPECT_THAT(html, HasSubstr("stroke-dasharray=\"7 4\""));
  EXPECT_THAT(html, HasSubstr("stroke-dasharray=\"2 3\""));
}

TEST(Causes, StackToTheWhole) {
  const watch::RunStatus run = testing::SomeRun();
  const std::string html = DrawCauses(run.history.points());
  EXPECT_EQ(WhatIsWrong(html), "");
  for (const char* cause :
       {"compute", "input", "host", "checkpoint", "evaluation", "compile", "start"}) {
    EXPECT_THAT(html, HasSubstr(std::string("fill=\"url(#p-") + cause + ")"));
    EXPECT_THAT(Patterns(), HasSubstr(std::string("id=\"p-") + cause + "\""));
  }
  EXPECT_THAT(html, Not(HasSubstr("#p-communication")));
  // The uppermost one reaches the top of the plot in the first interval: 100 %.
  const size_t start = html.find("#p-start");
  EXPECT_THAT(html.substr(start), HasSubstr("M62.0 10.0H"));
  EXPECT_EQ(WhatIsWrong(Patterns()), "");
  EXPECT_EQ(WhatIsWrong(DrawCauseBar(run.ledger)), "");
}

TEST(Causes, ALedgerThatMovesTimeBack) {
  // Time charged to compute may be found to have been the checkpoint's.
  std::vector<watch::RunPoint> points(3);
  for (size_t i = 0; i < points.size(); ++i) {
    watch::LedgerReport ledger;
    ledger.seconds[static_cast<size_t>(watch::Cause::kCompute)] = i == 2 ? 9 : 10.0 * (i + 1);
    ledger.seconds[static_cast<size_t>(watch::Cause::kCheckpoint)] = i == 2 ? 21 : 0;
    points[i].ledger = ledger;
  }
  EXPECT_EQ(WhatIsWrong(DrawCauses(points)), "");
  // A clock that stood still or went back gives no interval.
  points[2].ledger = points[0].ledger;
  EXPECT_EQ(WhatIsWrong(DrawCauses(points)), "");
  EXPECT_THAT(DrawCauses({}), HasSubstr("nothing yet"));
  EXPECT_EQ(DrawCauseBar({}), "");
}

TEST(Causes, ManyIntervalsAreJoined) {
  std::vector<watch::RunPoint> points(5000);
  watch::LedgerReport ledger;
  for (auto& point : points) {
    ledger.seconds[static_cast<size_t>(watch::Cause::kCompute)] += 1;
    point.ledger = ledger;
  }
  const std::string html = DrawCauses(points);
  EXPECT_EQ(WhatIsWrong(html), "");
  EXPECT_LT(html.size(), 20000u);
}

TEST(Bars, OneALine) {
  const std::string html =
      DrawBars({{"read & decode", "50 %", 0.5, "slow"}, {"b", "", 7, "plain"}});
  EXPECT_EQ(WhatIsWrong(html), "");
  EXPECT_THAT(html, HasSubstr("read &amp; decode"));
  EXPECT_THAT(html, HasSubstr("width:50.0%"));
  EXPECT_THAT(html, HasSubstr("width:100.0%"));
}

}  // namespace
}  // namespace flatout::web
