// tar archives, member by member.
//
// Read are POSIX ustar, GNU (long names, large sizes) and pax (path, size) archives, and the older
// V7 form. A header is 512 bytes whose sum of bytes is stored in it; the content follows, filled up
// to a multiple of 512; two headers of zeros end the archive. Sources: POSIX.1-2017 pax, "ustar
// Interchange Format" and "pax Interchange Format"; the GNU tar manual, "Basic Tar Format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "flatout/data/formats/read_bytes.h"

namespace flatout::data {

struct TarMember {
  std::string name;      // with its folders
  bool regular = false;  // a file; else a folder, a link and so on
  int64_t begin = 0;     // byte offset of its first header
  int64_t data = 0;      // byte offset of its content
  int64_t size = 0;      // of its content, bytes
  int64_t next = 0;      // byte offset of what follows
};

// The member at `offset` of a file of `size` bytes; nothing at the archive's end. Throws DataError,
// naming the file and the byte: a header whose sum or numbers are wrong, an archive that is cut (an
// end without its two headers of zeros, too), content after the end, sparse files and archives of
// several volumes.
std::optional<TarMember> ReadTarMember(const std::string& path, int64_t size, const ReadBytes& read,
                                       int64_t offset);
// Whether these bytes, the first of a file, begin a tar archive: 512 with the right sum.
bool LooksLikeTar(std::span<const std::byte> head);

}  // namespace flatout::data
