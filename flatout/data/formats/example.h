// tf.train.Example and tf.train.SequenceExample: records of named lists, straight from the wire
// format into a Block, without objects in between.
//
//   message Example         { Features features = 1; }
//   message SequenceExample { Features context = 1; FeatureLists feature_lists = 2; }
//   message Features        { map<string, Feature> feature = 1; }
//   message FeatureLists    { map<string, FeatureList> feature_list = 1; }
//   message FeatureList     { repeated Feature feature = 1; }
//   message Feature         { oneof { BytesList bytes_list = 1; FloatList float_list = 2;
//                                     Int64List int64_list = 3; } }
//   each list: repeated value = 1 (numbers packed or not)
// Sources: TensorFlow's example.proto and feature.proto; the protobuf encoding guide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/block.h"
#include "flatout/data/field.h"

namespace flatout::data {

enum class FeatureKind { kNone, kBytes, kFloat, kInt64 };  // kNone: the oneof is not set
std::string_view Name(FeatureKind kind);                   // "bytes", "float", "int64", "nothing"

// How one feature becomes a field.
struct FeatureSpec {
  std::string name;
  FeatureKind kind = FeatureKind::kBytes;
  bool sequence = false;  // in feature_lists: one Feature per frame; the field's first dimension
                          // counts the frames
  // Dimensions of the values (of one frame, for sequences); [] is exactly one value. One of them
  // may be kAny (not for sequences).
  std::vector<int64_t> shape;
  // Elements of the field: int64: i32 unless said otherwise (a value that does not fit is an
  // error), float: f32. For bytes: absent: text; else each string holds the little-endian elements
  // of all of `shape`, as tf.io.decode_raw reads it.
  std::optional<ir::DType> as;
  int64_t bound = 0;  // int64: values must lie in [0, bound)
  // For records without the feature: one number (string) for all elements, or one number for each.
  // Without it a missing feature is an error, or no values where shape has kAny. Not for sequences,
  // which then have no frames.
  std::vector<double> default_numbers;
  std::optional<std::string> default_text;

  Field ToField() const;
};

// Reads the table `features` or `sequence_features` of a run file:
//   { image = "bytes", label = "int64", weights = { dtype = "float", shape = [13] } }
// Keys of an entry: dtype, shape, as, default, bound. Throws UserError at the wrong value's place.
std::vector<FeatureSpec> ReadFeatureSpecs(const Config& table, bool sequence);
// The other way round: the table that reads what SerializeExample writes of these fields.
Config FeatureSpecsFor(const std::vector<Field>& fields);

enum class ExampleFormat { kExample, kSequenceExample };

// Parses records by a list of features. Thread-safe; make once.
class ExampleParser {
 public:
  ExampleParser(ExampleFormat format, std::vector<FeatureSpec> specs);
  ~ExampleParser();

  const std::vector<Field>& fields() const { return fields_; }
  const std::vector<FeatureSpec>& specs() const { return specs_; }
  // What Parse uses again from record to record.
  struct Scratch {
    std::vector<std::span<const std::byte>> found;  // per feature: its message
    std::vector<int32_t> order;                     // the features' order in the last record
    std::vector<std::string_view> texts;
  };
  // Writes the features of `record` into row `row` of `out`, which has fields(). Where
  // `record_outlives_block`, text points into `record`. Throws DataError saying what is wrong, at
  // which byte of the record or in which feature; the row may hold anything then.
  void Parse(std::span<const std::byte> record, Block& out, int64_t row, Scratch& scratch,
             bool record_outlives_block = false) const;

 private:
  struct Table;
  void ParseFrames(size_t feature, std::span<const std::byte> list, const uint8_t* origin,
                   Block& out, int64_t row, Scratch& scratch) const;
  void UseDefault(size_t feature, Block& out, int64_t row, Scratch& scratch) const;

  ExampleFormat format_;
  std::vector<FeatureSpec> specs_;
  std::vector<Field> fields_;
  std::unique_ptr<const Table> table_;
};

// Learns what is in records by looking at some.
class ExampleInference {
 public:
  // Returns false, and takes nothing of it, when `record` is no (Sequence)Example at all.
  bool Add(std::span<const std::byte> record);
  int64_t records() const { return records_; }
  // Whether any had feature_lists.
  bool sequence() const { return sequence_; }
  bool empty() const { return seen_.empty(); }
  // Names of features (of feature lists), sorted.
  std::vector<std::string> Names(bool sequence) const;
  // By name: the type seen; shape [] where every record had one value, [n] where every record had
  // n, else [kAny]. Throws DataError where a feature changes its type.
  std::vector<FeatureSpec> Specs() const;

 private:
  struct Seen {
    FeatureKind kind = FeatureKind::kNone;
    FeatureKind other = FeatureKind::kNone;  // a second type
    int64_t records = 0;                     // that have it
    int64_t fewest = 0, most = 0;            // values (of a frame)
    bool wide = false;                       // an integer that does not fit i32
  };
  std::map<std::pair<bool, std::string>, Seen> seen_;
  int64_t records_ = 0;
  bool sequence_ = false;
};

// Row `row` of the block as a serialized tf.train.Example, into `out` (replaced). Integers other
// than u8 become int64 lists, f32 float lists, text bytes lists; u8 with dimensions, f16, bf16 and
// f64 one string of their little-endian elements; a u8 scalar an int64. Fields with more than one
// dimension that differs from record to record get a second feature "NAME/shape". Features stand in
// the order of the fields.
void SerializeExample(const Block& block, int64_t row, std::string& out);

}  // namespace flatout::data
