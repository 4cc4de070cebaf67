package io.espalier.cli.term;

import java.math.BigDecimal;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parses durations such as {@code 90s}, {@code 5m}, {@code 2h}, {@code 1d} as whole seconds, at
 * least one. All flags take the same text; what they take a plain number for is their own.
 */
public final class DurationConverter implements ITypeConverter<Long> {
  private static final Pattern SPAN =
      Pattern.compile("([0-9]{1,15}(?:\\.[0-9]{1,9})?)(ms|s|m|h|d)?");
  private static final long MOST_SECONDS = 36_500L * 86_400;
  private static final BigDecimal MILLI = new BigDecimal("0.001");
  private static final BigDecimal DAY = new BigDecimal(86_400);

  @Override
  public Long convert(String text) {
    long seconds = whole(text, BigDecimal.ONE);
    if (seconds < 1 || seconds > MOST_SECONDS || text.indexOf('.') >= 0) {
      throw wrong(text);
    }
    return seconds;
  }

  /** Returns a number of units, where a plain number is of these, too. */
  private static BigDecimal units(String text, BigDecimal unit) {
    Matcher span = SPAN.matcher(text);
    if (!span.matches()) {
      throw wrong(text);
    }
    String given = span.group(2);
    BigDecimal of =
        given == null
            ? unit
            : switch (given) {
              case "ms" -> MILLI;
              case "m" -> new BigDecimal(60);
              case "h" -> new BigDecimal(3600);
              case "d" -> DAY;
              default -> BigDecimal.ONE;
            };
    return new BigDecimal(span.group(1)).multiply(of);
  }

  private static long whole(String text, BigDecimal unit) {
    try {
      BigDecimal seconds = units(text, unit);
      BigDecimal[] parts = seconds.divideAndRemainder(unit);
      if (parts[1].signum() == 0) {
        return parts[0].longValueExact();
      }
    } catch (ArithmeticException e) {
      // Reported below, as a fraction of the unit is.
    }
    throw wrong(text);
  }

  private static int small(String text, BigDecimal unit) {
    long value = whole(text, unit);
    if (value > Integer.MAX_VALUE) {
      throw wrong(text);
    }
    return (int) value;
  }

  private static TypeConversionException wrong(String text) {
    return new TypeConversionException(
        "\"" + text + "\" is no span of time such as 90s, 5m, 2h or 1d");
  }

  /** Parses as whole milliseconds, also 0; a plain number is one of milliseconds. */
  public static final class Millis implements ITypeConverter<Long> {
    @Override
    public Long convert(String text) {
      return whole(text, MILLI);
    }
  }

  /** Parses as whole milliseconds that an int can have, also 0. */
  public static final class IntMillis implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return small(text, MILLI);
    }
  }

  /** Parses as whole days, also 0; a plain number is one of days. */
  public static final class Days implements ITypeConverter<Integer> {
    @Override
    public Integer convert(String text) {
      return small(text, DAY);
    }
  }

  /** Parses as seconds, with a fraction; a plain number is one of seconds. */
  public static final class Seconds implements ITypeConverter<Double> {
    @Override
    public Double convert(String text) {
      return units(text, BigDecimal.ONE).doubleValue();
    }
  }
}
