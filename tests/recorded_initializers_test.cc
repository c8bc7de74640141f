// Initializers against tests/recorded/initializers.json: the distributions of Keras's, and the
// exact values of those that draw nothing. Then that values depend on seed, path and element only.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "flatout/ir/ops.h"
#include "flatout/nn/initializer.h"
#include "tests/recorded.h"

namespace flatout::nn {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<json> Cases() {
  return testing::LoadRecorded("initializers.json").at("cases").get<std::vector<json>>();
}

Initializer InitializerOf(const json& recorded) {
  Config table = testing::ToConfig(recorded.at("config"));
  table.Set("class", Config(recorded.at("initializer").get<std::string>()));
  Initializer initializer;
  ReadConfig(table, initializer);
  return initializer;
}

std::vector<float> Draw(const Initializer& initializer, const ir::Dims& dims, uint64_t seed = 1,
                        std::string_view path = "dense/kernel") {
  const ir::Shape shape(ir::DType::kF32, dims);
  std::vector<float> values(static_cast<size_t>(shape.size()));
  Initialize(initializer, shape, seed, path, values);
  return values;
}

class RecordedInitializer : public ::testing::TestWithParam<json> {};

TEST_P(RecordedInitializer, EqualsKeras) {
  const json& recorded = GetParam();
  const auto dims = recorded.at("shape").get<ir::Dims>();
  const Initializer initializer = InitializerOf(recorded);
  if (recorded.contains("value")) {
    const testing::HostTensor expected = testing::ReadTensor(recorded.at("value"));
    const std::vector<float> found = Draw(initializer, dims);
    for (size_t i = 0; i < found.size(); ++i) EXPECT_FLOAT_EQ(found[i], expected.data[i]);
    return;
  }
  if (recorded.contains("property")) {  // orthogonal
    const std::vector<float> kernel = Draw(initializer, dims);
    const auto columns = static_cast<size_t>(dims.back());
    const size_t rows = kernel.size() / columns;
    const bool tall = rows >= columns;
    const size_t shorter = std::min(rows, columns), longer = std::max(rows, columns);
    const auto at = [&](size_t vector, size_t i) {
      return tall ? kernel[i * columns + vector] : kernel[vector * columns + i];
    };
    for (size_t a = 0; a < shorter; ++a) {
      for (size_t b = 0; b < shorter; ++b) {
        double product = 0;
        for (size_t i = 0; i < longer; ++i) product += double{at(a, i)} * at(b, i);
        EXPECT_NEAR(product, a == b ? initializer.gain * initializer.gain : 0, 1e-5);
      }
    }
    return;
  }
  // Mean and variance within five standard errors. A normal's fourth moment is 3 variance^2, others
  // have less, so the variance's own error is at most sqrt(2 / n) of it.
  const auto variance = recorded.at("variance").get<double>();
  const auto mean = recorded.at("mean").get<double>();
  const std::vector<float> values = Draw(initializer, dims);
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (float v : values) sum += v;
  for (float v : values) squares += (v - sum / n) * (v - sum / n);
  EXPECT_NEAR(sum / n, mean, 5 * std::sqrt(variance / n));
  EXPECT_NEAR(squares / n / variance, 1, 5 * std::sqrt(2 / n));
  if (!recorded.at("limits").is_null()) {
    const auto limits = recorded.at("limits").get<std::vector<double>>();
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double width = limits[1] - limits[0];
    EXPECT_GE(*low, limits[0] - 1e-6 * width);
    EXPECT_LE(*high, limits[1] + 1e-6 * width);
    // And the whole range is used.
    EXPECT_LT(*low, limits[0] + 0.1 * width);
    EXPECT_GT(*high, limits[1] - 0.1 * width);
  }
}

INSTANTIATE_TEST_SUITE_P(Keras, RecordedInitializer, ::testing::ValuesIn(Cases()),
                         [](const auto& info) {
                           return info.param.at("name").template get<std::string>();
                         });

TEST(InitializerTest, NormalHasTheRightTails) {
  const std::vector<float> values = Draw("random_normal", {1 << 20});
  const auto n = static_cast<double>(values.size());
  // Shares of a normal beyond 1, 2, 3 and 4 deviations (of 0.05).
  const double shares[] = {0.3173105, 0.0455003, 0.0026998, 6.334e-5};
  for (int k = 1; k <= 4; ++k) {
    const auto beyond = static_cast<double>(std::count_if(
        values.begin(), values.end(), [&](float v) { return std::abs(v) > 0.05 * k; }));
    EXPECT_NEAR(beyond / n, shares[k - 1], 5 * std::sqrt(shares[k - 1] / n)) << k;
  }
}

TEST(InitializerTest, DependsOnSeedAndPathOnly) {
  const std::vector<float> values = Draw("random_uniform", {1000});
  EXPECT_EQ(values, Draw("random_uniform", {1000}));
  EXPECT_NE(values, Draw("random_uniform", {1000}, 2));
  EXPECT_NE(values, Draw("random_uniform", {1000}, 1, "dense_1/kernel"));
}

TEST(InitializerTest, LargeTensorsEqualSmallOnesElementByElement) {
  // Large ones are filled by several threads in pieces.
  for (const char* name : {"random_uniform", "random_normal", "truncated_normal"}) {
    const std::vector<float> large = Draw(name, {(1 << 20) + 3});
    const std::vector<float> small = Draw(name, {5000});
    EXPECT_TRUE(std::equal(small.begin(), small.end(), large.begin())) << name;
    // No two pieces repeat each other.
    EXPECT_FALSE(std::equal(large.begin(), large.begin() + 100, large.begin() + (1 << 16))) << name;
  }
}

TEST(InitializerTest, ForgetBiasIsOne) {
  Initializer zeros("zeros");
  zeros.unit_forget_bias = true;
  EXPECT_EQ(Draw(zeros, {8}), (std::vector<float>{0, 0, 1, 1, 0, 0, 0, 0}));
}

std::string MessageOf(const std::string& toml) {
  try {
    const Config config = Config::ParseToml(toml, "run.toml");
    Initializer initializer;
    ReadConfig(*config.Find("init"), initializer);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(InitializerTest, BadArgumentsAreNamed) {
  EXPECT_THAT(MessageOf("init = \"glorot_unifrom\""),
              AllOf(HasSubstr("run.toml:1"), HasSubstr("did you mean \"glorot_uniform\"")));
  EXPECT_THAT(MessageOf("init = {class = \"RandomNormal\", stddev = -1.0}"),
              AllOf(HasSubstr("run.toml:1"), HasSubstr("stddev")));
  EXPECT_THAT(MessageOf("init = {class = \"Zeros\", stddev = 1.0}"), HasSubstr("stddev"));
  EXPECT_THAT(MessageOf("init = {class = \"VarianceScaling\", mode = \"fan_inn\"}"),
              HasSubstr("fan_inn"));
  EXPECT_THAT(MessageOf("init = {stddev = 1.0}"), HasSubstr("class"));
  EXPECT_THROW(Draw("identity", ir::Dims{2, 2, 2}), UserError);
  EXPECT_THROW(Draw("orthogonal", ir::Dims{4}), UserError);
}

}  // namespace
}  // namespace flatout::nn
