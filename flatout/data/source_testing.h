// Opening a source from TOML and reading it, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "flatout/data/source.h"
#include "flatout/data/transform.h"

namespace flatout::data::testing {

// The split of a source of that kind with these keys.
inline SourcePtr OpenKind(const std::string& kind, const std::string& toml,
                          std::string_view split = "train") {
  const Config table = Config::ParseToml(toml, "run.toml");
  FieldReader reader(table, kind);
  SourceOpener opener = FindSource(kind);
  if (!opener) throw Internal("there is no source {}", kind);
  auto open = opener(reader);
  reader.Finish();
  return open(split);
}

// The records of a source; `bad`, where given, counts bad ones.
inline Block ReadRecords(const Source& source, const std::vector<int64_t>& records,
                         BadRecords* bad = nullptr) {
  ReadContext context(bad);
  Block block;
  block.Reset(source.fields(), static_cast<int64_t>(records.size()));
  block.set_bad_records(bad);
  source.Read(context, 0, records, block);
  return block;
}
inline Block ReadAll(const Source& source, BadRecords* bad = nullptr) {
  std::vector<int64_t> records(static_cast<size_t>(source.size()));
  for (size_t i = 0; i < records.size(); ++i) records[i] = static_cast<int64_t>(i);
  return ReadRecords(source, records, bad);
}

// The elements of a row.
template <typename T>
std::vector<T> RowOf(const Block& block, size_t field, int64_t row) {
  std::span<const std::byte> bytes = block.bytes(field, row);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}
// The elements of all rows.
template <typename T>
std::vector<T> ColumnOf(const Block& block, size_t field) {
  std::vector<T> values;
  for (int64_t row = 0; row < block.rows(); ++row) {
    for (T value : RowOf<T>(block, field, row)) values.push_back(value);
  }
  return values;
}

// A transform from its table.
inline TransformPtr TransformOf(const std::string& toml) {
  return MakeTransform(Config::ParseToml(toml, "run.toml"));
}
// What the transform makes of the block, bad rows marked.
inline Block ApplyTo(const Transform& transform, const Block& in, BadRecords* bad = nullptr) {
  Block out;
  out.Reset(transform.Fields(in.fields()), in.rows());
  out.set_bad_records(bad);
  out.TakeBad(in);
  transform.Apply(in, out, {});
  return out;
}

}  // namespace flatout::data::testing
