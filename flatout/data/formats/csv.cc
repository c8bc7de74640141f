#include "flatout/data/formats/csv.h"

#include <algorithm>
#include <bit>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "flatout/base/error.h"
#include "flatout/data/formats/number_text.h"

namespace flatout::data {
namespace {

bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

bool IsSpace(char c, const CsvDialect& dialect) {
  return (c == ' ' || c == '\t') && c != dialect.delimiter;
}

// The first delimiter, line end or quote at or after p; `end` when there is none.
const char* FindSpecial(const char* p, const char* end, const CsvDialect& dialect) {
  const char quote = dialect.quote != 0 ? dialect.quote : '\n';
#ifdef __SSE2__
  const __m128i delimiters = _mm_set1_epi8(dialect.delimiter);
  const __m128i quotes = _mm_set1_epi8(quote);
  const __m128i lf = _mm_set1_epi8('\n');
  const __m128i cr = _mm_set1_epi8('\r');
  for (; end - p >= 16; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const __m128i any =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, delimiters), _mm_cmpeq_epi8(bytes, quotes)),
                     _mm_or_si128(_mm_cmpeq_epi8(bytes, lf), _mm_cmpeq_epi8(bytes, cr)));
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(any));
    if (mask != 0) return p + std::countr_zero(mask);
  }
#endif
  while (p != end && *p != dialect.delimiter && *p != quote && !IsLineEnd(*p)) ++p;
  return p;
}

// Reads the field at p of the record that begins at `begin`. Returns where it ends: at a delimiter,
// a line end or `end`; nullptr with a fault.
const char* ReadCell(const char* begin, const char* p, const char* end, const CsvDialect& dialect,
                     CsvCell& cell, CsvFault& fault) {
  cell.escaped = false;
  if (dialect.trim) {
    while (p != end && IsSpace(*p, dialect)) ++p;
  }
  if (dialect.quote != 0 && p != end && *p == dialect.quote) {
    const char* first = p + 1;
    const char* q = first;
    for (;; q += 2) {
      q = static_cast<const char*>(
          q == end ? nullptr : std::memchr(q, dialect.quote, static_cast<size_t>(end - q)));
      if (q == nullptr) {
        fault = {static_cast<size_t>(p - begin),
                 fmt::format("the quote ({}) that begins here is never closed: the rest of the "
                             "file belongs to this field. Close it, or set quote = \"\" if quotes "
                             "are plain characters in this file",
                             dialect.quote)};
        return nullptr;
      }
      if (q + 1 == end || q[1] != dialect.quote) break;
      cell.escaped = true;
    }
    cell.text = {first, static_cast<size_t>(q - first)};
    ++q;
    if (dialect.trim) {
      while (q != end && IsSpace(*q, dialect)) ++q;
    }
    if (q != end && *q != dialect.delimiter && !IsLineEnd(*q)) {
      fault = {static_cast<size_t>(q - begin),
               fmt::format("expected a delimiter or the line's end after the closing quote of the "
                           "field that begins with {}, found {}. A quote inside a field in quotes "
                           "is doubled; set quote = \"\" if quotes are plain characters in this "
                           "file",
                           ShowText({p, static_cast<size_t>(q - p)}, 30),
                           ShowText({q, static_cast<size_t>(end - q)}, 10))};
      return nullptr;
    }
    return q;
  }
  const char* q = FindSpecial(p, end, dialect);
  if (dialect.quote != 0 && q != end && *q == dialect.quote) {
    fault = {
        static_cast<size_t>(q - begin),
        fmt::format("a quote inside the field {}, which does not begin with one. Put the field "
                    "in quotes and double those inside, or set quote = \"\" if quotes are "
                    "plain characters in this file",
                    ShowText({p, static_cast<size_t>(q - p) + 1}, 40))};
    return nullptr;
  }
  const char* last = q;
  if (dialect.trim) {
    while (last != p && IsSpace(last[-1], dialect)) --last;
  }
  cell.text = {p, static_cast<size_t>(last - p)};
  return q;
}

// Writes the text with single quotes to `out`, which has room for cell.text.size(); returns how
// long it is.
size_t Unescape(const CsvCell& cell, char quote, char* out) {
  size_t n = 0;
  for (size_t i = 0; i < cell.text.size(); ++i) {
    out[n++] = cell.text[i];
    if (cell.text[i] == quote) ++i;
  }
  return n;
}

}  // namespace

std::string CsvText(const CsvCell& cell, char quote) {
  if (!cell.escaped) return std::string(cell.text);
  std::string text(cell.text.size(), '\0');
  text.resize(Unescape(cell, quote, text.data()));
  return text;
}

