/** How every client of ZooKeeper proves who it is, encrypts, and shares what it writes. */
@NullMarked
package io.espalier.nodes.zk;

import org.jspecify.annotations.NullMarked;
