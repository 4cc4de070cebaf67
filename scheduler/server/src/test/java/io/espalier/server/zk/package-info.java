/** The connection to ZooKeeper. */
@NullMarked
package io.espalier.server.zk;

import org.jspecify.annotations.NullMarked;
