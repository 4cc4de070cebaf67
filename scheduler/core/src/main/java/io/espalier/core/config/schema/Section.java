package io.espalier.core.config.schema;

import io.espalier.core.json.Json;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An object of the configuration with a fixed set of keys. Each subclass is a table: its fields are
 * the keys, in the order of the documentation.
 *
 * @param <R> record of the model that the object becomes
 */
public abstract class Section<R> {
  private final String name;
  private final String description;
  private final R usual;
  private final Map<String, Key<R, ?>> keys = new LinkedHashMap<>();
  private final Map<String, String> spellings = new LinkedHashMap<>();
  private final Map<String, String> obsolete = new LinkedHashMap<>();
  private String rules = "{}";

  /**
   * Creates a section.
   *
   * @param name name in the JSON Schema and the reference
   * @param usual what the keys are when the object is empty; values of required keys are not used
   */
  protected Section(String name, String description, R usual) {
    this.name = name;
    this.description = description;
    this.usual = usual;
  }

  /**
   * Makes the record of what is given, with the inherited values for the rest.
   *
   * @return null when it is so broken that there is none; problems were added
   */
  public abstract @Nullable R read(ConfigObject in, R base);

  public final <T> Key<R, T> key(
      String key, ValueType<T> type, Function<R, T> getter, String description) {
    return add(new Key<>(key, type, getter, description));
  }

  /** A key of Espalier's own, which is exported only with an effect. */
  public final <T> Key<R, T> own(
      String key, ValueType<T> type, Function<R, T> getter, String description) {
    return key(key, type, getter, description).own().writtenUnless(getter.apply(usual));
  }

  /** The keys of another section, which are a part of this one. */
  protected final <P> void include(Section<P> part, Function<R, P> getter, boolean ofJob) {
    part.keys.values().stream()
        .filter(key -> ofJob || !key.isOfJobsOnly())
        .forEach(key -> add(key.within(getter)));
    spellings.putAll(part.spellings);
  }

  private <T> Key<R, T> add(Key<R, T> key) {
    keys.put(key.name(), key);
    return key;
  }

  /** Accepts another spelling of a key, with a warning. */
  protected final void spelling(String other, String key) {
    spellings.put(other, key);
  }

  /** Accepts a key that is no longer used, with a warning that says what to do. */
  protected final void obsolete(String key, String replacement) {
    obsolete.put(key, replacement);
  }

  /** Rules between keys, as members of the object's JSON Schema, with single quotes. */
  protected final void rules(String schema) {
    rules = schema;
  }

  /** Opens the object of a value, and reports its unknown keys; null when it is no object. */
  public @Nullable ConfigObject open(ConfigValue value) {
    Json.Obj object = value.object();
    return object == null ? null : ConfigObject.of(value, object, this);
  }

  /** Reads a value; null when it is broken. */
  public @Nullable R read(ConfigValue value, R base) {
    ConfigObject in = open(value);
    return in == null ? null : read(in, base);
  }

  /** The keys that have an effect, or remove an inherited one. */
  public Json.Obj write(R value, R inherited, Names names) {
    Json.Builder out = Json.object();
    keys.values().forEach(key -> key.put(out, value, inherited, names));
    return out.build();
  }

  /** The keys that have an effect, when nothing is inherited and no names are referred to. */
  public Json.Obj write(R value) {
    return write(value, usual, new Names(List.of(), List.of(), List.of()));
  }

  /** Adds one key to an export, if it has an effect or removes an inherited one. */
  public void put(Json.Builder out, String key, R value, R inherited, Names names) {
    Key<R, ?> definition = keys.get(key);
    if (definition != null) {
      definition.put(out, value, inherited, names);
    }
  }

  /** The type of values that are such an object. */
  public final ValueType<R> type() {
    return new ValueType<>(this::read, this::write, "object", "{'$ref': '#/$defs/" + name + "'}");
  }

  public String name() {
    return name;
  }

  public String description() {
    return description;
  }

  /** What the keys are when the object is empty. */
  public R usual() {
    return usual;
  }

  /** The names of the keys, in the order of the documentation. */
  public Set<String> names() {
    return Collections.unmodifiableSet(keys.keySet());
  }

  public List<Key<R, ?>> keys() {
    return List.copyOf(new ArrayList<>(keys.values()));
  }

  boolean has(String key) {
    return keys.containsKey(key);
  }

  /** Other spellings that are accepted with a warning, each with its key. */
  public Map<String, String> spellings() {
    return Collections.unmodifiableMap(spellings);
  }

  /** Obsolete keys, which cause a warning, each with its replacement. */
  public Map<String, String> obsolete() {
    return Collections.unmodifiableMap(obsolete);
  }

  /** Members of the JSON Schema besides those of the keys, with single quotes. */
  public String rules() {
    return rules;
  }

  @Override
  public String toString() {
    return name;
  }
}
