/** The scheduler loop on its thread, and what others see of it: the API, views, events. */
@NullMarked
package io.espalier.server.app.loop;

import org.jspecify.annotations.NullMarked;
