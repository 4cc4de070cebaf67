package io.espalier.core.config.schema;

import io.espalier.core.json.Json;
import java.util.function.BiPredicate;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The definition of one configuration key: the parser, the export, the JSON Schema and the
 * reference all follow it. Immutable once its section is made.
 *
 * @param <R> record of the model with the value
 * @param <T> type of the value
 */
public final class Key<R, T> {
  private final String name;
  private final ValueType<T> type;
  private final Function<R, T> getter;
  private final String description;
  private @Nullable String missing;
  private boolean own;
  private boolean ofJobsOnly;
  private BiPredicate<R, R> written = (value, inherited) -> true;

  Key(String name, ValueType<T> type, Function<R, T> getter, String description) {
    this.name = name;
    this.type = type;
    this.getter = getter;
    this.description = description;
  }

  /**
   * The key must be present; the text says what is expected, after "the key is missing, expected".
   */
  public Key<R, T> required(String expected) {
    missing = expected;
    return this;
  }

  /** The key is Espalier's own: Bistro does not have it, so it is exported only with an effect. */
  public Key<R, T> own() {
    own = true;
    return this;
  }

  /** The key belongs to one job: the settings cannot have it. */
  public Key<R, T> ofJobsOnly() {
    ofJobsOnly = true;
    return this;
  }

  /** Exports the key only when this is true for the record and the inherited one. */
  public Key<R, T> writtenIf(BiPredicate<R, R> condition) {
    written = condition;
    return this;
  }

  /** Exports the key only when its value differs from the inherited one. */
  public Key<R, T> writtenUnlessInherited() {
    return writtenIf((value, inherited) -> !getter.apply(value).equals(getter.apply(inherited)));
  }

  /** Exports the key unless its value and the inherited one are both what it is without the key. */
  public Key<R, T> writtenUnless(T usual) {
    return writtenIf(
        (value, inherited) ->
            !getter.apply(value).equals(usual) || !getter.apply(inherited).equals(usual));
  }

  /** The same key as a part of a larger record. */
  <O> Key<O, T> within(Function<O, R> part) {
    Key<O, T> key = new Key<>(name, type, getter.compose(part), description);
    key.missing = missing;
    key.own = own;
    key.ofJobsOnly = ofJobsOnly;
    key.written = (value, inherited) -> written.test(part.apply(value), part.apply(inherited));
    return key;
  }

  public String name() {
    return name;
  }

  public ValueType<T> type() {
    return type;
  }

  /** What the key means: Markdown, with links relative to the folder {@code docs}. */
  public String description() {
    return description;
  }

  /** What is expected where the key is missing; null when it need not be present. */
  public @Nullable String missing() {
    return missing;
  }

  public boolean isOwn() {
    return own;
  }

  public boolean isOfJobsOnly() {
    return ofJobsOnly;
  }

  /** The value in a record. */
  public T of(R holder) {
    return getter.apply(holder);
  }

  /** The value as it is written when nothing is inherited; an empty list where there is none. */
  public Json write(R holder, Names names) {
    return type.writer().write(of(holder), of(holder), names);
  }

  void put(Json.Builder out, R value, R inherited, Names names) {
    if (written.test(value, inherited)) {
      out.put(name, type.writer().write(of(value), of(inherited), names));
    }
  }
}
