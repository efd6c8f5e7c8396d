#include "services/queue/entry_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace festa::test {

using queue::entryOf;
using queue::QueueEntry;
using queue::textOf;

TEST(EntryText, AnEntryComesBackFromItsText) {
  for (const QueueEntry entry :
       {QueueEntry{0}, QueueEntry{42}, std::numeric_limits<QueueEntry>::max()})
    EXPECT_EQ(entryOf(textOf(entry)), entry);
}

TEST(EntryText, AnythingElseIsNoEntry) {
  for (const auto* text : {"", " 1", "1 ", "1x", "0x1", "1.0", "9223372036854775808", "{}"})
    EXPECT_EQ(entryOf(text), std::nullopt) << text;
}

}  // namespace festa::test
