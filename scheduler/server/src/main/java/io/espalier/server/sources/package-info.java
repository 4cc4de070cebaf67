/** Configuration that is kept in ZooKeeper or in a database. */
@NullMarked
package io.espalier.server.sources;

import org.jspecify.annotations.NullMarked;
