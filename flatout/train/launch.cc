#include "flatout/train/launch.h"

namespace flatout::train {

void TrackCompletion(const std::shared_ptr<watch::Ledger>& ledger, int64_t id,
                     const std::vector<xla::Event>& done) {
  for (size_t r = 0; r < done.size(); ++r) {
    done[r].OnReady([ledger, id, r] { ledger->Completed(id, static_cast<int>(r)); });
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
