// The two protocol buffers XLA wants for compiling, written by hand: a few varints don't need a
// protobuf library and its generated classes.
#include <charconv>
#include <cstring>

#include "flatout/xla/pjrt.h"

namespace flatout::xla {
namespace {

// The wire format: a key of (field number, wire type), then the value.
class ProtoWriter {
 public:
  void Varint(int field, uint64_t value) {
    Raw(static_cast<uint64_t>(field) << 3);
    Raw(value);
  }
  void Bytes(int field, std::string_view bytes) {
    Raw(static_cast<uint64_t>(field) << 3 | 2);
    Raw(bytes.size());
    text_ += bytes;
  }
  void Double(int field, double value) {
    Raw(static_cast<uint64_t>(field) << 3 | 1);
    char bytes[8];
    std::memcpy(bytes, &value, 8);  // little-endian, as on x86_64
    text_.append(bytes, 8);
  }
  std::string Take() { return std::move(text_); }

 private:
  void Raw(uint64_t value) {
    while (value >= 0x80) {
      text_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    text_ += static_cast<char>(value);
  }
  std::string text_;
};

// OptionOverrideProto: string=1, bool=2, int=3, double=4.
std::string Override(const std::string& text) {
  ProtoWriter writer;
  const char* end = text.data() + text.size();
  int64_t integer = 0;
  double number = 0;
  if (text == "true" || text == "false") {
    writer.Varint(2, text == "true");
  } else if (auto r = std::from_chars(text.data(), end, integer);
             r.ec == std::errc() && r.ptr == end) {
    writer.Varint(3, static_cast<uint64_t>(integer));
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
  ProtoWriter assignment;                                     // DeviceAssignmentProto
  assignment.Varint(1, static_cast<uint64_t>(num_replicas));  // replica_count
  assignment.Varint(2, 1);                                    // computation_count
  ProtoWriter ids;
  for (int id : device_ids) ids.Varint(1, static_cast<uint64_t>(id));  // replica_device_ids
  assignment.Bytes(3, ids.Take());                                     // computation_devices
  ProtoWriter build;                                    // ExecutableBuildOptionsProto
  build.Varint(1, static_cast<uint64_t>(int64_t{-1}));  // device_ordinal: as assigned
  build.Varint(4, static_cast<uint64_t>(num_replicas));
  build.Varint(5, 1);                                          // num_partitions
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
