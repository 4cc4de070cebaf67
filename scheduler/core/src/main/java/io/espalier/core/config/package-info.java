/**
 * The configuration as immutable typed values, with inheritance resolved.
 *
 * <p>{@code read} parses it and collects every problem, {@code write} converts jobs and errors to
 * Bistro's form, {@code source} fetches and edits configurations.
 */
@NullMarked
package io.espalier.core.config;

import org.jspecify.annotations.NullMarked;
