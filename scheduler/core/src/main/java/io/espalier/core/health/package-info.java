/** Probes, which tell how well nodes are, and limits that follow them (docs/probes.md). */
@NullMarked
package io.espalier.core.health;

import org.jspecify.annotations.NullMarked;
