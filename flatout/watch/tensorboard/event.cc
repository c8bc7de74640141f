#include "flatout/watch/tensorboard/event.h"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flatout/base/error.h"
#include "flatout/ir/graph.h"

namespace flatout::watch::tensorboard {
namespace {

// tensorflow.Event
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kGraphDef = 4, kSummary = 5,
              kSessionLog = 7;
// tensorflow.Summary.Value
constexpr int kTag = 1, kSimpleValue = 2, kHisto = 5, kTensor = 8, kMetadata = 9;
// tensorflow.SummaryMetadata and its PluginData
constexpr int kPluginData = 1, kDataClass = 4;
constexpr int kPluginName = 1, kPluginContent = 2;
constexpr int kClassTensor = 2, kClassBlobs = 3;
// tensorflow.TensorProto, TensorShapeProto
constexpr int kDType = 1, kTensorShape = 2, kStringValue = 8;
constexpr int kShapeDim = 2, kDimSize = 1;
constexpr int kFloatType = 1, kStringType = 7;

ProtoWriter Shape(std::span<const int64_t> dims) {
  ProtoWriter shape;
  for (const int64_t size : dims) {
    ProtoWriter dim;
    dim.Int(kDimSize, size);
    shape.Message(kShapeDim, dim);
  }
  return shape;
}

ProtoWriter StringTensor(std::span<const std::string> values, bool scalar) {
  ProtoWriter tensor;
  tensor.Int(kDType, kStringType);
  const auto count = static_cast<int64_t>(values.size());
  tensor.Message(kTensorShape, scalar ? ProtoWriter() : Shape({&count, 1}));
  for (const std::string& value : values) tensor.Bytes(kStringValue, value);
  return tensor;
}

ProtoWriter Metadata(std::string_view plugin, std::string_view content, int data_class) {
  ProtoWriter data, metadata;
  data.Bytes(kPluginName, plugin);
  if (!content.empty()) data.Bytes(kPluginContent, content);
  metadata.Message(kPluginData, data);
  if (data_class != 0) metadata.Int(kDataClass, data_class);
  return metadata;
}

// A value of the HPARAMS plugin: all of it is in the metadata.
ProtoWriter HParamsValue(std::string_view tag, int field, const ProtoWriter& content) {
  ProtoWriter data;
  data.Message(field, content);
  ProtoWriter tensor;  // there must be one; TensorBoard's own is empty too
  tensor.Int(kDType, kFloatType);
  const int64_t none = 0;
  tensor.Message(kTensorShape, Shape({&none, 1}));
  ProtoWriter value;
  value.Bytes(kTag, tag);
  value.Message(kMetadata, Metadata("hparams", data.bytes(), kClassTensor));
  value.Message(kTensor, tensor);
  return value;
}

void BigEndian(std::string& text, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
}

void Chunk(std::string& png, std::string_view type, std::string_view data) {
  BigEndian(png, static_cast<uint32_t>(data.size()));
  const size_t begin = png.size();
  png += type;
  png += data;
  BigEndian(png, static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(&png[begin]),
                                             static_cast<uInt>(png.size() - begin))));
}

}  // namespace

std::optional<Histogram> MakeHistogram(ir::DType dtype, std::span<const std::byte> elements,
                                       int buckets) {
  const int64_t step = ir::ByteSize(dtype);
  const auto size = static_cast<int64_t>(elements.size()) / step;
  std::vector<double> values;
  values.reserve(static_cast<size_t>(size));
  Histogram histogram;
  histogram.min = std::numeric_limits<double>::infinity();
  histogram.max = -histogram.min;
  for (int64_t i = 0; i < size; ++i) {
    const double value = ir::LoadElement(dtype, elements.data() + i * step);
    if (!std::isfinite(value)) continue;
    values.push_back(value);
    histogram.min = std::min(histogram.min, value);
    histogram.max = std::max(histogram.max, value);
    histogram.sum += value;
    histogram.sum_squares += value * value;
  }
  if (values.empty()) return std::nullopt;
  histogram.count = static_cast<int64_t>(values.size());
  if (histogram.min == histogram.max) {
    histogram.limits = {histogram.max};
    histogram.counts = {static_cast<double>(histogram.count)};
    return histogram;
  }
  const double width = (histogram.max - histogram.min) / buckets;
  histogram.counts.assign(static_cast<size_t>(buckets), 0);
  for (int i = 1; i < buckets; ++i) histogram.limits.push_back(histogram.min + i * width);
  histogram.limits.push_back(histogram.max);
  for (const double value : values) {
    const auto at = static_cast<int>((value - histogram.min) / width);
    histogram.counts[static_cast<size_t>(std::clamp(at, 0, buckets - 1))] += 1;
  }
  return histogram;
}

