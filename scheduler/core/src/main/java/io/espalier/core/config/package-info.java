/**
 * The configuration as immutable typed values, with inheritance resolved.
 *
 * <p>{@code read} parses it and collects every problem, {@code write} makes Bistro's form of jobs
 * and errors, {@code source} says where configurations come from.
 */
@NullMarked
package io.espalier.core.config;

import org.jspecify.annotations.NullMarked;
