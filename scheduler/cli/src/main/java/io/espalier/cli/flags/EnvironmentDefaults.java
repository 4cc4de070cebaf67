package io.espalier.cli.flags;

import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Takes the defaults of flags from the environment: {@code --data-dir} is {@code
 * ESPALIER_DATA_DIR}.
 */
public final class EnvironmentDefaults implements CommandLine.IDefaultValueProvider {
  private final Map<String, String> environment;

  public EnvironmentDefaults(Map<String, String> environment) {
    this.environment = environment;
  }

  @Override
  public @Nullable String defaultValue(ArgSpec argument) {
    if (!(argument instanceof OptionSpec option)) {
      return null;
    }
    String value = environment.get(variable(option.longestName()));
    // An empty variable counts as unset, as in most shell scripts.
    return value == null || value.isEmpty() ? argument.defaultValue() : value;
  }

  static String variable(String option) {
    return "ESPALIER_" + option.replaceFirst("^-+", "").replace('-', '_').toUpperCase(Locale.ROOT);
  }
}
