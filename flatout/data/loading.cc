#include "flatout/data/loading.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

namespace flatout::data {
namespace {

struct Loading {
  std::weak_ptr<const std::byte> memory;
  std::shared_future<void> done;
};

std::mutex mutex;
std::vector<Loading> loads;

}  // namespace

void AddLoad(const std::shared_ptr<const std::byte>& memory, std::shared_future<void> done) {
  const std::lock_guard lock(mutex);
  std::erase_if(loads, [](const Loading& one) { return one.memory.expired(); });
  loads.push_back({memory, std::move(done)});
}

void FinishLoads() {
  std::vector<std::pair<std::shared_ptr<const std::byte>, std::shared_future<void>>> held;
  {
    const std::lock_guard lock(mutex);
    for (const Loading& one : loads) {
      if (auto memory = one.memory.lock()) held.emplace_back(std::move(memory), one.done);
    }
  }
  for (const auto& [memory, done] : held) done.get();
}

}  // namespace flatout::data
