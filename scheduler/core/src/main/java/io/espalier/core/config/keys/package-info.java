/**
 * The definition of every configuration key: name, type, range, default, description, and how it is
 * read and written. {@code read} and {@code write} follow these tables; the JSON Schema and
 * docs/config-reference.md are generated from them.
 */
@NullMarked
package io.espalier.core.config.keys;

import org.jspecify.annotations.NullMarked;
