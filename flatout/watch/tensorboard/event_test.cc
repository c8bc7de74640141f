#include "flatout/watch/tensorboard/event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "flatout/base/error.h"

namespace flatout::watch::tensorboard {
namespace {

using namespace std::string_literals;  // NOLINT
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

template <typename T>
std::span<const std::byte> Bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

// Byte by byte as TensorFlow's writer has it: wall_time = 1.5, step = 7, "a" = 2.
TEST(Event, HasTheBytesOfTensorFlow) {
  Event event(1.5, 7);
  event.Scalar("a", 2);
  EXPECT_EQ(event.Encode(),
            "\x09\0\0\0\0\0\0\xf8\x3f"
            "\x10\x07"
            "\x2a\x0a\x0a\x08\x0a\x01\x61\x15\0\0\0\x40"s);
  EXPECT_EQ(Event::FileVersion(1.5), "\x09\0\0\0\0\0\0\xf8\x3f\x1a\x0d"s + "brain.Event:2");
  EXPECT_EQ(Event::SessionStart(1.5, 300), "\x09\0\0\0\0\0\0\xf8\x3f\x10\xac\x02\x3a\x02\x08\x01"s);
}

TEST(Event, IsReadBackForItsStepAndTags) {
  Event event(3, 1234567890123);
  EXPECT_TRUE(event.empty());
  event.Scalar("batch_loss", 0.5).Text("note", "*x*");
  EXPECT_FALSE(event.empty());
  const ReadEvent read = DecodeEvent(event.Encode());
  EXPECT_EQ(read.step, 1234567890123);
  EXPECT_THAT(read.tags, ElementsAre("batch_loss", "note"));
  EXPECT_FALSE(read.graph);
  Event graph(3, 0);
  graph.Graph("graph");
  EXPECT_TRUE(DecodeEvent(graph.Encode()).graph);
  EXPECT_THAT(DecodeEvent(Event::FileVersion(1)).tags, IsEmpty());
  EXPECT_THROW(DecodeEvent("\x0a\xff"), DataError);
}

TEST(Histogram, CountsInBucketsOfOneWidth) {
  const std::vector<float> values = {0, 0, 1, 2, 3, 4, 4};
  const auto histogram = MakeHistogram(ir::DType::kF32, Bytes(values), 4);
  ASSERT_TRUE(histogram);
  EXPECT_EQ(histogram->min, 0);
  EXPECT_EQ(histogram->max, 4);
  EXPECT_EQ(histogram->count, 7);
  EXPECT_EQ(histogram->sum, 14);
  EXPECT_EQ(histogram->sum_squares, 0 + 0 + 1 + 4 + 9 + 16 + 16);
  EXPECT_THAT(histogram->limits, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(histogram->counts, ElementsAre(2, 1, 1, 3));
}

TEST(Histogram, LeavesOutWhatIsNotFinite) {
  const float nan = std::nanf(""), infinite = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(MakeHistogram(ir::DType::kF32, Bytes(std::vector<float>{nan, infinite})));
  EXPECT_FALSE(MakeHistogram(ir::DType::kF32, {}));
  const std::vector<float> values = {nan, 2, 2, -infinite};
  const auto histogram = MakeHistogram(ir::DType::kF32, Bytes(values));
  ASSERT_TRUE(histogram);
  EXPECT_EQ(histogram->count, 2);
  EXPECT_THAT(histogram->limits, ElementsAre(2)) << "one bucket where all are equal";
  EXPECT_THAT(histogram->counts, ElementsAre(2));
}

TEST(Histogram, ReadsEveryType) {
  const std::vector<uint16_t> bfloats = {0x3f80, 0x4000};  // 1, 2
  const auto histogram = MakeHistogram(ir::DType::kBF16, Bytes(bfloats), 2);
  ASSERT_TRUE(histogram);
  EXPECT_EQ(histogram->sum, 3);
}

TEST(Png, HasSignatureHeaderAndChecksums) {
  const std::string png = EncodePng({.height = 2, .width = 1, .channels = 1, .pixels = {0, 255}});
  EXPECT_THAT(png, StartsWith("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\2\x08\0\0\0\0"s));
  // The end's checksum is the same in every PNG.
  EXPECT_EQ(png.substr(png.size() - 12), "\0\0\0\0IEND\xae\x42\x60\x82"s);
  EXPECT_THROW(EncodePng({.height = 2, .width = 2, .channels = 3, .pixels = {1}}), InternalError);
  EXPECT_THROW(EncodePng({.height = 1, .width = 1, .channels = 5, .pixels = {1, 1, 1, 1, 1}}),
               InternalError);
}

TEST(Graph, NamesNodesInputsAndShapes) {
  const std::vector<GraphNode> nodes = {
      {"input", "Placeholder", {}, {{-1, 28}}, {}},
      {"dense/dot", "dot_general", {"input"}, {{-1, 10}}, {{"dtype", "f32"}}}};
  const std::string graph = EncodeGraph(nodes);
  EXPECT_THAT(graph, HasSubstr("\x0a\x09"
                               "dense/dot\x12\x0b"
                               "dot_general\x1a\x05input"s));
  EXPECT_THAT(graph, HasSubstr("_output_shapes"));
  // A dimension of -1 takes ten bytes, one of 28 one.
  EXPECT_THAT(graph,
              HasSubstr("\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x12\x02\x08\x1c"s));
}

TEST(HParams, KeepTheirTypes) {
  Event event(2, 0);
  event.HParams({{"rate", 0.5}, {"flag", true}, {"name", std::string("Adam")}}, "run-1");
  const std::string bytes = event.Encode();
  EXPECT_THAT(bytes, HasSubstr("_hparams_/session_start_info"));
  EXPECT_THAT(bytes, HasSubstr("\x0a\x04rate\x12\x09\x11\0\0\0\0\0\0\xe0\x3f"s));
  EXPECT_THAT(bytes, HasSubstr("\x0a\x04"
                               "flag\x12\x02\x20\x01"s));
  EXPECT_THAT(bytes, HasSubstr("\x0a\x04name\x12\x06\x1a\x04"
                               "Adam"s));
  EXPECT_THAT(bytes, HasSubstr("\x22\x05run-1"s));
}

}  // namespace
}  // namespace flatout::watch::tensorboard
