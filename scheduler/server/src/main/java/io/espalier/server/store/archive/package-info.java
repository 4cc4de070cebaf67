/** Files with the statuses of jobs that expired, and what writes and reads them. */
@NullMarked
package io.espalier.server.store.archive;

import org.jspecify.annotations.NullMarked;
