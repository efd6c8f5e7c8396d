#include "services/queue/ticket_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace festa::test {

using queue::QueueTicket;
using queue::textOf;
using queue::ticketOf;

TEST(TicketText, ATicketComesBackFromItsText) {
  for (const QueueTicket ticket :
       {QueueTicket{0}, QueueTicket{42}, std::numeric_limits<QueueTicket>::max()})
    EXPECT_EQ(ticketOf(textOf(ticket)), ticket);
}

TEST(TicketText, AnythingElseIsNoTicket) {
  for (const auto* text : {"", " 1", "1 ", "1x", "0x1", "1.0", "9223372036854775808", "{}"})
    EXPECT_EQ(ticketOf(text), std::nullopt) << text;
}

}  // namespace festa::test
