#include "flatout/train/launch.h"

#include <atomic>
#include <cmath>

namespace flatout::train {
namespace {

float ScalarOf(const xla::Buffer& buffer) { return buffer.ToVector<float>().at(0); }

}  // namespace

Totals::Totals(const std::vector<std::unique_ptr<nn::Metric>>& metrics,
               const std::vector<std::string>& names)
    : metrics_(&metrics), names_(&names), sums_(metrics.size()) {}

void Totals::Add(const step::ResultLayout& layout, const std::vector<xla::Buffer>& results,
                 int first) {
  loss_ += ScalarOf(results[layout.loss_sum - first]);
  weight_ += ScalarOf(results[layout.weight_sum - first]);
  for (size_t m = 0; m < metrics_->size(); ++m) {
    const auto [begin, count] = layout.metrics[m];
    sums_[m].resize(count);
    for (int i = 0; i < count; ++i) {
      const std::vector<float> values = results[begin + i - first].ToVector<float>();
      sums_[m][i].resize(values.size());
      for (size_t v = 0; v < values.size(); ++v) sums_[m][i][v] += values[v];
    }
  }
}

double Totals::loss() const { return weight_ > 0 ? loss_ / weight_ : std::nan(""); }

std::map<std::string, double> Totals::Metrics() const {
  std::map<std::string, double> results;
  for (size_t m = 0; m < metrics_->size(); ++m) {
    if (!sums_[m].empty()) results[(*names_)[m]] = (*metrics_)[m]->Result(sums_[m]);
  }
  return results;
}

// Tells the ledger when all devices of a launch have ended.
void TrackCompletion(const std::shared_ptr<watch::Ledger>& ledger, int64_t id,
                     const std::vector<xla::Event>& done) {
  auto left = std::make_shared<std::atomic<size_t>>(done.size());
  for (const xla::Event& event : done) {
    event.OnReady([ledger, id, left] {
      if (left->fetch_sub(1) == 1) ledger->Completed(id);
    });
  }
}

std::vector<std::byte> ConvertFloats(const std::vector<std::byte>& from, ir::DType from_type,
                                     ir::DType to_type) {
  if (from_type == to_type) return from;
  const int64_t step = ir::ByteSize(from_type), to_step = ir::ByteSize(to_type);
  const auto count = static_cast<int64_t>(from.size()) / step;
  std::vector<std::byte> to(count * to_step);
  for (int64_t i = 0; i < count; ++i) {
    ir::StoreElement(to_type, ir::LoadElement(from_type, from.data() + i * step),
                     to.data() + i * to_step);
  }
  return to;
}

}  // namespace flatout::train
