#include "flatout/xla/compile_cache.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "flatout/base/error.h"
#include "flatout/base/file.h"
#include "flatout/base/log.h"

namespace flatout::xla {
namespace fs = std::filesystem;
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// A file is kMagic, the CRC-32C of key and program as 8 hexadecimal digits, '\n', the program.
constexpr std::string_view kMagic = "flatout compiled program 2\n";
constexpr std::string_view kSuffix = ".program";
// What plans keep in the same folder (topology.cc) counts, too.
constexpr std::string_view kPlanSuffix = ".plan";

std::string Checksum(const std::string& key, std::string_view program) {
  return fmt::format("{:08x}", Crc32c(program, Crc32c(key)));
}

std::string WithHeader(const std::string& key, std::string_view program) {
  return fmt::format("{}{}\n", kMagic, Checksum(key, program)).append(program);
}

// Model and instruction sets of this processor: XLA compiles for exactly them.
const std::string& CpuIdentity() {
  static const std::string& identity = *new std::string([] {
    std::string result;
    std::string info;
    try {
      info = ReadFile("/proc/cpuinfo");
    } catch (const Error&) {
      return std::string("unknown processor");
    }
    // Only the first processor's block.
    info.resize(std::min(info.size(), info.find("\n\n")));
    for (std::string_view field : {"model name", "flags", "cpu family", "model\t", "stepping"}) {
      const size_t at = info.find("\n" + std::string(field));
      if (at != std::string::npos) result += info.substr(at, info.find('\n', at + 1) - at);
    }
    return result;
  }());
  return identity;
}

int UsableCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 0;
}

}  // namespace

CompileCache::CompileCache(Options options) : options_(std::move(options)) {
  if (options_.folder.empty()) options_.folder = DefaultFolder();
  if (options_.folder == "off") options_.folder.clear();
  if (options_.max_bytes < 0) {
    throw Invalid("the size of the compile cache must not be negative, found {}",
                  options_.max_bytes);
  }
}

std::string CompileCache::DefaultFolder() {
  const auto environment = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string own = environment("FLATOUT_CACHE"); !own.empty()) return own;
  if (std::string xdg = environment("XDG_CACHE_HOME"); !xdg.empty()) return xdg + "/flatout";
  if (std::string home = environment("HOME"); !home.empty()) return home + "/.cache/flatout";
  return "";
}

