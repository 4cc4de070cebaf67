/** What was done to a scheduling core, written to a file and done again. */
@NullMarked
package io.espalier.server.replay;

import org.jspecify.annotations.NullMarked;
