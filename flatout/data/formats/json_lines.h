// JSON lines: one JSON object (RFC 8259) in UTF-8 per line; blank lines are no records.
//
// Members become fields by path ("user.age" is the member age of the member user). Numbers and
// booleans fill any number type that holds them, strings become text or numbers of classes, arrays
// become dimensions. Here: the options of the source "jsonl" (sources/jsonl_source.cc), and the
// functions on text below it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/files.h"
#include "flatout/data/formats/columns.h"
#include "flatout/data/formats/text_records.h"
#include "flatout/data/source.h"

namespace flatout::data {

struct JsonLinesOptions {
  SplitOptions split;
  Config columns;  // columns.h, with paths for names; absent: all members of the first records
  Config missing;  // what stands for null and absent members where a column says nothing

  template <class V>
  void Visit(V& v) {
    split.Visit(v);
    v("columns", columns);
    v("missing", missing);
  }
};

std::function<SourcePtr(std::string_view)> OpenJsonLines(FieldReader& reader);

// ---- on text ----

// What is wrong with a record, and where in its text.
struct JsonFault {
  size_t at = 0;
  std::string what;
};

// Values nest at most so deep.
inline constexpr int kJsonDepth = 200;

// A value as a tree.
struct JsonValue {
  enum class Kind { kNull, kBool, kNumber, kString, kArray, kObject };
  // Not defaulted: clang 19 looks into a defaulted one before the pairs below are complete.
  JsonValue() {}  // NOLINT(modernize-use-equals-default)
  Kind kind = Kind::kNull;
  std::string text;  // of a number as it is written, of a string its content, "true", "false"
  std::vector<JsonValue> items;                            // of an array
  std::vector<std::pair<std::string, JsonValue>> members;  // of an object, in their order
};
// The whole text as one value. False: `fault` says why not.
bool ParseJson(std::string_view text, JsonValue& value, JsonFault& fault);

// What a sample of records says of the members: paths, types and dimensions.
class JsonSample {
 public:
  // A record, and its number in the file; others than objects are left out.
  void Take(const JsonValue& record, int64_t number = 0);
  // Paths of all members but objects, in order of appearance.
  std::vector<std::string> Paths() const;
  // Whether the path holds values rather than arrays of objects.
  bool IsField(size_t path) const;
  // The type of what these paths hold, all together.
  void ResolveType(const std::vector<size_t>& paths, ColumnSpec& spec) const;
  // Why no type can be inferred for them: numbers and booleans without any string, which would make
  // text, though text takes strings alone. It names values, their records, and what to declare
  // `field` as. Empty: one can.
  std::string Unresolved(const std::vector<size_t>& paths, const std::string& field) const;
  // The dimensions of a path's arrays, kAny where they differ; none for scalars.
  std::vector<int64_t> Dims(size_t path) const;

 private:
  // Kinds of values that no inferred type holds together, or at all.
  enum Met : size_t {
    kBoolean,
    kPlain,     // a number that i64 or f32 holds
    kWide,      // an integer beyond i64, in u64
    kFloat64,   // a number in f64 alone
    kTooLarge,  // in no type
    kMetKinds,
  };
  struct First {
    int64_t record = -1;  // none was met
    std::string text;
  };
  struct Member {
    std::string path;
    TypeGuess guess;
    TypeGuess numbers;  // the same without booleans
    std::array<First, kMetKinds> met;
    bool text = false;     // a string among them
    bool objects = false;  // no field
    bool fresh = true;     // no value so far; the first one settles whether there are dimensions
    std::vector<int64_t> dims;
  };
  Member& Find(const std::string& path);
  void Walk(const std::string& path, const JsonValue& value, int depth);
  void Values(Member& member, const JsonValue& value, size_t axis);
  static Met KindOf(const JsonValue& value);

  int64_t record_ = 0;
  std::vector<Member> members_;
  std::unordered_map<std::string, size_t> by_path_;
};

// Reads records into the rows of a block.
class JsonRowParser {
 public:
  // A member at `path` becomes field `field`: all of it, or, when `element` >= 0, that one element.
  // `type` must outlive this.
  void Add(const std::string& path, const CellType* type, size_t field,
           const std::vector<int64_t>& dims, int64_t element = -1);

  // Memory for Parse; one per thread.
  struct Scratch {
    std::vector<uint8_t> seen;
    std::vector<std::byte> bytes;
    std::vector<std::string_view> texts;
    std::string key;
  };
  // Parses text.text into row text.row of `out`. False: the row is bad.
  bool Parse(const RecordText& text, Block& out, Scratch& scratch, JsonFault& fault) const;

 private:
  friend class JsonRowReader;
  struct Target {
    std::string path;
    const CellType* type;
    size_t field;
    std::vector<int64_t> dims;
    int64_t element;
    bool fixed;  // all of dims known, no text
  };
  struct Node {
    std::string name;
    std::vector<size_t> targets;
    std::vector<Node> children;
  };
  void Insert(Node& node, std::string_view path, int dots);

  Node root_;
  std::vector<Target> targets_;
};

}  // namespace flatout::data
