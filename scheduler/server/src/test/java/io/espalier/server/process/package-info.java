/** Tests of a whole scheduler process, opened and closed in this one. */
@NullMarked
package io.espalier.server.process;

import org.jspecify.annotations.NullMarked;
