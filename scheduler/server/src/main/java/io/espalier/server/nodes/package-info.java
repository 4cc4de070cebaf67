/** Nodes: fetched from the sources of the configuration, and kept fresh. */
@NullMarked
package io.espalier.server.nodes;

import org.jspecify.annotations.NullMarked;
