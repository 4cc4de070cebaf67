package io.espalier.core.status.store;

import io.espalier.core.json.Json;

/**
 * A part of a stored roll-out.
 *
 * @param part 0: how far it is, which changes often; from 1 on: the members of its stages, which
 *     never change
 */
public record RolloutRow(String job, int part, Json.Obj body) {
  /** Identifies a row. */
  public record Key(String job, int part) {}

  public Key key() {
    return new Key(job, part);
  }
}
