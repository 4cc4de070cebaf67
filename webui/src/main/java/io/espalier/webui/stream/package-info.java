/** Streams of server-sent events: the event feed, and the lines of logs. */
@NullMarked
package io.espalier.webui.stream;

import org.jspecify.annotations.NullMarked;
