#include "flatout/train/totals.h"

#include <cmath>

namespace flatout::train {
namespace {

float ScalarOf(const xla::Buffer& buffer) { return buffer.ToVector<float>().at(0); }

}  // namespace

Totals::Totals(const std::vector<std::unique_ptr<nn::Metric>>& metrics,
               const std::vector<std::string>& names)
    : metrics_(&metrics), names_(&names) {
  sums_.metrics.resize(metrics.size());
}

void Totals::Add(const step::ResultLayout& layout, const std::vector<xla::Buffer>& results,
                 int first) {
  sums_.loss += ScalarOf(results[layout.loss_sum - first]);
  sums_.weight += ScalarOf(results[layout.weight_sum - first]);
  for (size_t m = 0; m < metrics_->size(); ++m) {
    const auto [begin, count] = layout.metrics[m];
    std::vector<std::vector<double>>& sums = sums_.metrics[m];
    sums.resize(count);
    for (int i = 0; i < count; ++i) {
      const std::vector<float> values = results[begin + i - first].ToVector<float>();
      sums[i].resize(values.size());
      for (size_t v = 0; v < values.size(); ++v) sums[i][v] += values[v];
    }
  }
}

double Totals::loss() const { return sums_.weight > 0 ? sums_.loss / sums_.weight : std::nan(""); }

std::map<std::string, double> Totals::Metrics() const {
  std::map<std::string, double> results;
  for (size_t m = 0; m < metrics_->size(); ++m) {
    const std::vector<std::vector<double>>& sums = sums_.metrics[m];
    if (!sums.empty()) results[(*names_)[m]] = (*metrics_)[m]->Result(sums);
  }
  return results;
}

}  // namespace flatout::train
