// CSV and TSV (RFC 4180): fields between delimiters, where a field in quotes may hold delimiters,
// line ends and doubled quotes. Lines end with LF, CRLF or CR, the last one may lack its end; blank
// lines are no records. A quote inside a field that does not begin with one is an error.
//
// Here: the options of the source "csv" (sources/csv_source.cc), and the functions on text below
// it. What a record is stands in text_records.h, what a value is in columns.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/files.h"
#include "flatout/data/formats/columns.h"
#include "flatout/data/formats/text_records.h"
#include "flatout/data/source.h"

namespace flatout::data {

struct CsvOptions {
  SplitOptions split;
  std::string delimiter = "auto";  // one character, "tab", or "auto": tab, comma, semicolon or |
  Config header = Config(std::string("auto"));  // whether the first record names the columns;
                                                // "auto": when no field of it is a number or
                                                // empty, or one is a column of `columns`
  std::vector<std::string> names;  // of the columns, instead of the header's; "C1..C26" is 26 names
  std::string quote = "\"";        // "": quotes are plain characters
  std::string comment;             // lines that begin with it are left out; "": none
  bool trim = false;               // spaces and tabs around fields are left out
  Config columns;                  // columns.h; absent: all, types inferred
  Config missing;                  // what stands for a missing value where a column says nothing
  std::vector<std::string> missing_values;  // texts that mean it, as the empty text always does

  template <class V>
  void Visit(V& v) {
    split.Visit(v);
    v("delimiter", delimiter);
    v("header", header);
    v("names", names);
    v("quote", quote);
    v("comment", comment);
    v("trim", trim);
    v("columns", columns);
    v("missing", missing);
    v("missing_values", missing_values);
  }
};

std::function<SourcePtr(std::string_view)> OpenCsv(FieldReader& reader);

// ---- on text ----

struct CsvDialect {
  char delimiter = ',';
  char quote = '"';  // 0: none
  char comment = 0;  // 0: none
  bool trim = false;

  RecordScan scan() const {
    return {.quote = quote,
            .comment = comment,
            .lone_cr = true,
            .blank = RecordScan::Blank::kSkipEmpty};
  }
};

// What is wrong with a record, and where in its text.
struct CsvFault {
  size_t at = 0;
  std::string what;
};

// One field: its text without the quotes around it; a quote in it is still doubled if `escaped`.
struct CsvCell {
  std::string_view text;
  bool escaped = false;
};
// The text with single quotes.
std::string CsvText(const CsvCell& cell, char quote);

// Splits the first record of `text`, which need not end with a line end. False: `fault` says why
// not; the cells before it are there.
bool SplitCsv(std::string_view text, const CsvDialect& dialect, std::vector<CsvCell>& cells,
              CsvFault& fault);

// The delimiter that splits all of these records into equally many fields, the most; ',' when none
// does. Of tab, comma, semicolon and |.
char GuessDelimiter(std::span<const std::string> records, CsvDialect dialect);
// Whether these fields look like names of columns: none is empty, none is a number.
bool LooksLikeHeader(std::span<const std::string> fields);

// Reads records of a fixed number of columns into the rows of a block.
class CsvRowParser {
 public:
  CsvRowParser(CsvDialect dialect, std::vector<std::string> names,
               std::vector<std::string> missing_values);
  // Column `column` becomes element `element` of field `field`; `elements`: of a text field with
  // dimensions, how many it has in all, else 0. `type` must outlive this.
  void Add(size_t column, const CellType* type, size_t field, int64_t element,
           const std::vector<int64_t>& text_dims = {});

  // Memory for Parse; one per thread and block.
  struct Scratch {
    struct Place {
      std::byte* base;
      int64_t stride;
    };
    std::vector<Place> places;                         // of fixed fields
    std::vector<std::vector<std::string_view>> texts;  // of text fields with dimensions
  };
  void Prepare(Block& out, Scratch& scratch) const;
  // Parses text.text, which begins with the record and has its line end, into row text.row of
  // `out`. False: the row is bad.
  bool Parse(const RecordText& text, Block& out, Scratch& scratch, CsvFault& fault) const;

  const std::vector<std::string>& names() const { return names_; }

 private:
  enum class Action : uint8_t { kSkip, kF32, kF64, kInteger, kOther };
  struct Target {
    Action action = Action::kSkip;
    const CellType* type = nullptr;
    size_t field = 0;
    int64_t offset = 0;  // of the element in a fixed field, bytes; in a text field, elements
    int pack = -1;       // of a text field with dimensions: which of packs_
    int next = -1;       // another target of the same column: which of more_
  };
  struct Pack {
    size_t field;
    std::vector<int64_t> dims;
    size_t elements;
  };
  bool Take(const CsvCell& cell, const Target& target, const RecordText& text, Block& out,
            Scratch& scratch, std::string& fault) const;
  bool IsMissing(std::string_view text) const;
  void WrongCount(std::string_view text, CsvFault& fault) const;

  CsvDialect dialect_;
  std::vector<std::string> names_, missing_values_;
  std::vector<Target> targets_;  // one per column
  std::vector<Target> more_;
  std::vector<Pack> packs_;
};

}  // namespace flatout::data
