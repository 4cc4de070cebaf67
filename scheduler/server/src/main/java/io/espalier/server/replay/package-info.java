/** Records the inputs of a scheduling core in a file and replays them. */
@NullMarked
package io.espalier.server.replay;

import org.jspecify.annotations.NullMarked;
