/** Queries of pages and clients, answered in slices between the steps of the loop. */
@NullMarked
package io.espalier.core.loop.query;

import org.jspecify.annotations.NullMarked;
