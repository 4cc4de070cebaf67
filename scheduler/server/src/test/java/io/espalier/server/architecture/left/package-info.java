/** One half of a cycle of packages. */
@NullMarked
package io.espalier.server.architecture.left;

import org.jspecify.annotations.NullMarked;
