/** The outbox of notifications: which wait, which is sent next, and when. */
@NullMarked
package io.espalier.core.loop.notify;

import org.jspecify.annotations.NullMarked;
