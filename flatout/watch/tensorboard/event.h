// TensorBoard's events: what stands in its event files, encoded here. Field numbers are those of
// tensorflow/core/util/event.proto, tensorflow/core/framework/{summary,tensor,graph}.proto and
// tensorboard/plugins/hparams/plugin_data.proto; every TensorBoard from 2.0 on reads them.
//
// Scalars, histograms and the graph are written in the form that predates plugins, which
// TensorBoard turns into the present one as it reads, and which other readers of event files know
// too; images, text and hyperparameters in the present one.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flatout/base/proto.h"
#include "flatout/ir/shape.h"

namespace flatout::watch::tensorboard {

// How values are spread: TensorFlow's HistogramProto.
struct Histogram {
  double min = 0, max = 0, sum = 0, sum_squares = 0;
  int64_t count = 0;
  std::vector<double> limits;  // upper ends of the buckets, ascending
  std::vector<double> counts;
};
// Of the elements of a tensor that are finite, in at most `buckets` buckets of equal width, as
// Keras's are (30). Nothing where no element is.
std::optional<Histogram> MakeHistogram(ir::DType dtype, std::span<const std::byte> elements,
                                       int buckets = 30);

// 8-bit pictures, rows from the top, channels last.
struct Picture {
  int64_t height = 0, width = 0, channels = 1;  // 1 grey, 2 with alpha, 3 RGB, 4 RGBA
  std::vector<uint8_t> pixels;
};
std::string EncodePng(const Picture& picture);

// One node of the Graphs tab. Names with '/' are boxes within boxes.
struct GraphNode {
  std::string name, op;
  std::vector<std::string> inputs;  // names of nodes, "name:1" for a further result
  // Of its results, shown at the edges; a negative size is unknown.
  std::vector<std::vector<int64_t>> output_shapes;
  std::vector<std::pair<std::string, std::string>> attributes;  // shown beside it
};
// A GraphDef.
std::string EncodeGraph(std::span<const GraphNode> nodes);

using HParam = std::variant<bool, double, std::string>;

// How a session of the HPARAMS tab ended.
enum class SessionStatus { kUnknown = 0, kSuccess = 1, kFailure = 2, kRunning = 3 };

// One event: when, at which step, and any number of values, each with its tag.
class Event {
 public:
  // wall_time: seconds since 1970.
  Event(double wall_time, int64_t step);

  Event& Scalar(std::string_view tag, double value);
  Event& Histogram(std::string_view tag, const Histogram& histogram);
  // One picture or several of one size, shown together. Does nothing without any.
  Event& Images(std::string_view tag, std::span<const Picture> pictures);
  // Markdown.
  Event& Text(std::string_view tag, std::string_view markdown);
  // That a run of the HPARAMS tab began; `group` is the name it goes by there.
  Event& HParams(const std::map<std::string, HParam>& values, std::string_view group);
  Event& HParamsEnd(SessionStatus status);
  // What EncodeGraph gave.
  Event& Graph(std::string_view graph);

  // The first event of a file, and the one that says that what other files hold of this step and
  // of later ones is void (SessionLog.START).
  static std::string FileVersion(double wall_time);
  static std::string SessionStart(double wall_time, int64_t step);

  bool empty() const { return summary_.bytes().empty() && graph_.empty(); }
  // The message.
  std::string Encode() const;

 private:
  Event& Add(const ProtoWriter& value);

  double wall_time_;
  int64_t step_;
  ProtoWriter summary_;
  std::string graph_;
};

// What event files are read for here: to leave out of them what is about to be done again.
struct ReadEvent {
  int64_t step = 0;
  std::vector<std::string> tags;  // of its values
  bool graph = false;             // it holds the model
};
// Throws DataError where the bytes are no event.
ReadEvent DecodeEvent(std::string_view bytes);

}  // namespace flatout::watch::tensorboard
