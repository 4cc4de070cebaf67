package io.espalier.core.loop.rollout;

import io.espalier.core.json.Json;
import io.espalier.core.rollout.Rollout;
import io.espalier.core.rollout.RolloutMembers;
import io.espalier.core.status.store.RolloutRow;
import io.espalier.core.text.ShortText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;

/**
 * The rows of roll-outs in a store: one tells how far a roll-out is, the others have the members of
 * its stages. A roll-out with a missing row counts as one that cannot be read: without its members
 * a stage would be empty, and pass.
 */
final class StoredRollouts {
  /** The number of tasks in one stored row of members. */
  private static final int MEMBERS_PER_ROW = 50_000;

  private static final int MOST_REASON = 200;

  private StoredRollouts() {}

  /** Returns the row that tells how far a roll-out is. */
  static RolloutRow row(Rollout now) {
    return new RolloutRow(now.job(), 0, now.toJson());
  }

  /** Returns the rows with the members of the stages. */
  static List<RolloutRow> rows(RolloutMembers members) {
    List<RolloutRow> rows = new ArrayList<>();
    for (String text : members.texts(MEMBERS_PER_ROW)) {
      Json.Obj body = Json.object().put("members", text).build();
      rows.add(new RolloutRow(members.job(), rows.size() + 1, body));
    }
    return rows;
  }

  /**
   * Reads all roll-outs.
   *
   * @param read gets each that can be read
   * @param unread gets the job of each other, and why
   */
  static void read(
      List<RolloutRow> rows,
      BiConsumer<Rollout, RolloutMembers> read,
      BiConsumer<String, String> unread) {
    Map<String, List<RolloutRow>> byJob = new TreeMap<>();
    rows.forEach(row -> byJob.computeIfAbsent(row.job(), job -> new ArrayList<>()).add(row));
    byJob.forEach(
        (job, parts) -> {
          Rollout now;
          RolloutMembers members;
          try {
            now = now(job, parts);
            members = members(now, parts);
          } catch (IllegalArgumentException e) {
            unread.accept(job, ShortText.shown(String.valueOf(e.getMessage()), MOST_REASON));
            return;
          }
          read.accept(now, members);
        });
  }

  private static Rollout now(String job, List<RolloutRow> parts) {
    for (RolloutRow row : parts) {
      if (row.part() == 0) {
        return Rollout.fromJson(job, row.body());
      }
    }
    throw new IllegalArgumentException("how far it was is missing");
  }

  private static RolloutMembers members(Rollout now, List<RolloutRow> parts) {
    List<String> texts = new ArrayList<>();
    for (RolloutRow row : parts) {
      if (row.part() > 0 && row.body().get("members") instanceof Json.Str text) {
        texts.add(text.value());
      }
    }
    int count = now.stages().size();
    RolloutMembers members = RolloutMembers.ofTexts(now.job(), texts, count);
    long expected = count == 1 ? 0 : now.sizes().get(count - 2);
    if (members.size() != expected) {
      throw new IllegalArgumentException(
          members.size() + " of the " + expected + " tasks of its stages are there");
    }
    return members;
  }
}
