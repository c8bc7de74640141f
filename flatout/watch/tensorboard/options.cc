#include "flatout/watch/tensorboard/options.h"

#include <fmt/format.h>

namespace flatout::watch::tensorboard {
namespace {

// Each is a picture in the event file, and on TensorBoard's page.
constexpr int64_t kMostImages = 256;

void RequireAtLeast(const Config& table, std::string_view key, int64_t value, int64_t least) {
  if (value >= least) return;
  throw table.Find(key)->Complain(fmt::format("must be at least {}, found {}", least, value));
}

}  // namespace

void ReadConfig(const Config& value, Options& field) {
  if (value.kind() == Config::Kind::kBool) {
    field.enabled = value.AsBool();
    return;
  }
  if (!value.is_table()) {
    throw value.Complain(fmt::format(
        "expected true, false or a table [watch.tensorboard], found {}", value.Describe()));
  }
  ReadOptions(value, "[watch.tensorboard]", field);
  const Config& freq = field.update_freq;
  const bool word = freq.is_string() && (freq.AsString() == "auto" || freq.AsString() == "epoch");
  if (!word && (freq.kind() != Config::Kind::kInt || freq.AsInt() < 1)) {
    throw freq.Complain(fmt::format(
        "must be \"auto\", \"epoch\" or a number of steps from 1 on, found {}", freq.Describe()));
  }
  RequireAtLeast(value, "histogram_freq", field.histogram_freq, 0);
  RequireAtLeast(value, "image_freq", field.image_freq, 0);
  if (field.images < 1 || field.images > kMostImages) {
    throw value.Find("images")->Complain(
        fmt::format("must be a number of rows from 1 to {}, found {}", kMostImages, field.images));
  }
}

}  // namespace flatout::watch::tensorboard
