#include "flatout/base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "flatout/base/error.h"

namespace flatout {
namespace {

using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  FileTest()
      : folder_(::testing::TempDir() + "flatout_file_" + std::to_string(getpid()) + "/" +
                ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    MakeDirs(folder_);
  }
  ~FileTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  size_t Entries() const {
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder_)) ++count;
    return count;
  }
  std::string folder_;
};

TEST_F(FileTest, WritesAndReadsBack) {
  const std::string path = folder_ + "/a.bin";
  for (const std::string& content :
       {std::string(), std::string("x"), std::string("a\0b\xff\n", 5), std::string(1 << 20, 'z')}) {
    AtomicWriteFile(path, content);
    EXPECT_EQ(ReadFile(path), content);
    EXPECT_EQ(FileSize(path), static_cast<int64_t>(content.size()));
  }
  EXPECT_EQ(Entries(), 1U) << "temporary files were left";
  EXPECT_TRUE(FileExists(path));
  EXPECT_FALSE(FileExists(path + "2"));
}

TEST_F(FileTest, ReadsFilesWhoseSizeIsUnknown) {
  EXPECT_THAT(ReadFile("/proc/self/status"), HasSubstr("VmRSS"));
}

TEST_F(FileTest, FailuresNamePathAndReason) {
  try {
    ReadFile(folder_ + "/none");
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_EQ(error.code(), Code::kNotFound);
    EXPECT_EQ(error.message(), "cannot read " + folder_ + "/none: No such file or directory");
  }
  EXPECT_THROW(AtomicWriteFile(folder_ + "/no/such/folder", "x"), UserError);
  EXPECT_THROW(FileSize(folder_ + "/none"), UserError);
  EXPECT_THROW(ReadFile(folder_), UserError);
}

TEST_F(FileTest, FailedWritesLeaveNothingBehind) {
  // A folder in the place of the target: the rename fails after everything was written.
  MakeDirs(folder_ + "/target/inner");
  EXPECT_THROW(AtomicWriteFile(folder_ + "/target", "content"), UserError);
  EXPECT_EQ(Entries(), 1U) << "the temporary file was left";
  EXPECT_TRUE(FileExists(folder_ + "/target/inner"));
}

TEST_F(FileTest, WritesThatRunOutOfRoomKeepTheOldContent) {
  const std::string path = folder_ + "/kept";
  AtomicWriteFile(path, "old");
  // A limit on file sizes stops the write in its middle, as a full disk does.
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit tight = before;
  tight.rlim_cur = 4096;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &tight), 0);
  std::string message;
  try {
    AtomicWriteFile(path, std::string(100000, 'n'));
  } catch (const UserError& error) {
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_THAT(message, HasSubstr("cannot write " + path + ": File too large"));
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(Entries(), 1U) << "the temporary file was left";
}

TEST_F(FileTest, MessagesSayWhatToDo) {
  EXPECT_EQ(SystemMessage("write", "out/a", ENOSPC),
            "cannot write out/a: No space left on device (free some space there, or choose another "
            "folder)");
  EXPECT_THAT(SystemMessage("write", "a", EACCES), HasSubstr("change the permissions"));
  EXPECT_THAT(SystemMessage("write", "a", EROFS), HasSubstr("read-only"));
}

TEST_F(FileTest, ConcurrentWritersLeaveOneWholeContent) {
  const std::string path = folder_ + "/shared";
  std::vector<std::thread> writers;
  for (char c = 'a'; c < 'e'; ++c) {
    writers.emplace_back([&path, c] {
      for (int i = 0; i < 10; ++i) AtomicWriteFile(path, std::string(10000, c));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string content = ReadFile(path);
  ASSERT_EQ(content.size(), 10000U);
  EXPECT_EQ(content, std::string(10000, content[0]));
  EXPECT_EQ(Entries(), 1U);
}

TEST_F(FileTest, MakeDirsIsContentWithWhatIsThere) {
  MakeDirs(folder_ + "/a/b/c");
  MakeDirs(folder_ + "/a/b/c");
  EXPECT_TRUE(FileExists(folder_ + "/a/b/c"));
  AtomicWriteFile(folder_ + "/file", "x");
  EXPECT_THROW(MakeDirs(folder_ + "/file"), UserError);
  EXPECT_THROW(MakeDirs(folder_ + "/file/below"), UserError);
}

TEST(Crc32c, MatchesPublishedValues) {
  // RFC 3720 appendix B.4, and the customary check value.
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283U);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aaU);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43U);
  std::string ascending;
  for (int i = 0; i < 32; ++i) ascending += static_cast<char>(i);
  EXPECT_EQ(Crc32c(ascending), 0x46dd794eU);
  EXPECT_EQ(Crc32c(""), 0U);
  EXPECT_EQ(Crc32c("56789", Crc32c("1234")), 0xe3069283U);
}

// The length 0x18 as a TFRecord's header has it, from a file that TensorFlow wrote.
TEST(Crc32c, IsMaskedAsInTfRecords) {
  EXPECT_EQ(MaskedCrc32c(std::string("\x18\0\0\0\0\0\0\0", 8)), 0x224b7fa3U);
}

// What would never come to an end, or is no content, is not begun.
TEST_F(FileTest, OnlyRegularFilesAreRead) {
  const std::string file = folder_ + "/file", pipe = folder_ + "/pipe", link = folder_ + "/link";
  AtomicWriteFile(file, "content");
  std::filesystem::create_symlink(file, link);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {file, link}) {
    EXPECT_EQ(ReadRegularFile(path), "content");
    EXPECT_TRUE(IsRegularFile(path));
  }
  const auto complaint = [](const std::string& path, int64_t most) -> std::string {
    try {
      ReadRegularFile(path, most);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(complaint(pipe, 100), HasSubstr("pipe is a pipe where a file is expected"));
  EXPECT_THAT(complaint("/dev/zero", 100), HasSubstr("/dev/zero is a device"));
  EXPECT_THAT(complaint(folder_, 100), HasSubstr("is a folder"));
  EXPECT_THAT(complaint(folder_ + "/none", 100), HasSubstr("No such file"));
  EXPECT_THAT(complaint(file, 6), HasSubstr("has 7 bytes"));
  for (const std::string& path : {pipe, folder_, folder_ + "/none", std::string("/dev/zero")}) {
    EXPECT_FALSE(IsRegularFile(path)) << path;
  }
}

TEST(Sha256, MatchesPublishedValues) {
  // FIPS 180-4 examples.
  EXPECT_EQ(Sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesMakeNoDifference) {
  std::string data;
  for (int i = 0; i < 300; ++i) data += static_cast<char>(i * 7);
  const std::string whole = Sha256Hex(data);
  for (const size_t piece : {1U, 3U, 55U, 56U, 63U, 64U, 65U, 128U}) {
    Sha256 sum;
    for (size_t i = 0; i < data.size(); i += piece) sum.Update(data.substr(i, piece));
    EXPECT_EQ(sum.HexDigest(), whole) << piece;
  }
}

TEST(Sha256, FieldsKeepTheirBorders) {
  EXPECT_NE(Sha256().Field("ab").Field("c").HexDigest(),
            Sha256().Field("a").Field("bc").HexDigest());
}

}  // namespace
}  // namespace flatout
