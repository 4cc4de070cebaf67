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
   * @param maxDistance maximum number of inserted, removed or replaced letters, and of letters that
   *     are swapped with the next one
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
   * Returns "did you mean X?" for a name near to a candidate, otherwise null. Longer words may
   * contain more mistakes.
   */
  public static @Nullable String didYouMean(String word, Collection<String> candidates) {
    int bound = Math.min(word.length(), Math.max(1, Math.min(4, word.length() / 3)));
    String near = closest(word, candidates, bound);
    return near == null ? null : "did you mean \"" + near + "\"?";
  }

  /**
   * Returns "did you mean X?" for a name near to a candidate, otherwise the list of candidates, or
   * null when there is nothing to suggest.
   */
  public static @Nullable String hint(String word, Collection<String> candidates) {
    String near = didYouMean(word, candidates);
    if (near != null) {
      return near;
    }
    if (candidates.isEmpty() || candidates.size() > 12) {
      return null;
    }
    return "known: " + String.join(", ", candidates);
  }

  private static String folded(String word) {
    return word.toLowerCase(Locale.ROOT).replace('-', '_').replace(' ', '_');
  }

  /**
   * The Levenshtein distance, where a swap of neighbours counts as one; {@code limit} when it is
   * not below that.
   */
  private static int distance(String a, String b, int limit) {
    if (Math.abs(a.length() - b.length()) >= limit) {
      return limit;
    }
    int[] before = new int[b.length() + 1];
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
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          row[j] = Math.min(row[j], 1 + before[j - 2]);
        }
      }
      before = previous;
      previous = row;
    }
    return Math.min(limit, previous[b.length()]);
  }
}
