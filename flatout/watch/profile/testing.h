// A profile as a GPU's would be, for tests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "flatout/base/proto.h"

namespace flatout::watch::profile {

// One GPU with two streams, a line that XLA's analysis derived, and a plane of the host. On the
// first stream the kernel gemm_fusion (of the op dot.3) runs from 0 to 1 ms and from 3 to 5 ms, on
// the second a copy from 0.5 to 1.5 ms.
inline std::string PlayedSpace() {
  const auto metadata = [](int64_t id, std::string_view name) {
    ProtoWriter value, entry;
    value.Int(1, id);
    value.Bytes(2, name);
    entry.Int(1, id);
    entry.Message(2, value);
    return entry;
  };
  const auto event = [](int64_t id, double begin_ms, double ms, int64_t op) {
    ProtoWriter proto;
    proto.Int(1, id);
    proto.Int(2, static_cast<int64_t>(begin_ms * 1e9));
    proto.Int(3, static_cast<int64_t>(ms * 1e9));
    if (op >= 0) {
      ProtoWriter stat;
      stat.Int(1, 7);   // "hlo_op"
      stat.Int(7, op);  // its text is that of a stat's name
      proto.Message(4, stat);
    }
    return proto;
  };
  const auto line = [](std::string_view name) {
    ProtoWriter proto;
    proto.Bytes(2, name);
    proto.Int(3, 1'700'000'000'000'000'000);
    return proto;
  };
  ProtoWriter compute = line("Stream #13(Compute)"), copies = line("Stream #14(MemcpyH2D)"),
              derived = line("XLA Ops");
  compute.Message(4, event(1, 0, 1, 8));
  compute.Message(4, event(1, 3, 2, 8));
  copies.Message(4, event(2, 0.5, 1, -1));
  derived.Message(4, event(1, 0, 5, -1));
  ProtoWriter gpu, host, space;
  gpu.Bytes(2, "/device:GPU:0");
  for (const ProtoWriter* one : {&compute, &copies, &derived}) gpu.Message(3, *one);
  gpu.Message(4, metadata(1, "gemm_fusion"));
  gpu.Message(4, metadata(2, "MemcpyH2D"));
  gpu.Message(5, metadata(7, "hlo_op"));
  gpu.Message(5, metadata(8, "dot.3"));
  host.Bytes(2, "/host:CPU");
  host.Message(3, derived);
  space.Message(1, gpu);
  space.Message(1, host);
  return space.Take();
}

}  // namespace flatout::watch::profile