bool SplitCsv(std::string_view text, const CsvDialect& dialect, std::vector<CsvCell>& cells,
              CsvFault& fault) {
  cells.clear();
  const char* begin = text.data();
  const char* end = begin + text.size();
  for (const char* p = begin;; ++p) {
    CsvCell cell;
    p = ReadCell(begin, p, end, dialect, cell, fault);
    if (p == nullptr) return false;
    cells.push_back(cell);
    if (p == end || *p != dialect.delimiter) return true;
  }
}

char GuessDelimiter(std::span<const std::string> records, CsvDialect dialect) {
  char best = ',';
  size_t most = 1;
  std::vector<CsvCell> cells;
  CsvFault fault;
  // First those that split all records alike; then, for files with ragged rows, the first record.
  for (const bool strict : {true, false}) {
    for (const char delimiter : {'\t', ',', ';', '|'}) {
      dialect.delimiter = delimiter;
      size_t fields = 0;
      bool alike = true;
      for (size_t i = 0; i < (strict ? records.size() : std::min<size_t>(records.size(), 1)); ++i) {
        alike = alike && SplitCsv(records[i], dialect, cells, fault) &&
                (i == 0 || cells.size() == fields);
        if (i == 0) fields = cells.size();
      }
      if (alike && fields > most) {
        most = fields;
        best = delimiter;
      }
    }
    if (most > 1) break;
  }
  return best;
}

bool LooksLikeHeader(std::span<const std::string> fields) {
  for (const std::string& field : fields) {
    double number;
    std::string_view text = field;
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    if (text.empty() || ParseFloat(text, number) != NumberFault::kSyntax) return false;
  }
  return !fields.empty();
}

CsvRowParser::CsvRowParser(CsvDialect dialect, std::vector<std::string> names,
                           std::vector<std::string> missing_values)
    : dialect_(dialect),
      names_(std::move(names)),
      missing_values_(std::move(missing_values)),
      targets_(names_.size()) {}

void CsvRowParser::Add(size_t column, const CellType* type, size_t field, int64_t element,
                       const std::vector<int64_t>& text_dims) {
  Target target;
  target.type = type;
  target.field = field;
  switch (type->kind) {
    case CellType::Kind::kF32:
      target.action = Action::kF32;
      break;
    case CellType::Kind::kF64:
      target.action = Action::kF64;
      break;
    case CellType::Kind::kInteger:
      target.action = Action::kInteger;
      break;
    default:
      target.action = Action::kOther;
  }
  if (type->kind == CellType::Kind::kText) {
    target.offset = element;
    if (!text_dims.empty()) {
      if (packs_.empty() || packs_.back().field != field) {
        packs_.push_back({field, text_dims, 1});
        for (const int64_t dim : text_dims) packs_.back().elements *= static_cast<size_t>(dim);
      }
      target.pack = static_cast<int>(packs_.size()) - 1;
    }
  } else {
    target.offset = element * type->size;
  }
  Target& first = targets_[column];
  if (first.type == nullptr) {
    first = target;
    return;
  }
  // A column with several uses takes the general path for all of them.
  first.action = Action::kOther;
  target.next = first.next;
  first.next = static_cast<int>(more_.size());
  more_.push_back(target);
}

void CsvRowParser::Prepare(Block& out, Scratch& scratch) const {
  scratch.places.clear();
  for (size_t f = 0; f < out.fields().size(); ++f) {
    const bool fixed = out.fields()[f].fixed();
    scratch.places.push_back({fixed ? out.data(f) : nullptr, fixed ? out.stride(f) : 0});
  }
  scratch.texts.resize(packs_.size());
  for (size_t i = 0; i < packs_.size(); ++i) {
    scratch.texts[i].assign(packs_[i].elements, {});
  }
}

bool CsvRowParser::IsMissing(std::string_view text) const {
  if (text.empty()) return true;
  for (const std::string& value : missing_values_) {
    if (text == value) return true;
  }
  return false;
}

bool CsvRowParser::Take(const CsvCell& cell, const Target& target, const RecordText& text,
                        Block& out, Scratch& scratch, std::string& fault) const {
  const CellType& type = *target.type;
  std::string_view value = cell.text;
  bool resident = text.resident;
  if (cell.escaped) {
    auto* copy = reinterpret_cast<char*>(out.Allocate(static_cast<int64_t>(value.size())));
    value = {copy, Unescape(cell, dialect_.quote, copy)};
    resident = true;
  }
  if (type.kind == CellType::Kind::kText) {
    if (type.has_missing && IsMissing(value)) {
      value = type.missing_text;
      resident = true;
    }
    if (target.pack >= 0) {
      scratch.texts[static_cast<size_t>(target.pack)][static_cast<size_t>(target.offset)] = value;
    } else if (resident) {
      out.SetTextView(target.field, text.row, value);
    } else {
      out.SetText(target.field, text.row, value);
    }
    return true;
  }
  const Scratch::Place& place = scratch.places[target.field];
  std::byte* to = place.base + text.row * place.stride + target.offset;
  if (IsMissing(value) && !type.class_index.contains(value)) {
    if (type.StoreMissing(to)) return true;
    fault = fmt::format(
        "expected {}, found no value ({}). Say what stands for a missing one: columns = {{ \"{}\" "
        "= {{ missing = ... }} }}, or missing = 0 for all columns",
        type.Expected(), ShowText(value), type.field);
    return false;
  }
  if (type.Parse(value, to, fault)) return true;
  const bool spaces = IsSpace(value.front(), dialect_) || IsSpace(value.back(), dialect_);
  if (!dialect_.trim && spaces) fault += ", or set trim = true";
  return false;
}

