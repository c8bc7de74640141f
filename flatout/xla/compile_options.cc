// The protocol buffers XLA wants for compiling.
#include <charconv>

#include "flatout/base/proto.h"
#include "flatout/xla/pjrt.h"

namespace flatout::xla {
namespace {

// OptionOverrideProto: string=1, bool=2, int=3, double=4.
std::string Override(const std::string& text) {
  ProtoWriter writer;
  const char* end = text.data() + text.size();
  int64_t integer = 0;
  double number = 0;
  if (text == "true" || text == "false") {
    writer.Bool(2, text == "true");
  } else if (auto r = std::from_chars(text.data(), end, integer);
             r.ec == std::errc() && r.ptr == end) {
    writer.Int(3, integer);
  } else if (auto r = std::from_chars(text.data(), end, number);
             r.ec == std::errc() && r.ptr == end) {
    writer.Double(4, number);
  } else {
    writer.Bytes(1, text);
  }
  return writer.Take();
}

}  // namespace

std::string CompileOptions::ToProto() const {
  ProtoWriter assignment;           // DeviceAssignmentProto
  assignment.Int(1, num_replicas);  // replica_count
  assignment.Int(2, 1);             // computation_count
  ProtoWriter ids;
  for (int id : device_ids) ids.Int(1, id);  // replica_device_ids
  assignment.Bytes(3, ids.Take());           // computation_devices
  ProtoWriter build;                         // ExecutableBuildOptionsProto
  build.Int(1, -1);                          // device_ordinal: as assigned
  build.Int(4, num_replicas);
  build.Int(5, 1);                                             // num_partitions
  if (!device_ids.empty()) build.Bytes(9, assignment.Take());  // device_assignment
  ProtoWriter options;                                         // CompileOptionsProto
  options.Bytes(3, build.Take());                              // executable_build_options
  for (const auto& [name, value] : env_overrides) {            // env_option_overrides, a map
    ProtoWriter entry;
    entry.Bytes(1, name);
    entry.Bytes(2, Override(value));
    options.Bytes(7, entry.Take());
  }
  return options.Take();
}

}  // namespace flatout::xla
