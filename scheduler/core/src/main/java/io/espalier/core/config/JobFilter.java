package io.espalier.core.config;

import io.espalier.core.config.label.LabelExpression;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Determines which nodes of one level a job may use (docs/design/bistro.md#filters). The evaluation
 * order and the stable hash are documented at {@link FilterEvaluator}.
 *
 * @param whitelist allowed names; empty: every name passes
 * @param whitelistRegex expression that must be found anywhere in the name
 * @param tagWhitelist allowed tags, one must match; empty: every node passes
 * @param fraction share of nodes that pass, in [0, 1]
 * @param labels condition on the labels of workers; on levels of nodes every one passes
 */
public record JobFilter(
    Set<String> whitelist,
    @Nullable Pattern whitelistRegex,
    Set<String> blacklist,
    @Nullable Pattern blacklistRegex,
    Set<String> tagWhitelist,
    double fraction,
    LabelExpression labels) {
  public static final JobFilter ALL = new JobFilter(Set.of(), null, Set.of(), null, Set.of(), 1.0);

  /** A filter without a condition on labels. */
  public JobFilter(
      Set<String> whitelist,
      @Nullable Pattern whitelistRegex,
      Set<String> blacklist,
      @Nullable Pattern blacklistRegex,
      Set<String> tagWhitelist,
      double fraction) {
    this(
        whitelist,
        whitelistRegex,
        blacklist,
        blacklistRegex,
        tagWhitelist,
        fraction,
        LabelExpression.ANY);
  }

  public JobFilter {
    whitelist = Set.copyOf(whitelist);
    blacklist = Set.copyOf(blacklist);
    tagWhitelist = Set.copyOf(tagWhitelist);
  }

  /** A copy with another condition on labels. */
  public JobFilter withLabels(LabelExpression other) {
    return new JobFilter(
        whitelist, whitelistRegex, blacklist, blacklistRegex, tagWhitelist, fraction, other);
  }

  /** Returns true when every node passes. */
  public boolean isTrivial() {
    return equals(ALL);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof JobFilter o
        && whitelist.equals(o.whitelist)
        && blacklist.equals(o.blacklist)
        && tagWhitelist.equals(o.tagWhitelist)
        && fraction == o.fraction
        && labels.equals(o.labels)
        && text(whitelistRegex).equals(text(o.whitelistRegex))
        && text(blacklistRegex).equals(text(o.blacklistRegex));
  }

  @Override
  public int hashCode() {
    return whitelist.hashCode()
        + 31 * blacklist.hashCode()
        + 37 * tagWhitelist.hashCode()
        + Double.hashCode(fraction)
        + labels.hashCode()
        + text(whitelistRegex).hashCode()
        + 41 * text(blacklistRegex).hashCode();
  }

  private static String text(@Nullable Pattern pattern) {
    return pattern == null ? "" : pattern.pattern();
  }
}
