#include "flatout/data/mapped_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/uio.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "flatout/data/testing.h"

namespace flatout::data {
namespace {

namespace fs = std::filesystem;
using testing::Scratch;

class Mapped : public ::testing::Test {
 protected:
  void SetUp() override {
    std::mt19937 random(1);
    for (char& c : content_) c = static_cast<char>(random());
    path_ = scratch_.Write("file", content_);
    fd_ = open(path_.c_str(), O_RDONLY);
    file_ = MappedFile::Open(fd_, static_cast<int64_t>(content_.size()));
    ASSERT_NE(file_, nullptr);
  }
  void TearDown() override { close(fd_); }
  // "" where the file says that it could not be read.
  std::string Copy(int64_t offset, size_t size) {
    std::string out(size, 'x');
    return file_->Copy(offset, std::as_writable_bytes(std::span(out))) ? out : "";
  }

  Scratch scratch_;
  std::string content_ = std::string(1 << 20, '\0');
  std::string path_;
  int fd_ = -1;
  std::unique_ptr<MappedFile> file_;
};

TEST_F(Mapped, CopiesWhatIsThere) {
  std::mt19937 random(2);
  // More than what makes it give its pages back.
  for (int round = 0; round < 5000; ++round) {
    const size_t offset = random() % content_.size();
    const size_t size = std::min<size_t>(random() % 5000, content_.size() - offset);
    ASSERT_EQ(Copy(static_cast<int64_t>(offset), size), content_.substr(offset, size));
  }
  EXPECT_FALSE(file_->damaged());
}

TEST_F(Mapped, IsCachedJustAfterWriting) {
  // Where the file system cannot tell, it counts as not cached.
  char byte;
  iovec to{&byte, 1};
  const bool can_tell = preadv2(fd_, &to, 1, 0, RWF_NOWAIT) == 1;
  EXPECT_EQ(file_->cached(fd_), can_tell);
  EXPECT_EQ(file_->cached(fd_), can_tell);
}

TEST_F(Mapped, ACutFileIsNoticedAndDoesNotEndTheProcess) {
  fs::resize_file(path_, 300'000);
  EXPECT_EQ(Copy(1000, 1000), content_.substr(1000, 1000));
  EXPECT_EQ(Copy(500'000, 1000), "");
  EXPECT_TRUE(file_->damaged());
  // From now on nothing is believed.
  EXPECT_EQ(Copy(1000, 1000), "");
}

TEST_F(Mapped, SeveralThreadsMeetTheCut) {
  fs::resize_file(path_, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] { EXPECT_EQ(Copy(t * 200'000, 5000), ""); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Mapped, OtherFilesAreNotTouched) {
  const std::string other = scratch_.Write("other", content_);
  const int fd = open(other.c_str(), O_RDONLY);
  const auto second = MappedFile::Open(fd, static_cast<int64_t>(content_.size()));
  close(fd);
  fs::resize_file(path_, 0);
  EXPECT_EQ(Copy(0, 100), "");
  std::string out(100, 'x');
  EXPECT_TRUE(second->Copy(0, std::as_writable_bytes(std::span(out))));
  EXPECT_EQ(out, content_.substr(0, 100));
}

TEST_F(Mapped, OtherBusErrorsStillEndTheProcess) {
  EXPECT_EXIT(raise(SIGBUS), ::testing::KilledBySignal(SIGBUS), "");
}

TEST(MappedFile, WhatCannotBeMappedIsNot) {
  EXPECT_EQ(MappedFile::Open(-1, 10), nullptr);
  Scratch scratch;
  const int fd = open(scratch.Write("file", "short").c_str(), O_RDONLY);
  EXPECT_EQ(MappedFile::Open(fd, 0), nullptr);
  EXPECT_EQ(MappedFile::Open(fd, 4096), nullptr);  // longer than the file
  close(fd);
}

}  // namespace
}  // namespace flatout::data
