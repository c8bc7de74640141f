// Loads that go on behind: files whose headers were read, and whose values come in on a thread
// while other things begin.
#pragma once

#include <future>
#include <memory>

namespace flatout::data {

// Such a load, over when `done` is, into `memory`.
void AddLoad(const std::shared_ptr<const std::byte>& memory, std::shared_future<void> done);
// Waits for those whose memory somebody still holds, and throws what went wrong with one: for
// whoever must know that the data are whole before anything is begun. Thread-safe.
void FinishLoads();

}  // namespace flatout::data