void CsvRowParser::WrongCount(std::string_view text, CsvFault& fault) const {
  std::vector<CsvCell> cells;
  if (!SplitCsv(text, dialect_, cells, fault)) return;
  const char* at = nullptr;
  if (cells.size() > names_.size()) {
    at = cells[names_.size()].text.data();
  } else {
    at = cells.back().text.data() + cells.back().text.size();
  }
  const std::string_view last = cells.back().text;
  std::string_view record =
      text.substr(0, static_cast<size_t>(last.data() + last.size() - text.data()));
  fault.at = static_cast<size_t>(at - text.data());
  fault.what =
      fmt::format("expected {} fields as the {} columns, found {}{}: {}. Correct the line{}",
                  names_.size(), names_.size(), cells.size(),
                  cells.size() < names_.size()
                      ? fmt::format(" (\"{}\" is the first that is missing)", names_[cells.size()])
                      : std::string(),
                  ShowText(record, 100),
                  cells.size() > names_.size()
                      ? fmt::format("; a field that holds the delimiter ({}) must be in quotes",
                                    ShowText(std::string_view(&dialect_.delimiter, 1)))
                      : std::string());
}

bool CsvRowParser::Parse(const RecordText& text, Block& out, Scratch& scratch,
                         CsvFault& fault) const {
  const char* begin = text.text.data();
  const char* end = begin + text.text.size();
  const char* readable = text.readable;
  const char delimiter = dialect_.delimiter;
  const size_t columns = targets_.size();
  const Scratch::Place* places = scratch.places.data();
  auto ends = [delimiter](char c) { return c == delimiter || c == '\n' || c == '\r'; };
  const char* p = begin;
  for (size_t c = 0; c < columns; ++c) {
    const Target& target = targets_[c];
    const char* q = nullptr;
    // A number ends before the record does: its line end is none of a number's characters.
    switch (target.action) {
      case Action::kF32: {
        float value;
        q = FastFloat(p, readable, value);
        if (q != nullptr && ends(*q)) {
          const Scratch::Place& place = places[target.field];
          std::memcpy(place.base + text.row * place.stride + target.offset, &value, sizeof(value));
        } else {
          q = nullptr;
        }
        break;
      }
      case Action::kF64: {
        double value;
        q = FastFloat(p, readable, value);
        if (q != nullptr && ends(*q)) {
          const Scratch::Place& place = places[target.field];
          std::memcpy(place.base + text.row * place.stride + target.offset, &value, sizeof(value));
        } else {
          q = nullptr;
        }
        break;
      }
      case Action::kInteger: {
        int64_t value;
        q = FastInteger(p, readable, value);
        if (q != nullptr) {
          const Scratch::Place& place = places[target.field];
          std::byte* to = place.base + text.row * place.stride + target.offset;
          if (!ends(*q) || !target.type->Store(value, to)) q = nullptr;
        }
        break;
      }
      case Action::kSkip:
        q = FindSpecial(p, end, dialect_);
        if (q == end || !ends(*q)) q = nullptr;
        break;
      case Action::kOther:
        break;
    }
    if (q == nullptr) {
      CsvCell cell;
      q = ReadCell(begin, p, end, dialect_, cell, fault);
      if (q == nullptr) return false;
      const Target* use = &target;
      while (use->type != nullptr) {
        std::string what;
        if (!Take(cell, *use, text, out, scratch, what)) {
          // A row with another number of fields is that before anything else.
          std::vector<CsvCell> cells;
          if (SplitCsv(text.text, dialect_, cells, fault) && cells.size() != columns) {
            WrongCount(text.text, fault);
            return false;
          }
          fault = {static_cast<size_t>(cell.text.data() - begin),
                   fmt::format("column {}: {}", ShowText(names_[c]), what)};
          return false;
        }
        if (use->next < 0) break;
        use = &more_[static_cast<size_t>(use->next)];
      }
    }
    p = q;
    const bool more = p != end && *p == delimiter;
    if (more != (c + 1 < columns)) {
      WrongCount(text.text, fault);
      return false;
    }
    ++p;
  }
  for (size_t i = 0; i < packs_.size(); ++i) {
    out.SetTexts(packs_[i].field, text.row, packs_[i].dims, scratch.texts[i]);
  }
  return true;
}

}  // namespace flatout::data
