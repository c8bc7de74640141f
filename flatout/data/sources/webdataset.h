// The source "webdataset": samples as members of tar archives, as the webdataset library writes
// them. Members that follow each other and share folder and name up to the first dot are one
// sample: "n01/0001.jpg", "n01/0001.cls". What follows the dot, in lower case, is the extension, by
// which a field finds its member.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flatout/data/formats/read_bytes.h"

namespace flatout::data {

// "train-{000..010}.tar" as the names it stands for: number ranges (filled up with zeros to the
// width of their ends) and lists {a,b}, any number of them. Text without braces stands for itself.
// Throws DataError for a range that is empty or names more than a million files.
std::vector<std::string> ExpandBraces(const std::string& pattern);

// "n01/0001" and "seg.png" of "n01/0001.seg.PNG"; empty ones where the name is no sample's: without
// a dot, hidden, or like "__this__".
std::pair<std::string_view, std::string> SplitMemberName(std::string_view name);

// Where samples are: for each sample 2 + 2 * extensions.size() numbers:
//   the byte offset of its first member's header; what is wrong with it (SampleProblem);
//   for each list of extensions, byte offset and size of the member that has one, or -1 and -1.
// A damaged archive ends in a sample whose problem says so, at the damage.
enum SampleProblem : int64_t { kSampleGood = 0, kSampleDamaged = 1, kSampleTwice = 2 };
std::vector<int64_t> IndexSamples(const std::string& path, int64_t size, const ReadBytes& read,
                                  const std::vector<std::vector<std::string>>& extensions);

}  // namespace flatout::data
