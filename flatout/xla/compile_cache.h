// Compiled programs kept on disk, shared by all processes of a user (or of a cluster's shared
// folder).
//
// One file per program, named by the hash of everything that decides the result: program text,
// compile options and salt, the plugin and what it says of its version, and the kinds of the
// devices; for CPU also the plugin's path and time of change and the processor's model and
// features, while a GPU's program can be made on one machine for another (StoreForDevices). Files
// are written under a temporary name and renamed, carry a checksum, and need no lock: the last
// writer wins. A damaged, unreadable or unwritable file or folder is never an error: the program is
// compiled, and one warning says why.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/xla/pjrt.h"

namespace flatout::xla {

class CompileCache {
 public:
  struct Options {
    std::string folder;                            // "" : DefaultFolder(); "off": no cache
    int64_t max_bytes = int64_t{2} << 30;          // least recently used programs go first
    std::function<void(const std::string&)> warn;  // default: LogWarning
  };
  struct Stats {
    int64_t hits = 0, misses = 0, corrupt = 0, evicted = 0;
    double compile_seconds = 0, load_seconds = 0;
  };

  CompileCache() : CompileCache(Options{}) {}
  explicit CompileCache(Options options);

  // From the cache if it can, else compiled and stored. Throws only what Client::Compile throws.
  std::shared_ptr<Executable> Compile(const Client& client, std::string_view stablehlo,
                                      const CompileOptions& options);

  // $FLATOUT_CACHE, else $XDG_CACHE_HOME/flatout, else ~/.cache/flatout; "" when there is no home.
  static std::string DefaultFolder();
  // The file name (without folder) of that program.
  static std::string Key(const Client& client, std::string_view stablehlo,
                         const CompileOptions& options);
  // The same on a machine that need not be there: for a program on devices of these kinds (not
  // CPUs), one each for options.num_replicas, with the same plugin.
  static std::string KeyForDevices(const Plugin& plugin,
                                   const std::vector<std::string>& device_kinds,
                                   std::string_view stablehlo, const CompileOptions& options);
  // Puts a program that was compiled for such devices into the cache at `folder`, where Compile on
  // their machine finds it; returns the file's path. Throws where it cannot be written.
  static std::string StoreForDevices(const std::string& folder, const Plugin& plugin,
                                     const std::vector<std::string>& device_kinds,
                                     std::string_view stablehlo, const CompileOptions& options,
                                     std::string_view program);
  const std::string& folder() const { return options_.folder; }
  Stats stats() const;

 private:
  std::shared_ptr<Executable> TryLoad(const Client& client, const std::string& path,
                                      const CompileOptions& options);
  void Store(const std::string& path, const Executable& executable);
  // Never removes `kept`, the entry just written.
  void Evict(const std::string& kept);
  void Warn(const std::string& message);

  Options options_;
  mutable std::mutex mutex_;
  Stats stats_;
  bool unusable_ = false;  // said so already
};

}  // namespace flatout::xla
