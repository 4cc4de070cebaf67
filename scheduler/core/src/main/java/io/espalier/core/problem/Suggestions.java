package io.espalier.core.problem;

import java.util.Collection;
import java.util.Locale;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds what the user probably meant. */
public final class Suggestions {
  private Suggestions() {}

  /**
   * The candidate nearest to a word, or null when none is near. Case is ignored, and {@code -},
   * {@code _} and blank are equal; ties go to the first by name.
   *
   * @param maxDistance maximum number of inserted, removed or replaced letters
   */
  public static @Nullable String closest(
      String word, Collection<String> candidates, int maxDistance) {
    String best = null;
    int bestDistance = maxDistance + 1;
    String folded = folded(word);
    for (String candidate : new TreeSet<>(candidates)) {
      int distance = distance(folded, folded(candidate), bestDistance);
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    return best;
  }

  /**
   * Returns "did you mean X?" for a name near to a candidate, otherwise the list of candidates, or
   * null when there is nothing to suggest. Longer words may contain more mistakes.
   */
  public static @Nullable String hint(String word, Collection<String> candidates) {
    String near = closest(word, candidates, Math.max(1, Math.min(4, word.length() / 3)));
    if (near != null) {
      return "did you mean \"" + near + "\"?";
    }
    if (candidates.isEmpty() || candidates.size() > 12) {
      return null;
    }
    return "known: " + String.join(", ", candidates);
  }

  private static String folded(String word) {
    return word.toLowerCase(Locale.ROOT).replace('-', '_').replace(' ', '_');
  }

  /** The Levenshtein distance, or {@code limit} when it is not below it. */
  private static int distance(String a, String b, int limit) {
    if (Math.abs(a.length() - b.length()) >= limit) {
      return limit;
    }
    int[] previous = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      previous[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int[] row = new int[b.length() + 1];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int replace = previous[j - 1] + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replace, 1 + Math.min(previous[j], row[j - 1]));
      }
      previous = row;
    }
    return Math.min(limit, previous[b.length()]);
  }
}
