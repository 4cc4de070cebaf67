/** Limits that follow the health of nodes, by the values of probes (docs/adr/0074-health.md). */
@NullMarked
package io.espalier.core.loop.health;

import org.jspecify.annotations.NullMarked;
