#include "flatout/data/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>

namespace flatout::data {
namespace {

using ::testing::ElementsAre;

const std::vector<Field> kTexts = {TextField("text")};

Field TextList(const std::string& name) {
  Field field = TextField(name);
  field.shape.dims = {kAny};
  return field;
}

TEST(Arena, PiecesDoNotOverlapAndAreAligned) {
  Block block;
  for (int round = 0; round < 3; ++round) {
    block.Reset(kTexts, 1);
    std::vector<std::pair<std::byte*, int64_t>> pieces;
    // Small and large ones mixed, so that large ones come between small ones of one chunk.
    for (int64_t i = 0; i < 200; ++i) {
      const int64_t bytes = i % 7 == 3 ? (int64_t{3} << 20) + i : 1 + i * 37 % 5000;
      std::byte* memory = block.Allocate(bytes);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
      std::memset(memory, static_cast<int>(i), static_cast<size_t>(bytes));
      pieces.emplace_back(memory, bytes);
    }
    for (size_t i = 0; i < pieces.size(); ++i) {
      const auto [memory, bytes] = pieces[i];
      ASSERT_EQ(memory[0], static_cast<std::byte>(i));
      ASSERT_EQ(memory[bytes - 1], static_cast<std::byte>(i));
    }
  }
}

TEST(Arena, TheSameUseAgainTakesTheSameMemory) {
  // Pieces that have a chunk each: which of them lies in which may change, the chunks do not.
  Block block;
  std::set<std::byte*> before, after;
  for (int round = 0; round < 20; ++round) {
    std::set<std::byte*>& addresses = round < 2 ? before : after;
    block.Reset(kTexts, 1);
    for (int64_t i = 0; i < 5; ++i) addresses.insert(block.Allocate(2 << 20));
  }
  EXPECT_EQ(before.size(), 5u);
  EXPECT_EQ(before, after);
}

TEST(Arena, LargePiecesInAnyOrderDoNotPileUp) {
  // Pieces of 1 to 8 MiB in an order that changes: what is given out never takes much more memory
  // than the pieces themselves, however long it goes on.
  Block block;
  for (int64_t round = 0; round < 200; ++round) {
    block.Reset(kTexts, 1);
    int64_t asked = 0;
    for (int64_t i = 0; i < 6; ++i) {
      const int64_t bytes = (1 + (round * 5 + i * 3) % 8) << 20;
      asked += bytes;
      block.Allocate(bytes);
      block.Allocate(1000);
      asked += 1024;
    }
    ASSERT_LE(block.allocated(), 2 * asked + (int64_t{8} << 20)) << "round " << round;
  }
}

TEST(Block, WhatIsReadIntoAJoinedBlockOutlivesIt) {
  Block batch;
  batch.Reset({TextList("texts")}, 2);
  for (int64_t row = 0; row < 2; ++row) {
    Block part;
    part.Reset(kTexts, 3);
    part.JoinArena(batch);
    for (int64_t i = 0; i < 3; ++i) part.SetText(0, i, std::string(1000, 'a' + row * 3 + i));
    const std::vector<std::string_view> texts = {part.text(0, 0), part.text(0, 1), part.text(0, 2)};
    batch.SetTextViews(0, row, std::vector<int64_t>{3}, texts);
    EXPECT_EQ(batch.texts(0, row)[1].data(), part.text(0, 1).data());
    part.LeaveArena();
    part.Reset(kTexts, 3);  // takes memory of its own again
    part.SetText(0, 0, std::string(3000, 'z'));
  }
  EXPECT_THAT(batch.texts(0, 0),
              ElementsAre(std::string(1000, 'a'), std::string(1000, 'b'), std::string(1000, 'c')));
  EXPECT_THAT(batch.texts(0, 1),
              ElementsAre(std::string(1000, 'd'), std::string(1000, 'e'), std::string(1000, 'f')));
  EXPECT_THAT(batch.dims(0, 1), ElementsAre(3));
}

TEST(Block, AnArenaThatAnotherBlockLooksIntoIsLeftToIt) {
  Block batch, part;
  batch.Reset(kTexts, 1);
  part.Reset(kTexts, 1);
  part.JoinArena(batch);
  part.SetText(0, 0, "kept");
  batch.Reset(kTexts, 1);
  batch.SetText(0, 0, "other");
  EXPECT_EQ(part.text(0, 0), "kept");
  part.LeaveArena();
  EXPECT_EQ(part.allocated(), 0);
}

// ---- BadRecords ----

DataError BadRow(int i) { return BadData("rows.csv:{}:1: record {}: no number", i + 2, i); }

TEST(BadRecords, ALaterSessionDoesNotCountThemAgain) {
  int told = 0;
  const auto listener = [&](const DataError&) { ++told; };
  BadRecords first(250, listener);
  for (int i = 0; i < 150; ++i) first.Report(BadRow(i));
  const BadRecordsState state = first.state();
  EXPECT_EQ(state.count, 150);
  ASSERT_EQ(state.messages.size(), 100u);
  EXPECT_EQ(state.messages.front(), BadRow(0).what());
  ASSERT_EQ(state.others.size(), 50u);
  EXPECT_EQ(state.others.front().size(), 16u);

  told = 0;
  BadRecords second(250, listener);
  second.Restore(state);
  EXPECT_EQ(second.count(), 150);
  EXPECT_EQ(second.messages(), first.messages());
  for (int i = 0; i < 150; ++i) second.Report(BadRow(i));
  EXPECT_EQ(second.count(), 150);
  EXPECT_EQ(told, 0);
  second.Report(BadRow(150));
  EXPECT_EQ(second.count(), 151);
  EXPECT_EQ(told, 1);

  BadRecords third(250, listener);
  third.Restore(second.state());
  third.Report(BadRow(150));
  third.Report(BadRow(3));
  EXPECT_EQ(third.count(), 151);
}

TEST(BadRecords, EarlierOnesCountAgainstTheAllowance) {
  BadRecords first(2, [](const DataError&) {});
  first.Report(BadRow(0));
  first.Report(BadRow(1));
  BadRecords second(2, [](const DataError&) {});
  second.Restore(first.state());
  second.Report(BadRow(1));
  EXPECT_THROW(second.Report(BadRow(2)), DataError);
  // A lower allowance is one of the whole run.
  BadRecords lower(1, [](const DataError&) {});
  lower.Restore(first.state());
  lower.Report(BadRow(0));
  EXPECT_THROW(lower.Report(BadRow(1)), DataError);
}

TEST(BadRecords, TheStateIsBounded) {
  BadRecords many(1000000, [](const DataError&) {});
  for (int i = 0; i < 100500; ++i) many.Report(BadRow(i));
  const BadRecordsState state = many.state();
  EXPECT_EQ(state.messages.size() + state.others.size(), 100100u);
  EXPECT_EQ(state.count, 100500);
  BadRecords next(1000000, [](const DataError&) {});
  next.Restore(state);
  for (int i = 0; i < 100100; ++i) next.Report(BadRow(i));
  EXPECT_EQ(next.count(), 100500);
}

TEST(BadRecords, WhatIsNoStateIsRefused) {
  BadRecords records(5, [](const DataError&) {});
  EXPECT_THROW(records.Restore({1, {}, {"xyz"}}), DataError);
  EXPECT_THROW(records.Restore({1, {}, {"00000000000000zz"}}), DataError);
  EXPECT_THROW(records.Restore({0, {"a"}, {}}), DataError);
  EXPECT_EQ(records.count(), 0);
}

}  // namespace
}  // namespace flatout::data
