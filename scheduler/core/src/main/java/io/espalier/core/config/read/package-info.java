/**
 * Parses the configuration. Collects all problems, each with its path, position, value and a hint;
 * repairs nothing silently.
 */
@NullMarked
package io.espalier.core.config.read;

import org.jspecify.annotations.NullMarked;
