/** Sources of configuration against real servers. */
@NullMarked
package io.espalier.server.sources;

import org.jspecify.annotations.NullMarked;
