/**
 * What a key of the configuration, its type of values and a section of keys are, and how values are
 * read, written and described by them. Package {@code core.config.keys} has the keys themselves.
 */
@NullMarked
package io.espalier.core.config.schema;

import org.jspecify.annotations.NullMarked;
