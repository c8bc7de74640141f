#include "flatout/watch/profile/xspace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/proto.h"
#include "flatout/base/text.h"

namespace flatout::watch::profile {
namespace {

// Field numbers of XSpace, XPlane, XLine, XEvent, XStat and their metadata.
constexpr int kPlanes = 1;
constexpr int kPlaneName = 2, kPlaneLines = 3, kEventMetadata = 4, kStatMetadata = 5;
constexpr int kLineName = 2, kLineTimestamp = 3, kLineEvents = 4, kLineDisplayName = 11;
constexpr int kEventMetadataId = 1, kEventOffset = 2, kEventDuration = 3, kEventStats = 4;
constexpr int kStatMetadataId = 1, kStatText = 5, kStatRef = 7;
constexpr int kEntryKey = 1, kEntryValue = 2;
constexpr int kMetadataName = 2;

struct MetadataEntry {
  int64_t id = 0;
  std::string name;
  std::vector<std::string> stats;  // raw
};

// An entry of map<int64, XEventMetadata or XStatMetadata>; `stats_field`: of the value's XStats.
MetadataEntry ReadMetadata(std::string_view bytes, int stats_field) {
  MetadataEntry entry;
  for (ProtoReader reader(bytes); reader.Next();) {
    if (reader.field() == kEntryKey) entry.id = reader.Int();
    if (reader.field() != kEntryValue) continue;
    for (ProtoReader value(reader.Bytes()); value.Next();) {
      if (value.field() == kMetadataName) entry.name = value.Bytes();
      if (value.field() == stats_field) entry.stats.emplace_back(value.Bytes());
    }
  }
  return entry;
}

struct Plane {
  std::string name;
  std::vector<std::string_view> lines;
  std::map<int64_t, MetadataEntry> events;
  std::map<int64_t, std::string> stats;
};

Plane ReadPlane(std::string_view bytes) {
  constexpr int kEventMetadataStats = 5, kNone = -1;
  Plane plane;
  for (ProtoReader reader(bytes); reader.Next();) {
    if (reader.field() == kPlaneName) plane.name = reader.Bytes();
    if (reader.field() == kPlaneLines) plane.lines.push_back(reader.Bytes());
    if (reader.field() == kEventMetadata) {
      MetadataEntry entry = ReadMetadata(reader.Bytes(), kEventMetadataStats);
      plane.events[entry.id] = std::move(entry);
    }
    if (reader.field() == kStatMetadata) {
      MetadataEntry entry = ReadMetadata(reader.Bytes(), kNone);
      plane.stats[entry.id] = std::move(entry.name);
    }
  }
  return plane;
}

// The text of a stat called `wanted`; empty for others.
std::string StatText(const Plane& plane, std::string_view stat, std::string_view wanted) {
  std::string text;
  bool is_it = false;
  for (ProtoReader reader(stat); reader.Next();) {
    if (reader.field() == kStatMetadataId) {
      const auto name = plane.stats.find(reader.Int());
      is_it = name != plane.stats.end() && name->second == wanted;
    }
    if (reader.field() == kStatText) text = reader.Bytes();
    if (reader.field() == kStatRef) {
      const auto name = plane.stats.find(reader.Int());
      if (name != plane.stats.end()) text = name->second;
    }
  }
  return is_it ? text : "";
}

struct TimedEvent {
  double begin, end;
};

struct Line {
  std::string name;
  int64_t timestamp_ns = 0;
  std::vector<std::string_view> events;
};

Line ReadLine(std::string_view bytes) {
  Line line;
  std::string display;
  for (ProtoReader reader(bytes); reader.Next();) {
    if (reader.field() == kLineName) line.name = reader.Bytes();
    if (reader.field() == kLineDisplayName) display = reader.Bytes();
    if (reader.field() == kLineTimestamp) line.timestamp_ns = reader.Int();
    if (reader.field() == kLineEvents) line.events.push_back(reader.Bytes());
  }
  if (line.name.empty()) line.name = display;
  return line;
}

// Streams of a device; profiles that went through XLA's own analysis have further lines, which
// show the same time again by op, module or step.
bool IsStream(const std::string& name) {
  static constexpr std::array<std::string_view, 8> kDerived = {
      "XLA ",   "Steps",        "Framework ", "TensorFlow ",
      "Source", "Launch Stats", "Async ",     "Name Scope"};
  return std::none_of(kDerived.begin(), kDerived.end(),
                      [&](std::string_view derived) { return name.starts_with(derived); });
}

// `origin_ns`: times are counted from there, since 1970 they would be too long for a double.
void AddLine(const Plane& plane, const Line& line, int64_t origin_ns, DeviceProfile& device,
             std::map<std::string, Kernel>& kernels, std::vector<TimedEvent>& timed) {
  for (const std::string_view bytes : line.events) {
    int64_t id = 0, offset = 0, duration = 0;
    std::string op;
    for (ProtoReader reader(bytes); reader.Next();) {
      if (reader.field() == kEventMetadataId) id = reader.Int();
      if (reader.field() == kEventOffset) offset = reader.Int();
      if (reader.field() == kEventDuration) duration = reader.Int();
      if (reader.field() == kEventStats && op.empty()) {
        op = StatText(plane, reader.Bytes(), "hlo_op");
      }
    }
    const auto metadata = plane.events.find(id);
    std::string name = "unknown";
    if (metadata != plane.events.end()) {
      name = metadata->second.name;
      for (const std::string& stat : metadata->second.stats) {
        if (op.empty()) op = StatText(plane, stat, "hlo_op");
      }
    }
    const double begin = 1e-9 * static_cast<double>(line.timestamp_ns - origin_ns) +
                         1e-12 * static_cast<double>(offset);
    const double seconds = 1e-12 * static_cast<double>(duration);
    Kernel& kernel = kernels[name];
    if (kernel.count == 0) kernel.name = name;
    if (kernel.op.empty()) kernel.op = op;
    kernel.seconds += seconds;
    ++kernel.count;
    timed.push_back({begin, begin + seconds});
    device.begin = std::min(device.begin, begin);
    device.end = std::max(device.end, begin + seconds);
  }
}

// Seconds in which at least one of the events was under way.
double Union(std::vector<TimedEvent> events) {
  std::sort(events.begin(), events.end(),
            [](const TimedEvent& a, const TimedEvent& b) { return a.begin < b.begin; });
  double total = 0, until = -std::numeric_limits<double>::infinity();
  for (const TimedEvent& event : events) {
    total += std::max(0.0, event.end - std::max(event.begin, until));
    until = std::max(until, event.end);
  }
  return total;
}

}  // namespace

double DeviceProfile::seconds() const {
  double total = 0;
  for (const Kernel& kernel : kernels) total += kernel.seconds;
  return total;
}

std::vector<DeviceProfile> ReadDevices(std::string_view space) {
  std::vector<DeviceProfile> devices;
  for (ProtoReader reader(space); reader.Next();) {
    if (reader.field() != kPlanes) continue;
    const Plane plane = ReadPlane(reader.Bytes());
    if (!plane.name.starts_with("/device:")) continue;
    DeviceProfile device;
    device.name = plane.name;
    device.begin = std::numeric_limits<double>::infinity();
    device.end = -device.begin;
    std::map<std::string, Kernel> kernels;
    std::vector<TimedEvent> timed;
    std::optional<int64_t> origin_ns;
    for (const std::string_view bytes : plane.lines) {
      const Line line = ReadLine(bytes);
      if (!origin_ns) origin_ns = line.timestamp_ns;
      if (IsStream(line.name)) AddLine(plane, line, *origin_ns, device, kernels, timed);
    }
    if (timed.empty()) continue;
    device.busy = Union(std::move(timed));
    for (auto& [name, kernel] : kernels) device.kernels.push_back(std::move(kernel));
    std::stable_sort(device.kernels.begin(), device.kernels.end(),
                     [](const Kernel& a, const Kernel& b) { return a.seconds > b.seconds; });
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string KernelTable(const std::vector<DeviceProfile>& devices, size_t most) {
  constexpr size_t kNameWidth = 56;
  std::string text;
  for (const DeviceProfile& device : devices) {
    const double all = device.seconds();
    const double span = device.end - device.begin;
    text += fmt::format("{}: kernels and copies ran {:.1f} % of {}\n", device.name,
                        span > 0 ? 100 * device.busy / span : 100.0, HumanDuration(span));
    text += fmt::format("  {:>6}  {:>10}  {:>7}  {:>10}  kernel (op)\n", "share", "time", "runs",
                        "mean");
    for (size_t i = 0; i < std::min(most, device.kernels.size()); ++i) {
      const Kernel& kernel = device.kernels[i];
      std::string name = kernel.name;
      if (name.size() > kNameWidth) name = name.substr(0, kNameWidth - 3) + "...";
      if (!kernel.op.empty() && kernel.op != kernel.name) name += " (" + kernel.op + ")";
      text += fmt::format("  {:>5.1f}%  {:>10}  {:>7}  {:>10}  {}\n",
                          all > 0 ? 100 * kernel.seconds / all : 0.0, HumanDuration(kernel.seconds),
                          kernel.count,
                          HumanDuration(kernel.seconds / static_cast<double>(kernel.count)), name);
    }
    if (device.kernels.size() > most) {
      text += fmt::format("  and {} more\n", device.kernels.size() - most);
    }
  }
  return text;
}

std::string NewSession() {
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  std::array<char, 32> text = {};
  std::strftime(text.data(), text.size(), "%Y_%m_%d_%H_%M_%S", &local);
  return text.data();
}

std::string WriteProfile(const std::string& folder, const std::string& session,
                         std::string_view space) {
  const std::string path = fmt::format("{}/plugins/profile/{}", folder, session);
  MakeDirs(path);
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == 0) host = {"localhost"};
  std::string file = fmt::format("{}/{}.xplane.pb", path, host.data());
  AtomicWriteFile(file, space);
  return file;
}

}  // namespace flatout::watch::profile
