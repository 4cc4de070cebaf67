/** Fetches nodes from the sources of the configuration and keeps them up to date. */
@NullMarked
package io.espalier.server.nodes;

import org.jspecify.annotations.NullMarked;
