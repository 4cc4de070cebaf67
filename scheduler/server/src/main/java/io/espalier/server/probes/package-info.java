/** Asks the sources of probes for values (docs/probes.md). */
@NullMarked
package io.espalier.server.probes;

import org.jspecify.annotations.NullMarked;
