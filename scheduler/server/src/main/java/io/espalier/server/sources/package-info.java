/** Configuration sources in ZooKeeper. */
@NullMarked
package io.espalier.server.sources;

import org.jspecify.annotations.NullMarked;
