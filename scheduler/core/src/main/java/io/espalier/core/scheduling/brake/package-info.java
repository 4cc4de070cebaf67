/** What brakes ask of a core, at any instant (docs/adr/0067-brakes.md). */
@NullMarked
package io.espalier.core.scheduling.brake;

import org.jspecify.annotations.NullMarked;
