// All kinds of source and transform, registered once; the code behind it is generated (register.h).
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "flatout/base/error.h"

namespace flatout::data::registry {

// Registers everything that sources/ and transforms/ hold, at the first call.
void RegisterAll();

// The kinds of one sort by name, and what makes each. Thread-safe.
template <typename Maker>
class Kinds {
 public:
  // `what` is for messages: "a source".
  explicit Kinds(std::string what) : what_(std::move(what)) {}

  // Throws when the name is taken. Does not call RegisterAll, which calls this.
  void Add(std::string name, Maker maker) {
    std::lock_guard lock(mutex_);
    auto [it, fresh] = makers_.emplace(std::move(name), std::move(maker));
    if (!fresh) throw Invalid("{} called \"{}\" is registered already", what_, it->first);
  }
  // Sorted.
  std::vector<std::string> Names() {
    RegisterAll();
    std::lock_guard lock(mutex_);
    std::vector<std::string> names;
    for (const auto& [name, maker] : makers_) names.push_back(name);
    return names;
  }
  // Empty when there is none of that name.
  Maker Find(const std::string& name) {
    RegisterAll();
    std::lock_guard lock(mutex_);
    auto it = makers_.find(name);
    return it == makers_.end() ? Maker() : it->second;
  }

 private:
  const std::string what_;
  std::mutex mutex_;
  std::map<std::string, Maker> makers_;
};

}  // namespace flatout::data::registry
