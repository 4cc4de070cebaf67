/**
 * Parses the configuration. All problems are collected, each with its path, position, value and a
 * hint; nothing is repaired silently.
 */
@NullMarked
package io.espalier.core.config.read;

import org.jspecify.annotations.NullMarked;
