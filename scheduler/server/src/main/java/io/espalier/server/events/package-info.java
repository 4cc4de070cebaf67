/** The feed of recent events that monitors follow. */
@NullMarked
package io.espalier.server.events;

import org.jspecify.annotations.NullMarked;
