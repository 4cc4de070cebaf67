package io.espalier.core.config.read;

import io.espalier.core.config.ProcessAttributes;
import io.espalier.core.config.ProcessAttributes.IoClass;
import io.espalier.core.config.ProcessAttributes.IoNice;
import io.espalier.core.config.ProcessAttributes.RunAs;
import io.espalier.core.json.Json;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Parses {@code umask}, {@code nice}, {@code ionice} and {@code run_as} of {@code task_subprocess}.
 */
final class ProcessAttributesParser {
  private static final int MOST_FAVOURED = -20;
  private static final int LEAST_FAVOURED = 19;
  private static final int IO_LEVELS = 8;
  private static final int USUAL_IO_LEVEL = 4;
  private static final Pattern UMASK = Pattern.compile("[0-7]{1,3}|0[0-7]{3}");
  private static final String NAME = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,31}";
  private static final Pattern USER_AND_GROUP =
      Pattern.compile("(" + NAME + ")(?::(" + NAME + "))?");

  private ProcessAttributesParser() {}

  static ProcessAttributes read(ConfigObject in, ProcessAttributes inherited) {
    return new ProcessAttributes(
        umask(in, inherited.umask()),
        in.limit("nice", inherited.nice(), MOST_FAVOURED, LEAST_FAVOURED),
        ioNice(in, inherited.ioNice()),
        runAs(in, inherited.runAs()));
  }

  private static OptionalInt umask(ConfigObject in, OptionalInt inherited) {
    ConfigValue value = in.find("umask");
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return OptionalInt.empty();
    }
    // With a number it would be unclear whether it is octal.
    if (value.json() instanceof Json.Str text && UMASK.matcher(text.value()).matches()) {
      return OptionalInt.of(Integer.parseInt(text.value(), 8));
    }
    value.error("expected a string of three octal digits, such as \"027\"", null);
    return inherited;
  }

  private static Optional<IoNice> ioNice(ConfigObject in, Optional<IoNice> inherited) {
    ConfigValue value = in.find("ionice");
    if (value != null && value.isFalse()) {
      return Optional.empty();
    }
    ConfigObject fields = value == null ? null : value.fields(ConfigSection.IONICE);
    if (fields == null) {
      return inherited;
    }
    Map<String, IoClass> classes = new LinkedHashMap<>();
    for (IoClass ioClass : IoClass.values()) {
      classes.put(ioClass.label(), ioClass);
    }
    ConfigValue named = fields.require("class", "one of " + String.join(", ", classes.keySet()));
    IoClass ioClass = named == null ? null : named.oneOf(classes);
    ConfigValue leveled = fields.find("level");
    Long level = leveled == null ? null : leveled.integer(0, IO_LEVELS - 1);
    if (ioClass == null) {
      return inherited;
    }
    if (ioClass == IoClass.IDLE) {
      if (leveled != null && level != null && level != 0) {
        leveled.warning("the class \"idle\" has no levels", "remove the key");
      }
      return Optional.of(new IoNice(ioClass, 0));
    }
    return Optional.of(new IoNice(ioClass, level == null ? USUAL_IO_LEVEL : level.intValue()));
  }

  private static Optional<RunAs> runAs(ConfigObject in, Optional<RunAs> inherited) {
    ConfigValue value = in.find("run_as");
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return Optional.empty();
    }
    String text = value.text();
    if (text == null) {
      return inherited;
    }
    Matcher parts = USER_AND_GROUP.matcher(text);
    if (!parts.matches()) {
      value.error("expected \"user\" or \"user:group\", names or numbers", null);
      return inherited;
    }
    return Optional.of(new RunAs(parts.group(1), Optional.ofNullable(parts.group(2))));
  }
}
