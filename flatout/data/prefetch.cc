#include "flatout/data/prefetch.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "flatout/base/clock.h"
#include "flatout/base/error.h"

namespace flatout::data {
namespace {

const std::string kTransfer = "transfer";

// Host memory that is not in use. Outlives the Prefetcher where transfers still hold launches.
class Pool {
 public:
  std::unique_ptr<HostLaunch> Take(const LaunchReader& reader) {
    {
      std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<HostLaunch> launch = std::move(free_.back());
        free_.pop_back();
        return launch;
      }
    }
    return std::make_unique<HostLaunch>(reader);
  }
  void Give(std::unique_ptr<HostLaunch> launch) {
    std::lock_guard lock(mutex_);
    if (!closed_) free_.push_back(std::move(launch));
  }
  void Close() {
    std::lock_guard lock(mutex_);
    closed_ = true;
    free_.clear();
  }

 private:
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<std::unique_ptr<HostLaunch>> free_;
};

// A piece should be long enough that handing it out costs nothing beside it, and short enough that
// all workers share even a single launch.
constexpr double kPieceSeconds = 1e-3;
constexpr int64_t kMostPieces = 64;

}  // namespace

class Prefetcher::Log : public TransferLog {
 public:
  void Add(double seconds) override {
    std::lock_guard lock(mutex_);
    if (engine_ != nullptr) engine_->AddTime(kTransfer, seconds);
  }
  void Fail(std::exception_ptr error) override {
    std::lock_guard lock(mutex_);
    if (engine_ != nullptr) engine_->Fail(std::move(error));
  }
  void Connect(Engine* engine) {
    std::lock_guard lock(mutex_);
    engine_ = engine;
  }

 private:
  std::mutex mutex_;
  Engine* engine_ = nullptr;
};

class Prefetcher::Launches : public JobSource {
 public:
  Launches(std::shared_ptr<const LaunchReader> reader, IteratorState start, int64_t end_epoch,
           Upload upload, std::shared_ptr<TransferLog> log)
      : reader_(std::move(reader)),
        planned_(std::move(start)),
        end_epoch_(end_epoch),
        upload_(std::move(upload)),
        log_(std::move(log)) {}

  std::shared_ptr<Job> Next(ReadContext& context) override {
    return reader_->source()->indexed() ? NextIndexed() : NextOfStream(context);
  }
  // The upload may hold a client, which must not live on in what transfers still hold: the last of
  // them ends on one of the client's own threads.
  void Close() {
    upload_ = nullptr;
    pool_->Close();
  }

  class LaunchJob : public Job {
   public:
    LaunchJob(Launches& launches, LaunchPlan plan, int pieces)
        : launches_(launches),
          plan_(std::move(plan)),
          pieces_(pieces),
          bytes_(launches.reader_->launch_bytes()),
          memory_(launches.pool_->Take(*launches.reader_)) {
      memory_->set_plan(plan_);
    }
    int pieces() const override { return pieces_; }
    int64_t records() const override { return plan_.rows - bad_rows_; }
    int64_t bytes() const override { return bytes_; }
    void Finish(ReadContext&) override {
      bad_rows_ = memory_->bad_rows();
      std::shared_ptr<HostLaunch> host(memory_.release(),
                                       [pool = launches_.pool_](HostLaunch* launch) {
                                         pool->Give(std::unique_ptr<HostLaunch>(launch));
                                       });
      if (launches_.upload_) {
        payload_ = launches_.upload_(std::move(host), launches_.log_);
      } else {
        host_ = std::move(host);
      }
    }
    Item Release() {
      return Item{std::move(plan_), bad_rows_, std::move(host_), std::move(payload_)};
    }

   protected:
    Launches& launches_;
    LaunchPlan plan_;
    const int pieces_;
    const int64_t bytes_;
    int64_t bad_rows_ = 0;
    std::unique_ptr<HostLaunch> memory_;
    std::shared_ptr<HostLaunch> host_;
    std::shared_ptr<void> payload_;
  };

 private:
  class IndexedJob : public LaunchJob {
   public:
    using LaunchJob::LaunchJob;
    void Run(int piece, ReadContext& context) override {
      const int64_t rows = launches_.reader_->layout().launch_rows();
      const int64_t begin = rows * piece / pieces_, end = rows * (piece + 1) / pieces_;
      const Stopwatch watch;
      launches_.reader_->Assemble(plan_, begin, end - begin, context, *memory_);
      launches_.Took(watch.Seconds(), std::clamp<int64_t>(plan_.rows - begin, 0, end - begin));
    }
  };

  // The records were drawn from the stream already; what is left is to put them in their places.
  class StreamJob : public LaunchJob {
   public:
    StreamJob(Launches& launches, LaunchPlan plan, std::vector<Block> blocks)
        : LaunchJob(launches, std::move(plan), 1), blocks_(std::move(blocks)) {}
    void Run(int, ReadContext&) override {
      int64_t row = 0;
      for (const Block& block : blocks_) {
        for (int64_t r = 0; r < block.rows() && row < plan_.rows; ++r) {
          launches_.reader_->CopyRecord(block, r, row++, *memory_);
        }
      }
      blocks_.clear();
      for (; row < launches_.reader_->layout().launch_rows(); ++row) {
        launches_.reader_->Pad(row, *memory_);
      }
    }

