package io.espalier.cli.term;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Parses durations such as {@code 90s}, {@code 5m}, {@code 2h}, {@code 1d}; the result is in
 * seconds.
 */
public final class DurationConverter implements ITypeConverter<Long> {
  private static final Pattern SPAN = Pattern.compile("([1-9][0-9]{0,8})([smhd]?)");

  @Override
  public Long convert(String text) {
    Matcher span = SPAN.matcher(text);
    if (!span.matches()) {
      throw new TypeConversionException(
          "\"" + text + "\" is no span of time such as 90s, 5m, 2h or 1d");
    }
    long unit =
        switch (span.group(2)) {
          case "m" -> 60;
          case "h" -> 3600;
          case "d" -> 86_400;
          default -> 1;
        };
    return unit * Long.parseLong(span.group(1));
  }
}
