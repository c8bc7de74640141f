// Files: whole-file read, atomic write, folders, and the two checksums that Flatout uses.
//
// Every failure is a UserError that names the path, the system's own reason (errno), and, for a
// full disk, missing permission and read-only file systems, what to do about it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace flatout {

// The whole content of a regular file (or of anything that reads to an end, such as /proc files).
std::string ReadFile(const std::string& path);

// The whole content of a file that somebody else may have put there: nothing but a regular file is
// read (of a pipe or a device reading may never end), and none of more than `most_bytes`. Throws
// UserError that says what it is instead.
std::string ReadRegularFile(const std::string& path, int64_t most_bytes = int64_t{256} << 20);
// Whether there is a regular file of this name, as itself or behind a link.
bool IsRegularFile(const std::string& path);

// Writes `content` so that at every instant, a crash or power cut included, `path` holds either
// what it held before or all of `content`: a temporary file in the same folder is written, synced
// and renamed, then the folder is synced. On failure the temporary file is removed and `path`
// untouched.
void AtomicWriteFile(const std::string& path, std::string_view content);

// Makes a folder and the missing ones above it. An existing folder is no error.
void MakeDirs(const std::string& path);

// Bytes. Throws where there is no such file.
int64_t FileSize(const std::string& path);
// Whether there is a file or folder of this name.
bool FileExists(const std::string& path);

// CRC-32C (Castagnoli), as in TFRecord files, RFC 3720 and iSCSI. `crc` continues an earlier call:
// Crc32c(b, Crc32c(a)) is the sum of a followed by b.
uint32_t Crc32c(std::string_view data, uint32_t crc = 0);
// As TFRecord files keep it: with c the sum, ((c >> 15) | (c << 17)) + 0xa282ead8.
uint32_t MaskedCrc32c(std::string_view data);

// SHA-256 (FIPS 180-4), fed in pieces. It names things by their content (compile-cache entries),
// where a collision would run the wrong program. Written here, not taken from libcrypto: 60 lines
// against a dependency whose ABI changes with every Debian release.
class Sha256 {
 public:
  Sha256();
  Sha256& Update(std::string_view data);
  // Feeds the length and then the data, so that ("ab", "c") and ("a", "bc") differ.
  Sha256& Field(std::string_view data);
  // 64 hexadecimal digits. Ends the sum: no Update after it.
  std::string HexDigest();

 private:
  void Block(const unsigned char* block);

  std::array<uint32_t, 8> state_;
  std::array<unsigned char, 64> pending_;
  uint64_t size_ = 0;  // bytes fed
};
std::string Sha256Hex(std::string_view data);

// The message for a failed system call on `path`: "cannot write out/a.json: No space left on device
// (free some space there, or choose another folder)". `error` is the errno.
std::string SystemMessage(std::string_view verb, const std::string& path, int error);

}  // namespace flatout