   private:
    std::vector<Block> blocks_;
  };

  std::shared_ptr<Job> NextIndexed() {
    if (planned_.epoch >= end_epoch_) return nullptr;
    LaunchPlan plan = reader_->Plan(planned_);
    planned_ = plan.next;
    const int64_t rows = reader_->layout().launch_rows();
    const double seconds = row_seconds_.load(std::memory_order_relaxed) * static_cast<double>(rows);
    const auto pieces = static_cast<int64_t>(seconds / kPieceSeconds);
    return std::make_shared<IndexedJob>(
        *this, std::move(plan),
        static_cast<int>(std::clamp<int64_t>(pieces, 1, std::min(rows, kMostPieces))));
  }

  std::shared_ptr<Job> NextOfStream(ReadContext& context) {
    while (planned_.epoch < end_epoch_) {
      if (!cursor_) {
        cursor_ = reader_->source()->Open(planned_.epoch);
        if (!planned_.stream.empty()) {
          std::span<const int64_t> saved = planned_.stream;
          cursor_->Restore(saved);
        }
      }
      LaunchPlan plan;
      plan.start = planned_;
      plan.epoch = planned_.epoch;
      const BatchLayout& layout = reader_->layout();
      std::vector<Block> blocks;
      if (ahead_.rows() > 0) plan.rows = ahead_.rows(), blocks.push_back(std::move(ahead_));
      ahead_ = Block();
      while (plan.rows < layout.launch_rows()) {
        Block block;
        const int64_t got = cursor_->Next(context, layout.launch_rows() - plan.rows, block);
        if (got == 0) break;
        plan.rows += got;
        blocks.push_back(std::move(block));
      }
      planned_.position += plan.rows;
      planned_.stream.clear();
      cursor_->Save(planned_.stream);
      // Whether this is the epoch's last launch shows only in whether there is another record.
      if (plan.rows < layout.launch_rows() || cursor_->Next(context, 1, ahead_) == 0) {
        plan.ends_epoch = true;
        cursor_.reset();
        planned_ = IteratorState{planned_.seed, planned_.epoch + 1, 0, planned_.size, {}};
      }
      if (layout.drop_remainder) plan.rows -= plan.rows % layout.global_batch();
      plan.steps = (plan.rows + layout.global_batch() - 1) / layout.global_batch();
      plan.next = planned_;
      if (plan.rows > 0)
        return std::make_shared<StreamJob>(*this, std::move(plan), std::move(blocks));
      if (plan.start.position == 0) {
        throw BadData("{}: epoch {} has no records{}", reader_->source()->description(),
                      plan.epoch + 1,
                      layout.drop_remainder ? " for a full batch (drop_remainder)" : "");
      }
    }
    return nullptr;
  }

  void Took(double seconds, int64_t rows) {
    if (rows == 0) return;
    const double now = seconds / static_cast<double>(rows);
    const double before = row_seconds_.load(std::memory_order_relaxed);
    row_seconds_.store(before == 0 ? now : 0.8 * before + 0.2 * now, std::memory_order_relaxed);
  }

  const std::shared_ptr<const LaunchReader> reader_;
  IteratorState planned_;  // where the next launch to be begun starts
  const int64_t end_epoch_;
  Upload upload_;
  const std::shared_ptr<TransferLog> log_;
  const std::shared_ptr<Pool> pool_ = std::make_shared<Pool>();
  std::atomic<double> row_seconds_ = 0;  // of a worker, lately
  std::unique_ptr<Cursor> cursor_;
  Block ahead_;  // a stream's record that was drawn to see whether there is one
};

Prefetcher::Prefetcher(LaunchReader reader, IteratorState start, PrefetchOptions options,
                       Upload upload)
    : reader_(std::make_shared<const LaunchReader>(std::move(reader))),
      log_(std::make_shared<Log>()),
      launches_(std::make_shared<Launches>(reader_, reader_->CheckState(start), options.end_epoch,
                                           std::move(upload), log_)) {
  engine_ = std::make_unique<Engine>(launches_, EngineOptions{.workers = options.workers,
                                                              .depth = options.depth,
                                                              .bytes = options.bytes,
                                                              .bad = options.bad});
  log_->Connect(engine_.get());
}

Prefetcher::~Prefetcher() { Stop(); }

std::optional<Prefetcher::Item> Prefetcher::Next() {
  const std::shared_ptr<Job> job = engine_->Next();
  if (!job) return std::nullopt;
  return static_cast<Launches::LaunchJob&>(*job).Release();
}

void Prefetcher::Stop() {
  log_->Connect(nullptr);
  engine_->Stop();
  launches_->Close();
}

}  // namespace flatout::data
