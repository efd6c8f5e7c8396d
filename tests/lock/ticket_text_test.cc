#include "lock/queue/ticket_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace festa::test {

using lock::textOf;
using lock::Ticket;
using lock::ticketOf;

TEST(TicketText, ATicketComesBackFromItsText) {
  for (const Ticket ticket : {Ticket{0}, Ticket{42}, std::numeric_limits<Ticket>::max()})
    EXPECT_EQ(ticketOf(textOf(ticket)), ticket);
}

TEST(TicketText, AnythingElseIsNoTicket) {
  for (const auto* text : {"", " 1", "1 ", "1x", "0x1", "1.0", "9223372036854775808", "{}"})
    EXPECT_EQ(ticketOf(text), std::nullopt) << text;
}

}  // namespace festa::test