std::string CompileCache::Key(const Client& client, std::string_view stablehlo,
                              const CompileOptions& options) {
  const Plugin& plugin = client.plugin();
  if (!client.is_cpu()) {
    // Of the devices that the program runs on; the client may have more.
    std::vector<std::string> kinds;
    for (const Device& device : client.devices()) {
      const std::vector<int>& ids = options.device_ids;
      const bool first = device.index() < options.num_replicas;
      if (ids.empty() ? first : std::find(ids.begin(), ids.end(), device.id()) != ids.end()) {
        kinds.push_back(device.kind());
      }
    }
    return KeyForDevices(plugin, kinds, stablehlo, options);
  }
  Sha256 sum;
  sum.Field(kMagic).Field(stablehlo).Field(options.ToProto()).Field(options.cache_salt);
  sum.Field(plugin.path()).Field(plugin.version().ToString());
  for (const auto& [name, value] : plugin.attributes()) sum.Field(name).Field(value);
  struct stat info {};
  if (stat(plugin.path().c_str(), &info) == 0) {
    sum.Field(fmt::format("{} {}.{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  }
  const char* flags = std::getenv("XLA_FLAGS");
  sum.Field(flags == nullptr ? "" : flags);
  sum.Field(client.platform_name()).Field(client.platform_version());
  sum.Field(fmt::format("{}", client.devices().size()));
  for (const Device& device : client.devices()) sum.Field(device.kind());
  // The number of cores decides how XLA splits loops among threads.
  sum.Field(CpuIdentity()).Field(fmt::format("{}", UsableCores()));
  return sum.HexDigest() + std::string(kSuffix);
}

std::string CompileCache::KeyForDevices(const Plugin& plugin,
                                        const std::vector<std::string>& device_kinds,
                                        std::string_view stablehlo, const CompileOptions& options) {
  Sha256 sum;
  sum.Field(kMagic).Field(stablehlo).Field(options.ToProto()).Field(options.cache_salt);
  // Where the plugin lies and when it was unpacked don't matter: the program is for a machine.
  sum.Field(plugin.version().ToString());
  for (const auto& [name, value] : plugin.attributes()) sum.Field(name).Field(value);
  struct stat info {};
  if (stat(plugin.path().c_str(), &info) == 0) sum.Field(fmt::format("{}", info.st_size));
  // Nor does the place of CUDA's own files, which Plugin::Load sets.
  const char* set = std::getenv("XLA_FLAGS");
  std::istringstream flags(set == nullptr ? "" : set);
  for (std::string flag; flags >> flag;) {
    if (!flag.starts_with("--xla_gpu_cuda_data_dir")) sum.Field(flag);
  }
  for (const std::string& kind : device_kinds) sum.Field(kind);
  return sum.HexDigest() + std::string(kSuffix);
}

std::string CompileCache::StoreForDevices(const std::string& folder, const Plugin& plugin,
                                          const std::vector<std::string>& device_kinds,
                                          std::string_view stablehlo, const CompileOptions& options,
                                          std::string_view program) {
  const std::string key = KeyForDevices(plugin, device_kinds, stablehlo, options);
  std::string path = (fs::path(folder) / key).string();
  MakeDirs(folder);
  AtomicWriteFile(path, WithHeader(key, program));
  return path;
}

std::shared_ptr<Executable> CompileCache::Compile(const Client& client, std::string_view stablehlo,
                                                  const CompileOptions& options) {
  std::string path;
  if (!options_.folder.empty()) {
    path = options_.folder + "/" + Key(client, stablehlo, options);
    const auto begin = Clock::now();
    if (auto executable = TryLoad(client, path, options)) {
      std::lock_guard lock(mutex_);
      ++stats_.hits;
      stats_.load_seconds += SecondsSince(begin);
      return executable;
    }
  }
  const auto begin = Clock::now();
  std::shared_ptr<Executable> executable = client.Compile(stablehlo, options);
  {
    std::lock_guard lock(mutex_);
    ++stats_.misses;
    stats_.compile_seconds += SecondsSince(begin);
  }
  if (!path.empty()) Store(path, *executable);
  return executable;
}

std::shared_ptr<Executable> CompileCache::TryLoad(const Client& client, const std::string& path,
                                                  const CompileOptions& options) {
  const auto damaged = [&](std::string_view why) {
    {
      std::lock_guard lock(mutex_);
      ++stats_.corrupt;
    }
    std::error_code ignored;
    fs::remove(path, ignored);
    Warn(fmt::format("compile cache: {} {}; the program is compiled anew", path, why));
    return nullptr;
  };
  std::error_code missing;
  if (!fs::exists(path, missing)) return nullptr;
  std::string bytes;
  try {
    bytes = ReadFile(path);
  } catch (const Error& error) {
    if (!fs::exists(path, missing)) return nullptr;  // evicted by another process just now
    return damaged(fmt::format("cannot be read ({})", error.what()));
  }
  constexpr size_t kHeader = kMagic.size() + 9;
  std::string_view rest = bytes;
  if (rest.size() < kHeader || !rest.starts_with(kMagic)) return damaged("is damaged (no header)");
  const std::string_view program = rest.substr(kHeader);
  if (rest.substr(kMagic.size(), 8) != Checksum(fs::path(path).filename(), program)) {
    return damaged("is damaged (its checksum doesn't fit)");
  }
  try {
    auto executable = client.Deserialize(program, options);
    utimensat(AT_FDCWD, path.c_str(), nullptr,
              0);  // used now; no matter if the folder is read-only
    return executable;
  } catch (const Error& error) {
    return damaged(fmt::format("is not taken by the plugin ({})", error.what()));
  }
}

void CompileCache::Store(const std::string& path, const Executable& executable) {
  try {
    const std::string program = executable.Serialize();
    MakeDirs(options_.folder);
    AtomicWriteFile(path, WithHeader(fs::path(path).filename(), program));
    Evict(path);
  } catch (const std::exception& error) {
    {
      std::lock_guard lock(mutex_);
      if (std::exchange(unusable_, true)) return;
    }
    Warn(fmt::format(
        "compile cache: {}; compiled programs are not kept, so the next start compiles again "
        "(FLATOUT_CACHE chooses another folder)",
        error.what()));
  }
}

void CompileCache::Evict(const std::string& kept) {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    int64_t bytes;
  };
  std::vector<Entry> entries;
  int64_t total = 0;
  std::error_code error;
  for (fs::directory_iterator it(options_.folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code gone;  // other processes evict too
    const fs::file_time_type used = it->last_write_time(gone);
    if (gone) continue;
    if (name.ends_with(kSuffix) || name.ends_with(kPlanSuffix)) {
      const auto bytes = static_cast<int64_t>(it->file_size(gone));
      if (gone) continue;
      entries.push_back({it->path(), used, bytes});
      total += bytes;
    } else if (name.ends_with(".tmp") &&
               (name.find(kSuffix) != std::string::npos ||
                name.find(kPlanSuffix) != std::string::npos) &&
               used < fs::file_time_type::clock::now() - std::chrono::hours(1)) {
      fs::remove(it->path(), gone);  // left by a process that was killed while it wrote
    }
  }
  if (total <= options_.max_bytes) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  int64_t evicted = 0;
  for (const Entry& entry : entries) {
    if (total <= options_.max_bytes) break;
    if (entry.path == fs::path(kept)) continue;
    std::error_code gone;
    if (fs::remove(entry.path, gone)) ++evicted;
    total -= entry.bytes;
  }
  std::lock_guard lock(mutex_);
  stats_.evicted += evicted;
}

void CompileCache::Warn(const std::string& message) {
  if (options_.warn) {
    options_.warn(message);
  } else {
    LogWarning("{}", message);
  }
}

CompileCache::Stats CompileCache::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

}  // namespace flatout::xla
