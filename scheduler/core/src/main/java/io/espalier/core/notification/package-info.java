/** Notifications: what people and other systems are told about events. */
@NullMarked
package io.espalier.core.notification;

import org.jspecify.annotations.NullMarked;
