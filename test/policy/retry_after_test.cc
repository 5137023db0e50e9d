#include "source/policy/retry_after.h"

#include <string>

#include "absl/time/civil_time.h"
#include "gtest/gtest.h"
#include "test/base/seed.h"

namespace forebay {
namespace {

constexpr int64_t kYearSeconds = 31'536'000;

absl::Time utc(int64_t year, int month, int day, int hour = 0, int minute = 0, int second = 0) {
  return absl::FromCivil(absl::CivilSecond(year, month, day, hour, minute, second),
                         absl::UTCTimeZone());
}

const absl::Time kNow = utc(2026, 3, 10, 12);

std::optional<absl::Duration> parse(std::string_view value) { return parseRetryAfter(value, kNow); }

// Whole seconds are taken as they are.
TEST(RetryAfterTest, Seconds) {
  EXPECT_EQ(parse("0"), absl::ZeroDuration());
  EXPECT_EQ(parse("1"), absl::Seconds(1));
  EXPECT_EQ(parse("120"), absl::Seconds(120));
  EXPECT_EQ(parse("007"), absl::Seconds(7));
}

// Blanks around the value don't count; blanks within do.
TEST(RetryAfterTest, Trims) {
  EXPECT_EQ(parse(" \t120 \t"), absl::Seconds(120));
  EXPECT_EQ(parse("  Tue, 10 Mar 2026 12:02:00 GMT "), absl::Minutes(2));
  EXPECT_EQ(parse("1 20"), std::nullopt);
}

// A year is the most that anybody means.
TEST(RetryAfterTest, SecondsUpToAYear) {
  EXPECT_EQ(parse(std::to_string(kYearSeconds)), absl::Seconds(kYearSeconds));
  EXPECT_EQ(parse(std::to_string(kYearSeconds + 1)), std::nullopt);
}

// Numbers of any length are read without overflow.
TEST(RetryAfterTest, LongNumbers) {
  EXPECT_EQ(parse("18446744073709551616"), std::nullopt);
  EXPECT_EQ(parse("18446744073709551736"), std::nullopt);  // 120 modulo 2^64
  EXPECT_EQ(parse("4294967416"), std::nullopt);            // 120 modulo 2^32
  EXPECT_EQ(parse(std::string(100'000, '9')), std::nullopt);
  EXPECT_EQ(parse(std::string(100'000, '0') + "5"), absl::Seconds(5));
}

// What is no number of whole seconds is nothing.
TEST(RetryAfterTest, RefusesOtherNumbers) {
  for (const char* const value : {"", " ", "-1", "-0", "+5", "1.5", "1,5", "1e3", "0x10", "5s",
                                  "5 seconds", "soon", "NaN", "inf", "١٢", "5;q=1", "5, 6"}) {
    EXPECT_EQ(parse(value), std::nullopt) << value;
  }
  EXPECT_EQ(parse(std::string_view("5\0", 2)), std::nullopt);
}

// RFC 9110's example is one instant in all three forms.
TEST(RetryAfterTest, TheThreeForms) {
  const absl::Time now = utc(1994, 11, 6, 8, 47, 37);
  for (const char* const value : {"Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
                                  "Sun Nov  6 08:49:37 1994"}) {
    EXPECT_EQ(parseRetryAfter(value, now), absl::Seconds(120)) << value;
  }
  EXPECT_EQ(parseRetryAfter("Wed Nov 16 08:47:37 1994", now), absl::Hours(240));
}

// A date is exact against a `now` with fractions: the wait ends at the date, not before.
TEST(RetryAfterTest, DatesAreExact) {
  EXPECT_EQ(parseRetryAfter("Tue, 10 Mar 2026 12:00:01 GMT", kNow + absl::Milliseconds(250)),
            absl::Milliseconds(750));
}

// A date that is over asks for no wait.
TEST(RetryAfterTest, PastDatesAreZero) {
  EXPECT_EQ(parse("Tue, 10 Mar 2026 11:59:59 GMT"), absl::ZeroDuration());
  EXPECT_EQ(parse("Tue, 10 Mar 2026 12:00:00 GMT"), absl::ZeroDuration());
  EXPECT_EQ(parse("Thu Jan  1 00:00:00 1970"), absl::ZeroDuration());
  EXPECT_EQ(parse("Sat, 01 Jan 0000 00:00:00 GMT"), absl::ZeroDuration());
}

// A date further away than a year is nothing.
TEST(RetryAfterTest, DatesUpToAYear) {
  EXPECT_EQ(parse("Wed, 10 Mar 2027 12:00:00 GMT"), absl::Seconds(kYearSeconds));
  EXPECT_EQ(parse("Wed, 10 Mar 2027 12:00:01 GMT"), std::nullopt);
  EXPECT_EQ(parse("Fri, 31 Dec 9999 23:59:59 GMT"), std::nullopt);
}

// Every month has its name and its length.
TEST(RetryAfterTest, EveryMonth) {
  constexpr const char* kNames[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  for (int month = 1; month <= 12; ++month) {
    for (int day = 0; day <= 39; ++day) {
      const std::string two = {static_cast<char>('0' + day / 10),
                               static_cast<char>('0' + day % 10)};
      const std::string value = "Sat, " + two + " " + kNames[month - 1] + " 2026 00:00:00 GMT";
      const std::optional<absl::Duration> wait = parseRetryAfter(value, utc(2026, 1, 1));
      if (day >= 1 && day <= kDays[month - 1]) {
        EXPECT_EQ(wait, utc(2026, month, day) - utc(2026, 1, 1)) << value;
      } else {
        EXPECT_EQ(wait, std::nullopt) << value;
      }
    }
  }
}

// The 29th of February exists in leap years only.
TEST(RetryAfterTest, LeapDays) {
  EXPECT_EQ(parseRetryAfter("Tue, 29 Feb 2028 00:00:00 GMT", utc(2028, 2, 28)), absl::Hours(24));
  EXPECT_EQ(parseRetryAfter("Mon, 29 Feb 2027 00:00:00 GMT", utc(2027, 2, 28)), std::nullopt);
  EXPECT_EQ(parseRetryAfter("Tuesday, 29-Feb-28 00:00:00 GMT", utc(2028, 2, 28)), absl::Hours(24));
}

// Clock times are within their bounds; second 60 is a leap second.
TEST(RetryAfterTest, ClockTimes) {
  EXPECT_EQ(parse("Tue, 10 Mar 2026 23:59:59 GMT"), absl::Hours(12) - absl::Seconds(1));
  EXPECT_EQ(parse("Tue, 10 Mar 2026 23:59:60 GMT"), absl::Hours(12));
  for (const char* const time : {"24:00:00", "12:60:00", "12:00:61", "12:00", "1:00:00", "12:00:0",
                                 "12-00-00", "-1:00:00", "12:00:00.5"}) {
    EXPECT_EQ(parse("Tue, 10 Mar 2026 " + std::string(time) + " GMT"), std::nullopt) << time;
  }
}

// All seven days are known, long and short; a wrong one still says when.
TEST(RetryAfterTest, DayNames) {
  for (const char* const day :
       {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}) {
    const std::string name = day;
    EXPECT_EQ(parse(name + ", 10-Mar-26 12:02:00 GMT"), absl::Minutes(2)) << day;
    EXPECT_EQ(parse(name.substr(0, 3) + ", 10 Mar 2026 12:02:00 GMT"), absl::Minutes(2)) << day;
    EXPECT_EQ(parse(name.substr(0, 3) + " Mar 10 12:02:00 2026"), absl::Minutes(2)) << day;
  }
}

// Whatever departs from the three forms is nothing: case, blanks, zones, mixtures, leftovers.
TEST(RetryAfterTest, RefusesOtherForms) {
  for (const char* const value : {"tue, 10 Mar 2026 12:02:00 GMT",
                                  "Tue, 10 mar 2026 12:02:00 GMT",
                                  "Tue, 10 Mar 2026 12:02:00 gmt",
                                  "Tue, 10 Mar 2026 12:02:00 UTC",
                                  "Tue, 10 Mar 2026 12:02:00 +0000",
                                  "Tue, 10 Mar 2026 12:02:00",
                                  "Tue, 10 Mar 2026",
                                  "Tue,10 Mar 2026 12:02:00 GMT",
                                  "Tue, 10  Mar 2026 12:02:00 GMT",
                                  "Tue, 10 March 2026 12:02:00 GMT",
                                  "Tue, 10 Mar 26 12:02:00 GMT",
                                  "Tue, 10 Mar 12026 12:02:00 GMT",
                                  "Tue, 10-Mar-26 12:02:00 GMT",
                                  "Tuesday, 10 Mar 2026 12:02:00 GMT",
                                  "Tuesday, 10-Mar-2026 12:02:00 GMT",
                                  "Tue Mar 10 12:02:00 2026 GMT",
                                  "Tue Mar 10 12:02:00 26",
                                  "Tue Mar 0 12:02:00 2026",
                                  "Tue Mar   9 12:02:00 2026",
                                  "Mar 10 12:02:00 2026",
                                  "10 Mar 2026 12:02:00 GMT",
                                  "Tue, 10 Mar 2026 12:02:00 GMT x",
                                  "Tue, 10 Mar 2026 12:02:00 GMT, 120",
                                  "2026-03-10T12:02:00Z",
                                  "Day, 10 Mar 2026 12:02:00 GMT",
                                  "1773144120 GMT"}) {
    EXPECT_EQ(parse(value), std::nullopt) << value;
  }
}

// A two-digit year is the one within fifty years ahead, else the latest of the past (RFC 9110).
TEST(RetryAfterTest, TwoDigitYears) {
  // Around the turn of a century the near year is in the next one.
  EXPECT_EQ(parseRetryAfter("Saturday, 01-Jan-00 00:00:00 GMT", utc(1999, 12, 31)),
            absl::Hours(24));
  EXPECT_EQ(parseRetryAfter("Friday, 01-Jan-00 00:00:00 GMT", utc(2099, 12, 31)), absl::Hours(24));
  // 75 is 2075, 49 years ahead: too far to be meant, but not in the past.
  EXPECT_EQ(parse("Sunday, 10-Mar-75 12:00:00 GMT"), std::nullopt);
  // Exactly fifty years ahead is still ahead; a second more is 1976.
  EXPECT_EQ(parse("Tuesday, 10-Mar-76 12:00:00 GMT"), std::nullopt);
  EXPECT_EQ(parse("Tuesday, 10-Mar-76 12:00:01 GMT"), absl::ZeroDuration());
  EXPECT_EQ(parse("Sunday, 06-Nov-94 08:49:37 GMT"), absl::ZeroDuration());
}

// Written by a formatter and read back, any instant of the coming year is what it was.
TEST(RetryAfterTest, RoundTripsRandomDates) {
  SeededRandom random(testSeed());
  for (int i = 0; i < 100'000; ++i) {
    const absl::Time now =
        utc(1990, 1, 1) + absl::Seconds(static_cast<int64_t>(random.next() % 4'000'000'000));
    const absl::Duration wait =
        absl::Seconds(static_cast<int64_t>(random.next() % (kYearSeconds + 1)));
    for (const char* const form :
         {"%a, %d %b %E4Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %E4Y"}) {
      const std::string value = absl::FormatTime(form, now + wait, absl::UTCTimeZone());
      ASSERT_EQ(parseRetryAfter(value, now), wait) << value << " at " << now;
    }
  }
}

// Random and damaged texts never give a wait that is negative or beyond a year.
TEST(RetryAfterTest, SurvivesDamage) {
  SeededRandom random(testSeed());
  constexpr std::string_view kWhole[] = {"Tue, 10 Mar 2026 12:02:00 GMT",
                                         "Tuesday, 10-Mar-26 12:02:00 GMT",
                                         "Tue Mar 10 12:02:00 2026", "31536000"};
  for (int i = 0; i < 100'000; ++i) {
    std::string value(kWhole[random.next() % 4]);
    for (uint64_t left = 1 + random.next() % 3; left > 0; --left) {
      value[random.next() % value.size()] = static_cast<char>(random.next());
    }
    value.resize(random.next() % 4 == 0 ? random.next() % value.size() : value.size());
    const std::optional<absl::Duration> wait = parse(value);
    if (wait.has_value()) {
      ASSERT_GE(*wait, absl::ZeroDuration()) << value;
      ASSERT_LE(*wait, absl::Seconds(kYearSeconds)) << value;
    }
  }
}

}  // namespace
}  // namespace forebay
