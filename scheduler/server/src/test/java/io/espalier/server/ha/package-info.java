/** Election and standing by against real servers of ZooKeeper. */
@NullMarked
package io.espalier.server.ha;

import org.jspecify.annotations.NullMarked;
