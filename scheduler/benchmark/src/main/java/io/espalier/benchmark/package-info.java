/** Benchmarks that carry the figures of docs/benchmarks.md. */
@NullMarked
package io.espalier.benchmark;

import org.jspecify.annotations.NullMarked;
