/** Configuration sources in ZooKeeper, and helpers shared with sources in databases. */
@NullMarked
package io.espalier.server.sources;

import org.jspecify.annotations.NullMarked;
