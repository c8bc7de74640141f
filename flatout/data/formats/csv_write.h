// Records as CSV, as the source "csv" reads them back: bit for bit, types as declared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flatout/base/config.h"
#include "flatout/data/block.h"
#include "flatout/data/field.h"

namespace flatout::data {

// The header line: one column per value, "label" for a scalar field, "dense0,dense1,..." for
// others. Throws UserError for a field that is not fixed and no single text, which no column can
// hold.
std::string CsvHeader(const std::vector<Field>& fields);
// Appends row `row` of the block as one line (RFC 4180). Floats are written with as many digits as
// bring the same bits back. Throws UserError for a float that is not finite, which the source
// refuses.
void AppendCsvRow(const Block& block, int64_t row, std::string& text);
// The table `columns` that reads such a file.
Config CsvColumnsFor(const std::vector<Field>& fields);

}  // namespace flatout::data
