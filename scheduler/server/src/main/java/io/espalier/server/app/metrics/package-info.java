/** The metrics of a scheduler process, under the names that docs/metrics.md lists. */
@NullMarked
package io.espalier.server.app.metrics;

import org.jspecify.annotations.NullMarked;
