#include "flatout/base/cgroup.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <sstream>
#include <string_view>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/text.h"

namespace flatout {
namespace {

// The file's text without the line end, or nothing where it cannot be read: most of these files
// exist only on some kernels.
std::optional<std::string> TryRead(const std::string& path) {
  if (!FileExists(path)) return std::nullopt;
  try {
    std::string text = ReadFile(path);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text;
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<int64_t> ParseInteger(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range &&
      text.find_first_not_of("0123456789") == text.npos) {
    return INT64_MAX;  // v1 writes "no limit" as a number near 2^63 or 2^64
  }
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// mountinfo writes blanks in names as \040 and the like.
std::string Unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                               (text[i + 3] - '0'));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

struct Mount {
  std::string root;   // the group that is mounted
  std::string point;  // where
};

// The folders of this process's group for one controller, from its own up to the mount.
struct Hierarchy {
  bool v2 = false;
  std::vector<std::string> folders;
};

class Tree {
 public:
  explicit Tree(const CgroupSource& source) : root_(source.root) {
    // Lines "4:memory:/a/b" for v1 and "0::/a/b" for v2.
    if (const auto text = TryRead(root_ + "/proc/self/cgroup")) {
      for (const std::string& line : Split(*text, '\n')) {
        const size_t first = line.find(':');
        const size_t second = line.find(':', first == line.npos ? first : first + 1);
        if (second == line.npos) continue;
        const std::string names = line.substr(first + 1, second - first - 1);
        const std::string path = line.substr(second + 1);
        if (names.empty()) groups_[""] = path;
        for (const std::string& name : Split(names, ',')) groups_[name] = path;
      }
    }
    // "32 31 0:29 /root /mount/point options [more] - type device options".
    if (const auto text = TryRead(root_ + "/proc/self/mountinfo")) {
      for (const std::string& line : Split(*text, '\n')) {
        const size_t dash = line.find(" - ");
        if (dash == line.npos) continue;
        const std::vector<std::string> left = Split(line.substr(0, dash), ' ');
        const std::vector<std::string> right = Split(line.substr(dash + 3), ' ');
        if (left.size() < 5 || right.size() < 3) continue;
        const Mount mount = {.root = Unescape(left[3]), .point = Unescape(left[4])};
        if (right[0] == "cgroup2") mounts_.emplace("", mount);
        if (right[0] != "cgroup") continue;
        for (const std::string& name : Split(right[2], ',')) mounts_.emplace(name, mount);
      }
    }
    if (mounts_.empty()) {
      // Without mountinfo: the places where every distribution mounts them.
      mounts_[""] = {.root = "/", .point = "/sys/fs/cgroup"};
      mounts_["cpu"] = {.root = "/", .point = "/sys/fs/cgroup/cpu"};
      mounts_["memory"] = {.root = "/", .point = "/sys/fs/cgroup/memory"};
    }
  }

  // The hierarchies that could limit `controller`: v1 where it is mounted so, and v2. On a machine
  // with both, a controller is in one of them; in the other its files are absent.
  std::vector<Hierarchy> Find(const std::string& controller) const {
    std::vector<Hierarchy> found;
    for (const std::string& name : {controller, std::string()}) {
      const auto mount = mounts_.find(name);
      if (mount == mounts_.end()) continue;
      found.push_back({.v2 = name.empty(), .folders = Folders(mount->second, name)});
    }
    return found;
  }

 private:
  std::vector<std::string> Folders(const Mount& mount, const std::string& name) const {
    const auto group = groups_.find(name);
    std::string path = group == groups_.end() ? "/" : group->second;
    // In a container the mount shows only the group's own part of the tree.
    if (mount.root != "/") {
      const bool inside = path == mount.root || path.starts_with(mount.root + "/");
      path = inside ? path.substr(mount.root.size()) : "";
    }
    // A path through ".." lies outside what this namespace may see.
    if (path.find("..") != std::string::npos) path.clear();
    std::vector<std::string> folders;
    while (path.size() > 1) {
      folders.push_back(root_ + mount.point + path);
      path.resize(path.rfind('/'));
    }
    folders.push_back(root_ + mount.point);
    return folders;
  }

  std::string root_;
  std::map<std::string, std::string> groups_;  // controller ("" for v2) to path
  std::map<std::string, Mount> mounts_;
};

void Warn(CgroupReading& reading, const std::string& path, const std::string& text,
          std::string_view expected) {
  reading.warnings.push_back(fmt::format("{}: expected {}, found \"{}\"; taken as no limit", path,
                                         expected, text.substr(0, 80)));
}

// Cores' worth of CPU time that one folder allows; 0 for no limit.
double FolderQuota(const std::string& folder, bool v2, CgroupReading& reading) {
  if (v2) {
    const std::string path = folder + "/cpu.max";
    const auto text = TryRead(path);
    if (!text) return 0;
    const std::vector<std::string> words = Split(*text, ' ');
    const auto period = words.size() == 2 ? ParseInteger(words[1]) : std::nullopt;
    if (period.value_or(0) > 0) {
      if (words[0] == "max") return 0;
      const auto quota = ParseInteger(words[0]);
      if (quota.value_or(0) > 0) return static_cast<double>(*quota) / static_cast<double>(*period);
    }
    Warn(reading, path, *text, "\"QUOTA PERIOD\" in microseconds or \"max PERIOD\"");
    return 0;
  }
  const std::string quota_path = folder + "/cpu.cfs_quota_us";
  const std::string period_path = folder + "/cpu.cfs_period_us";
  const auto quota_text = TryRead(quota_path);
  if (!quota_text) return 0;
  const auto quota = ParseInteger(*quota_text);
  if (!quota || *quota == 0) {
    Warn(reading, quota_path, *quota_text, "microseconds or -1");
    return 0;
  }
  if (*quota < 0) return 0;
  const std::string period_text = TryRead(period_path).value_or("100000");  // the kernel's default
  const auto period = ParseInteger(period_text);
  if (period.value_or(0) <= 0) {
    Warn(reading, period_path, period_text, "microseconds");
    return 0;
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// Bytes that one folder allows; -1 for no limit.
int64_t FolderMemory(const std::string& folder, bool v2, CgroupReading& reading) {
  const std::string path = folder + (v2 ? "/memory.max" : "/memory.limit_in_bytes");
  const auto text = TryRead(path);
  if (!text || *text == "max" || *text == "-1") return -1;
  const auto bytes = ParseInteger(*text);
  if (!bytes || *bytes < 0) {
    Warn(reading, path, *text, v2 ? "bytes or \"max\"" : "bytes");
    return -1;
  }
  // v1 says "no limit" with the largest whole page below 2^63.
  return *bytes >= (INT64_MAX >> 1) ? -1 : *bytes;
}

int AffinityCores(int host) {
  // The mask must be at least as long as the kernel's own, which is not told; it grows until it is.
  for (int cores = 1024; cores <= 1 << 20; cores *= 2) {
    cpu_set_t* mask = CPU_ALLOC(static_cast<size_t>(cores));
    if (mask == nullptr) break;
    const size_t size = CPU_ALLOC_SIZE(static_cast<size_t>(cores));
    const bool got = sched_getaffinity(0, size, mask) == 0;
    const int count = got ? CPU_COUNT_S(size, mask) : 0;
    CPU_FREE(mask);
    if (got) return std::max(1, count);
  }
  return host;
}

int64_t HostMemory(const std::string& root) {
  const auto text = TryRead(root + "/proc/meminfo");
  if (!text) return -1;
  for (const std::string& line : Split(*text, '\n')) {
    if (!line.starts_with("MemTotal:")) continue;
    const size_t digits = line.find_first_of("0123456789");
    if (digits == line.npos) return -1;
    const size_t end = line.find_first_not_of("0123456789", digits);
    const auto kib = ParseInteger(std::string_view(line).substr(digits, end - digits));
    return kib ? *kib * 1024 : -1;
  }
  return -1;
}

}  // namespace

CgroupReading ReadCgroup(const CgroupSource& source) {
  CgroupReading reading;
  const Tree tree(source);

  CpuLimit& cpu = reading.cpu;
  cpu.host = source.host_cores.value_or(
      static_cast<int>(std::max<int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN))));
  cpu.affinity = source.affinity_cores.value_or(AffinityCores(cpu.host));
  for (const Hierarchy& hierarchy : tree.Find("cpu")) {
    for (const std::string& folder : hierarchy.folders) {
      const double quota = FolderQuota(folder, hierarchy.v2, reading);
      if (quota > 0 && (cpu.quota == 0 || quota < cpu.quota)) cpu.quota = quota;
    }
  }
  cpu.usable = std::min(cpu.host, cpu.affinity);
  if (cpu.quota > 0) {
    // Rounded down: one thread more than the quota pays for makes all of them wait. The little that
    // is added keeps 3.9999 (a quota in odd microseconds) at 4.
    const double whole = std::min(std::floor(cpu.quota + 0.01), static_cast<double>(cpu.usable));
    cpu.usable = static_cast<int>(whole);
  }
  cpu.usable = std::max(1, cpu.usable);

  MemoryLimit& memory = reading.memory;
  memory.host = HostMemory(source.root);
  for (const Hierarchy& hierarchy : tree.Find("memory")) {
    for (const std::string& folder : hierarchy.folders) {
      const int64_t bytes = FolderMemory(folder, hierarchy.v2, reading);
      if (bytes >= 0 && (memory.group < 0 || bytes < memory.group)) memory.group = bytes;
    }
  }
  memory.usable = memory.host;
  if (memory.group >= 0 && (memory.host < 0 || memory.group < memory.host)) {
    memory.usable = memory.group;
  }
  return reading;
}

std::optional<double> ThrottledSeconds(const CgroupSource& source) {
  std::optional<double> seconds;
  for (const Hierarchy& hierarchy : Tree(source).Find("cpu")) {
    for (const std::string& folder : hierarchy.folders) {
      const auto text = TryRead(folder + "/cpu.stat");
      if (!text) continue;
      const std::string_view key = hierarchy.v2 ? "throttled_usec " : "throttled_time ";
      const double unit = hierarchy.v2 ? 1e-6 : 1e-9;
      for (const std::string& line : Split(*text, '\n')) {
        if (!line.starts_with(key)) continue;
        const auto value = ParseInteger(std::string_view(line).substr(key.size()));
        if (value) seconds = seconds.value_or(0) + static_cast<double>(*value) * unit;
      }
    }
  }
  return seconds;
}

std::string CpuLimit::ToString() const {
  std::string_view why;
  if (usable < std::min(host, affinity)) {
    why = " (quota)";
  } else if (usable < host) {
    why = " (affinity)";
  }
  return fmt::format("cores usable: {}{} of {}", usable, why, host);
}

std::string MemoryLimit::ToString() const {
  if (usable < 0) return "memory usable: unknown";
  if (host < 0) return fmt::format("memory usable: {} (limit)", HumanBytes(usable));
  return fmt::format("memory usable: {}{} of {}", HumanBytes(usable),
                     usable < host ? " (limit)" : "", HumanBytes(host));
}

}  // namespace flatout
