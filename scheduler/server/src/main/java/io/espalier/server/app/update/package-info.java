/** How new configurations, new nodes and edited jobs reach the scheduler loop. */
@NullMarked
package io.espalier.server.app.update;

import org.jspecify.annotations.NullMarked;