std::string EncodePng(const Picture& picture) {
  // PNG (ISO/IEC 15948): 8 bits, no filter, no interlacing.
  static constexpr uint8_t kColorType[] = {0, 4, 2, 6};
  if (picture.channels < 1 || picture.channels > 4 || picture.height < 1 || picture.width < 1 ||
      picture.pixels.size() !=
          static_cast<size_t>(picture.height * picture.width * picture.channels)) {
    throw Internal("a picture of {} x {} x {} with {} bytes", picture.height, picture.width,
                   picture.channels, picture.pixels.size());
  }
  std::string raw;
  const auto row = static_cast<size_t>(picture.width * picture.channels);
  for (int64_t y = 0; y < picture.height; ++y) {
    raw += '\0';  // the row's filter: none
    raw.append(reinterpret_cast<const char*>(picture.pixels.data()) + static_cast<size_t>(y) * row,
               row);
  }
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(raw.data()), static_cast<uLong>(raw.size()),
                Z_DEFAULT_COMPRESSION) != Z_OK) {
    throw Internal("zlib did not take {} bytes", raw.size());
  }
  packed.resize(size);
  std::string header;
  BigEndian(header, static_cast<uint32_t>(picture.width));
  BigEndian(header, static_cast<uint32_t>(picture.height));
  header += {8, static_cast<char>(kColorType[picture.channels - 1]), 0, 0, 0};
  std::string png = "\x89PNG\r\n\x1a\n";
  Chunk(png, "IHDR", header);
  Chunk(png, "IDAT", packed);
  Chunk(png, "IEND", "");
  return png;
}

std::string EncodeGraph(std::span<const GraphNode> nodes) {
  ProtoWriter graph;
  for (const GraphNode& node : nodes) {
    ProtoWriter text;
    text.Bytes(1, node.name);
    text.Bytes(2, node.op);
    for (const std::string& input : node.inputs) text.Bytes(3, input);
    for (const auto& [name, value] : node.attributes) {
      ProtoWriter attribute;
      attribute.Bytes(2, value);  // AttrValue.s
      text.Entry(5, name, attribute);
    }
    if (!node.output_shapes.empty()) {
      ProtoWriter list, attribute;
      for (const std::vector<int64_t>& dims : node.output_shapes) list.Message(7, Shape(dims));
      attribute.Message(1, list);
      text.Entry(5, "_output_shapes", attribute);
    }
    graph.Message(1, text);
  }
  ProtoWriter versions;
  versions.Int(1, 22);  // producer: any that TensorBoard takes
  graph.Message(4, versions);
  return graph.Take();
}

Event::Event(double wall_time, int64_t step) : wall_time_(wall_time), step_(step) {}

Event& Event::Add(const ProtoWriter& value) {
  summary_.Message(1, value);
  return *this;
}

Event& Event::Scalar(std::string_view tag, double value) {
  ProtoWriter scalar;
  scalar.Bytes(kTag, tag);
  scalar.Float(kSimpleValue, static_cast<float>(value));
  return Add(scalar);
}

