/** The connection to ZooKeeper that election, discovery and configuration share. */
@NullMarked
package io.espalier.server.zk;

import org.jspecify.annotations.NullMarked;
