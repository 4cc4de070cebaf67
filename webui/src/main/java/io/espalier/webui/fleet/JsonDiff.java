package io.espalier.webui.fleet;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Finds the differences between two JSON values. */
public final class JsonDiff {
  private final int most;
  private final List<Change> changes = new ArrayList<>();

  private JsonDiff(int most) {
    this.most = most;
  }

  /**
   * One difference.
   *
   * @param path such as {@code backoff[1]} or {@code filters.host.whitelist}
   * @param before null for an added value
   * @param after null for a removed value
   */
  public record Change(String path, @Nullable Json before, @Nullable Json after) {
    Json.Obj json() {
      return Json.object()
          .put("path", path)
          .putIfPresent("majority", before)
          .putIfPresent("here", after)
          .build();
    }
  }

  /** Returns up to {@code most} differences in the order of their paths. */
  public static List<Change> of(Json before, Json after, int most) {
    JsonDiff diff = new JsonDiff(most);
    diff.compare("", before, after);
    return diff.changes;
  }

  private void compare(String path, @Nullable Json before, @Nullable Json after) {
    if (changes.size() >= most) {
      return;
    }
    if (before instanceof Json.Obj a && after instanceof Json.Obj b) {
      TreeSet<String> keys = new TreeSet<>(a.members().keySet());
      keys.addAll(b.members().keySet());
      for (String key : keys) {
        compare(path.isEmpty() ? key : path + "." + key, a.get(key), b.get(key));
      }
    } else if (before instanceof Json.Arr a
        && after instanceof Json.Arr b
        && a.items().size() == b.items().size()) {
      for (int i = 0; i < a.items().size(); i++) {
        compare(path + "[" + i + "]", a.items().get(i), b.items().get(i));
      }
    } else if (before == null || !before.equals(after)) {
      changes.add(new Change(path, before, after));
    }
  }
}
