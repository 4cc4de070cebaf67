package io.espalier.core.config.read;

import io.espalier.core.config.OutcomeRules;
import io.espalier.core.json.Json;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses {@code fail_job_when} and {@code succeed_job_when} of the settings or a job. */
public final class OutcomeParser {
  public static final String FAIL = "fail_job_when";
  public static final String SUCCEED = "succeed_job_when";

  /** The value for an endless job. */
  public static final String NEVER = "never";

  private static final int LONGEST_DAYS = 366;
  private static final long LONGEST_SECONDS = LONGEST_DAYS * 86_400L;
  private static final Pattern SPAN = Pattern.compile("([0-9]{1,9})([smhd]?)");
  private static final Map<String, Integer> UNITS =
      Map.of("", 1, "s", 1, "m", 60, "h", 3600, "d", 86_400);

  private OutcomeParser() {}

  /**
   * Parses the rules. Keys missing in an object are not inherited: each rule is complete in one
   * place.
   */
  static OutcomeRules read(ConfigObject in, OutcomeRules inherited) {
    OutcomeRules failing = failing(in.find(FAIL), inherited);
    return new OutcomeRules(
        failing.failedTasks(),
        failing.failedPercent(),
        failing.minSamples(),
        failing.window(),
        donePercent(in.find(SUCCEED), inherited.donePercent()));
  }

  private static OutcomeRules failing(@Nullable ConfigValue value, OutcomeRules inherited) {
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return OutcomeRules.DEFAULT;
    }
    ConfigObject in = value.fields(ConfigSection.FAIL_JOB_WHEN);
    if (in == null) {
      return inherited;
    }
    ConfigValue tasks = in.find("failed_tasks");
    Integer failed = tasks == null ? null : tasks.int32(1);
    ConfigValue share = in.find("failed_pct");
    Double percent = share == null ? null : share.number(0, 100);
    if (share != null && percent != null && percent == 100) {
      share.error("more than 100 % never fail, expected a number below 100", null);
    }
    if (tasks == null && share == null) {
      value.error(
          "nothing makes the job fail, expected \"failed_tasks\" or \"failed_pct\"",
          "write false if it is never to fail");
    }
    int samples = in.int32("min_samples", 1, 1);
    ConfigValue given = in.find("min_samples");
    if (given != null && share == null) {
      given.warning("this means nothing without \"failed_pct\"", null);
    }
    ConfigValue span = in.find("window");
    Duration window = span == null ? null : window(span);
    return new OutcomeRules(
        failed == null ? OptionalInt.empty() : OptionalInt.of(failed),
        percent == null ? OptionalDouble.empty() : OptionalDouble.of(percent),
        samples,
        Optional.ofNullable(window),
        inherited.donePercent());
  }

  private static @Nullable Duration window(ConfigValue value) {
    if (value.json() instanceof Json.Str text) {
      Matcher span = SPAN.matcher(text.value());
      if (span.matches()) {
        long seconds = Long.parseLong(span.group(1)) * UNITS.getOrDefault(span.group(2), 1);
        if (seconds >= 1 && seconds <= LONGEST_SECONDS) {
          return Duration.ofSeconds(seconds);
        }
      }
      value.error(
          "expected seconds, or a span of time such as \"90s\", \"15m\", \"1h\" or \"2d\", of at"
              + " most "
              + LONGEST_DAYS
              + " days",
          null);
      return null;
    }
    Double seconds = value.number(1, LONGEST_SECONDS);
    return seconds == null ? null : ConfigValue.millis(seconds);
  }

  private static double donePercent(@Nullable ConfigValue value, double inherited) {
    if (value == null) {
      return inherited;
    }
    if (value.isFalse()) {
      return OutcomeRules.DEFAULT.donePercent();
    }
    if (value.json() instanceof Json.Str word) {
      if (!word.value().equals(NEVER)) {
        value.error(
            "expected an object with \"done_pct\", false, or \"never\"",
            "\"never\" is for a job that is to stay open whatever is done");
      }
      return OutcomeRules.NEVER;
    }
    ConfigObject in = value.fields(ConfigSection.SUCCEED_JOB_WHEN);
    ConfigValue share = in == null ? null : in.require("done_pct", "a number above 0, at most 100");
    Double percent = share == null ? null : share.number(0, 100);
    if (share != null && percent != null && percent == 0) {
      share.error("0 % is nothing to wait for, expected a number above 0", null);
      return inherited;
    }
    return percent == null ? inherited : percent;
  }
}
