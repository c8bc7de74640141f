// CSV: records split into fields, and typed columns read from them.
#include <algorithm>
#include <string>
#include <vector>

#include "flatout/data/formats/csv.h"
#include "tests/fuzz/fuzz.h"

namespace flatout::fuzz {

using data::Block;
using data::CellType;
using data::ColumnSpec;
using data::CsvCell;
using data::CsvDialect;
using data::CsvFault;
using data::CsvRowParser;
using data::Field;

namespace {

struct Columns {
  std::vector<CellType> types;
  std::vector<Field> fields;
};

// a f32 that may be missing, b i32 in [0, 100), c text, d f64, e i64, f classes, g pred, h u8.
const Columns& Declared() {
  static const Columns columns = [] {
    const Config table = Config::ParseToml(R"(
a = { dtype = "f32", missing = 0.5 }
b = { dtype = "i32", bound = 100 }
c = "text"
d = "f64"
e = "i64"
f = { classes = ["x", "y, z"] }
g = "pred"
h = "u8"
)",
                                           "fuzz");
    Columns made;
    for (const ColumnSpec& spec : data::ReadColumns(table)) {
      made.types.push_back(data::MakeCellType(spec, {}));
      made.fields.push_back(data::MakeField(made.types.back(), {}));
    }
    return made;
  }();
  return columns;
}

// A record written back as RFC 4180 has it, every field in quotes.
std::string Quoted(const std::vector<CsvCell>& cells, char quote, char delimiter) {
  std::string text;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) text += delimiter;
    text += quote;
    for (char c : data::CsvText(cells[i], quote))
      text += c == quote ? std::string(2, c) : std::string(1, c);
    text += quote;
  }
  return text + "\n";
}

}  // namespace

FUZZ_TARGET(bytes) {
  Choices choices(bytes);
  CsvDialect dialect;
  dialect.delimiter = ",\t;|"[choices.Of(4)];
  dialect.quote = choices.Of(4) == 0 ? '\0' : '"';
  dialect.comment = choices.Of(4) == 0 ? '#' : '\0';
  dialect.trim = choices.Of(4) == 0;
  const std::string text(Text(bytes));
  data::RecordIndex index;
  if (!Accepts([&] { index = data::IndexRecords(text, dialect.scan()); })) return;

  const Columns& columns = Declared();
  std::vector<std::string> names;
  for (const Field& field : columns.fields) names.push_back(field.name);
  CsvRowParser parser(dialect, names, {"NA"});
  for (size_t i = 0; i < names.size(); ++i) parser.Add(i, &columns.types[i], i, 0);
  Block block;
  block.Reset(columns.fields, 1);
  CsvRowParser::Scratch scratch;
  parser.Prepare(block, scratch);

  std::vector<std::string> records;
  for (int64_t i = 0; i < std::min<int64_t>(index.size(), 64); ++i) {
    // A copy of just this record, so that a sanitizer sees what is read behind it.
    std::string record = text.substr(static_cast<size_t>(index.begin(i)),
                                     static_cast<size_t>(index.end(i) - index.begin(i)));
    if (record.back() != '\n' && record.back() != '\r') record += '\n';
    const std::vector<char> exact(record.begin(), record.end());
    const std::string_view view(exact.data(), exact.size());

    std::vector<CsvCell> cells;
    CsvFault fault;
    if (data::SplitCsv(view, dialect, cells, fault)) {
      FUZZ_CHECK(!cells.empty());
      std::vector<std::string> fields;
      for (const CsvCell& cell : cells) {
        FUZZ_CHECK(cell.text.empty() ||
                   (cell.text.data() >= view.data() &&
                    cell.text.data() + cell.text.size() <= view.data() + view.size()));
        fields.push_back(data::CsvText(cell, dialect.quote));
      }
      (void)data::LooksLikeHeader(fields);
      if (dialect.quote != 0 && !dialect.trim) {
        const std::string again = Quoted(cells, dialect.quote, dialect.delimiter);
        std::vector<CsvCell> second;
        FUZZ_CHECK(data::SplitCsv(again, dialect, second, fault));
        FUZZ_CHECK(second.size() == cells.size());
        for (size_t c = 0; c < cells.size(); ++c) {
          FUZZ_CHECK(data::CsvText(second[c], dialect.quote) == fields[c]);
        }
      }
    } else {
      FUZZ_CHECK(!fault.what.empty() && fault.at <= view.size());
    }

    data::RecordText row;
    row.text = view;
    row.readable = view.data() + view.size();
    CsvFault wrong;
    if (!parser.Parse(row, block, scratch, wrong)) {
      FUZZ_CHECK(!wrong.what.empty() && wrong.at <= view.size());
    } else {
      FUZZ_CHECK(*block.as<int32_t>(1) >= 0 && *block.as<int32_t>(1) < 100);
      FUZZ_CHECK(*block.as<int32_t>(5) >= 0 && *block.as<int32_t>(5) < 2);
      FUZZ_CHECK(*block.as<uint8_t>(6) <= 1);
    }
    records.push_back(std::move(record));
  }
  if (!records.empty()) {
    const char guess = data::GuessDelimiter(records, dialect);
    FUZZ_CHECK(std::string_view(",\t;|").find(guess) != std::string_view::npos);
  }
}

}  // namespace flatout::fuzz