Event& Event::Histogram(std::string_view tag, const tensorboard::Histogram& histogram) {
  ProtoWriter proto, value;
  proto.Double(1, histogram.min);
  proto.Double(2, histogram.max);
  proto.Double(3, static_cast<double>(histogram.count));
  proto.Double(4, histogram.sum);
  proto.Double(5, histogram.sum_squares);
  proto.Doubles(6, histogram.limits);
  proto.Doubles(7, histogram.counts);
  value.Bytes(kTag, tag);
  value.Message(kHisto, proto);
  return Add(value);
}

Event& Event::Images(std::string_view tag, std::span<const Picture> pictures) {
  if (pictures.empty()) return *this;
  std::vector<std::string> strings = {std::to_string(pictures[0].width),
                                      std::to_string(pictures[0].height)};
  for (const Picture& picture : pictures) strings.push_back(EncodePng(picture));
  ProtoWriter content;
  content.Int(1, static_cast<int64_t>(pictures.size()));  // ImagePluginData.max_images_per_step
  ProtoWriter value;
  value.Bytes(kTag, tag);
  value.Message(kMetadata, Metadata("images", content.bytes(), kClassBlobs));
  value.Message(kTensor, StringTensor(strings, false));
  return Add(value);
}

Event& Event::Text(std::string_view tag, std::string_view markdown) {
  const std::string text(markdown);
  ProtoWriter value;
  value.Bytes(kTag, tag);
  value.Message(kMetadata, Metadata("text", "", kClassTensor));
  value.Message(kTensor, StringTensor({&text, 1}, true));
  return Add(value);
}

Event& Event::HParams(const std::map<std::string, HParam>& values, std::string_view group) {
  ProtoWriter start;  // SessionStartInfo
  for (const auto& [name, value] : values) {
    ProtoWriter proto;  // google.protobuf.Value
    if (const auto* flag = std::get_if<bool>(&value)) {
      proto.Bool(4, *flag);
    } else if (const auto* number = std::get_if<double>(&value)) {
      proto.Double(2, *number);
    } else {
      proto.Bytes(3, std::get<std::string>(value));
    }
    start.Entry(1, name, proto);
  }
  start.Bytes(4, group);
  start.Double(5, wall_time_);
  return Add(HParamsValue("_hparams_/session_start_info", 3, start));
}

Event& Event::HParamsEnd(SessionStatus status) {
  ProtoWriter end;  // SessionEndInfo
  end.Int(1, static_cast<int64_t>(status));
  end.Double(2, wall_time_);
  return Add(HParamsValue("_hparams_/session_end_info", 4, end));
}

Event& Event::Graph(std::string_view graph) {
  graph_ = graph;
  return *this;
}

std::string Event::FileVersion(double wall_time) {
  ProtoWriter event;
  event.Double(kWallTime, wall_time);
  event.Bytes(kFileVersion, "brain.Event:2");
  return event.Take();
}

std::string Event::SessionStart(double wall_time, int64_t step) {
  ProtoWriter event, log;
  log.Int(1, 1);  // SessionLog.START
  event.Double(kWallTime, wall_time);
  event.Int(kStep, step);
  event.Message(kSessionLog, log);
  return event.Take();
}

std::string Event::Encode() const {
  ProtoWriter event;
  event.Double(kWallTime, wall_time_);
  event.Int(kStep, step_);
  // One of the two: they are alternatives in the message.
  if (!graph_.empty()) {
    event.Bytes(kGraphDef, graph_);
  } else {
    event.Message(kSummary, summary_);
  }
  return event.Take();
}

ReadEvent DecodeEvent(std::string_view bytes) {
  ReadEvent event;
  for (ProtoReader reader(bytes); reader.Next();) {
    if (reader.field() == kStep) event.step = reader.Int();
    if (reader.field() == kGraphDef) event.graph = true;
    if (reader.field() != kSummary) continue;
    for (ProtoReader summary(reader.Bytes()); summary.Next();) {
      if (summary.field() != 1) continue;
      for (ProtoReader value(summary.Bytes()); value.Next();) {
        if (value.field() == kTag) event.tags.emplace_back(value.Bytes());
      }
    }
  }
  return event;
}

}  // namespace flatout::watch::tensorboard
