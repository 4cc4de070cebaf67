/** Sends notifications: the kinds of notifiers, each in a class of its own. */
@NullMarked
package io.espalier.server.notify;

import org.jspecify.annotations.NullMarked;
