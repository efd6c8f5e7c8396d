// How times leave the database: ISO local date-times in the session's zone, six fraction digits.
#pragma once

// A macro because it becomes part of literals: statements are cached by their text.
#define FESTA_LOCAL_TIME(column) "to_char(" column ", 'YYYY-MM-DD\"T\"HH24:MI:SS.US')"
