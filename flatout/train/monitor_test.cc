// Early stopping and plateaus at their edges; tests/recorded_optimizers_test.cc holds both against
// sequences recorded from Keras.
#include "flatout/train/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "flatout/base/error.h"

namespace flatout::train {
namespace {

using ::testing::HasSubstr;

const double kNan = std::nan("");

// The epoch (from 0) at which it stops, or -1.
int64_t StopsAt(const EarlyStopping& options, const std::vector<double>& values) {
  EarlyStopper stopper(options);
  for (size_t epoch = 0; epoch < values.size(); ++epoch) {
    if (stopper.Observe(static_cast<int64_t>(epoch), values[epoch]).stop) {
      return static_cast<int64_t>(epoch);
    }
  }
  return -1;
}

template <typename Make>
std::string ErrorOf(const Make& make) {
  try {
    make();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST(HigherIsBetterTest, KnowsNamesAndModes) {
  EXPECT_TRUE(HigherIsBetter("val_accuracy", "auto"));
  EXPECT_TRUE(HigherIsBetter("val_auc", "auto"));
  EXPECT_FALSE(HigherIsBetter("val_loss", "auto"));
  EXPECT_TRUE(HigherIsBetter("val_loss", "max"));
  EXPECT_FALSE(HigherIsBetter("val_accuracy", "min"));
  EXPECT_THAT(ErrorOf([] { HigherIsBetter("val_loss", "lowest"); }),
              HasSubstr("must be \"min\", \"max\" or \"auto\", found \"lowest\""));
}

TEST(BestTest, NeedsMoreThanMinDelta) {
  Best best("loss", "min", -0.25);  // the sign does not matter
  EXPECT_FALSE(best.Improves(kNan));
  EXPECT_FALSE(best.value());
  EXPECT_TRUE(best.Improves(1));
  EXPECT_FALSE(best.Improves(0.75));
  EXPECT_FALSE(best.Improves(kNan));
  EXPECT_TRUE(best.Improves(0.5));
  EXPECT_EQ(best.value(), 0.5);
}

TEST(EarlyStopperTest, WithoutPatienceStopsAtTheFirstWorseEpoch) {
  EXPECT_EQ(StopsAt({.patience = 0}, {1, 0.5, 0.5}), 2);
  EXPECT_EQ(StopsAt({.patience = 1}, {1, 0.5, 0.5}), 2);
  EXPECT_EQ(StopsAt({.patience = 2}, {1, 0.5, 0.5}), -1);
  EXPECT_EQ(StopsAt({.patience = 0}, {1, 0.5, 0.25}), -1);
  EXPECT_EQ(StopsAt({.patience = 0}, {kNan, kNan}), 1);  // never at the very first
}

TEST(EarlyStopperTest, KeepsTheFirstWeightsWhateverTheirValue) {
  EarlyStopper stopper({.patience = 9, .restore_best_weights = true, .start_from_epoch = 1});
  EXPECT_FALSE(stopper.Observe(0, 0.1).keep);  // before the start
  EXPECT_EQ(stopper.best_epoch(), -1);
  EXPECT_TRUE(stopper.Observe(1, kNan).keep);
  EXPECT_TRUE(stopper.Observe(2, 3).keep);
  EXPECT_FALSE(stopper.Observe(3, 3).keep);
  EXPECT_EQ(stopper.best_epoch(), 2);
  EXPECT_EQ(stopper.best(), 3);
  EXPECT_EQ(stopper.wait(), 1);
}

TEST(EarlyStopperTest, ABaselineMustBeBeatenInTime) {
  EXPECT_EQ(StopsAt({.patience = 2, .baseline = 0.5}, {1, 0.9, 0.95}), 2);
  EXPECT_EQ(StopsAt({.patience = 2, .baseline = 0.5}, {1, 0.4, 0.45, 0.45}), 3);
  // Getting better is never a reason to stop, even when the baseline is still ahead.
  EXPECT_EQ(StopsAt({.patience = 2, .baseline = 0.5}, {1, 0.9, 0.8, 0.7}), -1);
}

TEST(EarlyStopperTest, RefusesNegativeNumbers) {
  EXPECT_THAT(ErrorOf([] { EarlyStopper({.patience = -1}); }),
              HasSubstr("early_stopping: patience must not be negative, found -1"));
  EXPECT_THAT(ErrorOf([] { EarlyStopper({.start_from_epoch = -2}); }),
              HasSubstr("start_from_epoch must not be negative, found -2"));
}

TEST(PlateauReducerTest, StopsAtTheLowestRate) {
  PlateauReducer reducer({.factor = 0.5, .patience = 1, .min_lr = 0.3});
  EXPECT_EQ(reducer.Observe(1, 1), 1);
  EXPECT_EQ(reducer.Observe(1, 1), 0.5);
  EXPECT_EQ(reducer.Observe(1, 0.5), 0.3);
  EXPECT_EQ(reducer.Observe(1, static_cast<double>(0.3F)), static_cast<double>(0.3F));
  // A rate that is below it from the beginning is left there, not raised.
  PlateauReducer below({.factor = 0.5, .patience = 1, .min_lr = 0.3});
  EXPECT_EQ(below.Observe(1, 0.1), 0.1);
  EXPECT_EQ(below.Observe(1, 0.1), 0.1);
}

TEST(PlateauReducerTest, CooldownDoesNotWait) {
  PlateauReducer reducer({.factor = 0.5, .patience = 2, .cooldown = 2});
  double rate = 1;
  std::vector<double> rates;
  for (int i = 0; i < 8; ++i) rates.push_back(rate = reducer.Observe(1, rate));
  // The wait of two starts in the evaluation that ends the cooldown.
  EXPECT_THAT(rates, ::testing::ElementsAre(1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25));
}

TEST(PlateauReducerTest, NotANumberIsNoImprovement) {
  PlateauReducer reducer({.factor = 0.5, .patience = 2});
  EXPECT_EQ(reducer.Observe(kNan, 1), 1);
  EXPECT_EQ(reducer.Observe(kNan, 1), 0.5);
}

TEST(PlateauReducerTest, RefusesWhatCannotReduce) {
  EXPECT_THAT(ErrorOf([] { PlateauReducer({.factor = 1}); }),
              HasSubstr("factor must lie between 0 and 1, found 1"));
  EXPECT_THAT(ErrorOf([] { PlateauReducer({.factor = 0}); }), HasSubstr("factor"));
  EXPECT_THAT(ErrorOf([] { PlateauReducer({.patience = -1}); }), HasSubstr("patience"));
  EXPECT_THAT(ErrorOf([] { PlateauReducer({.cooldown = -1}); }), HasSubstr("cooldown"));
  EXPECT_THAT(ErrorOf([] { PlateauReducer({.min_lr = -0.1}); }), HasSubstr("min_lr"));
}

// What was the best of one figure is none of another.
TEST(RestoreTest, OnlyWhatIsOfTheSameFigureAndDirection) {
  Best loss("val_loss", "auto");
  ASSERT_TRUE(loss.Improves(0.5));
  for (const auto& [monitor, mode, goes_on] :
       {std::tuple("val_loss", "min", true), std::tuple("val_loss", "max", false),
        std::tuple("loss", "auto", false)}) {
    Best other(monitor, mode);
    EXPECT_EQ(other.Restore(loss.state()), goes_on) << monitor << " " << mode;
    EXPECT_EQ(other.value().has_value(), goes_on);
  }
  EarlyStopper stopper({.monitor = "val_loss", .patience = 2});
  stopper.Observe(0, 0.1);
  stopper.Observe(1, 0.2);
  EarlyStopper same({.monitor = "val_loss", .patience = 2});
  EXPECT_TRUE(same.Restore(stopper.state()));
  EXPECT_TRUE(same.Observe(2, 0.3).stop);
  EarlyStopper other({.monitor = "loss", .patience = 2});
  EXPECT_FALSE(other.Restore(stopper.state()));
  EXPECT_EQ(other.wait(), 0);
  EXPECT_EQ(other.best(), std::nullopt);
  PlateauReducer plateau({.monitor = "val_loss"});
  EXPECT_FALSE(plateau.Restore(other.state()));
  // Earlier snapshots do not say of what their figures are.
  EXPECT_TRUE(plateau.Restore({.best = 0.1}));
}

}  // namespace
}  // namespace flatout::train
