// flatout/data: from files to batches on the device.
//
// A record index is the base of everything. A Source knows its N records and can read record i, so
//   - the order of training is a pure function of (seed, epoch, position): order.h;
//   - tf.data's verbs (shuffle, repeat, take, skip, shard, map, batch) are arithmetic on positions,
//     and an iterator's state is a few bytes, exact at every record: dataset.h;
//   - a batch is assembled by reading its records straight into the buffer that is sent to the
//     device, by any number of threads, with the same result: launch.h;
//   - a thread pool does that ahead of the step, bounded in bytes: prefetch.h, device_prefetch.h.
//
// The kinds of source: fashion_mnist and idx (idx.h), text (text.h), clicks (clicks.h), arrays in
// memory (arrays.h). One is opened from the [data] table of a run file by OpenSource:
//   [data]
//   source = "fashion_mnist"
//   validation_split = 5000
// Bad data is a DataError (exit code 3) that names file, byte offset or record, what was expected
// and what was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/ir/shape.h"

namespace flatout::data {

// One named tensor of a record.
struct Field {
  std::string name;
  ir::Shape shape;    // of one record; no batch dimension
  int64_t bound = 0;  // integer values lie in [0, bound): classes, vocabulary, rows; 0: not known

  bool operator==(const Field&) const = default;
};

// The best score that any model can reach in expectation; known only for generated data.
struct BestScore {
  double log_loss;           // nats per record, of the true probabilities against the drawn labels
  double expected_log_loss;  // the same with the labels averaged out (entropy of the labels)
  double auc;                // area under the ROC curve of the true probabilities
};

class Source {
 public:
  virtual ~Source() = default;

  // Number of records, N >= 1.
  virtual int64_t size() const = 0;
  // The tensors of a record, the same for all records.
  virtual const std::vector<Field>& fields() const = 0;
  // Reads records `indices` (each in [0, N), in any order, repeats allowed). For field f the
  // records are written one after the other to out[f], which has room for indices.size() *
  // fields()[f].shape.bytes() bytes. Safe to call from several threads at once. Throws DataError.
  virtual void Read(std::span<const int64_t> indices, std::span<std::byte* const> out) const = 0;
  // One line for people: "fashion_mnist train: 55000 records, image u8[28,28,1], label i32[]".
  virtual const std::string& description() const = 0;
  virtual std::optional<BestScore> best_score() const { return std::nullopt; }
};
using SourcePtr = std::shared_ptr<const Source>;

// The names of the splits that a source may have.
inline constexpr std::string_view kSplits[] = {"train", "validation", "test"};

// Opens the source that the table's key `source` names. Every key of the table is checked: those of
// the source, and those of PipelineOptions (dataset.h). Returns nullptr when the table does not
// define that split (validation_split = 0, say). Throws UserError for a wrong table or split and
// DataError for bad data; a split that is defined but holds no records is an error.
SourcePtr OpenSource(const Config& table, std::string_view split);

// Reads the source's own keys through the reader, does not call Finish.
using SourceOpener = std::function<std::function<SourcePtr(std::string_view split)>(FieldReader&)>;
// Makes one more kind of source known to OpenSource. Throws when the name is taken.
void RegisterSource(std::string name, SourceOpener opener);
// All known kinds, sorted.
std::vector<std::string> SourceKinds();

// "image u8[28,28,1], label i32[]".
std::string DescribeFields(const std::vector<Field>& fields);

}  // namespace flatout::data
