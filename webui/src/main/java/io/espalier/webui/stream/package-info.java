/** Streams of server-sent events: what happens, and the lines of logs. */
@NullMarked
package io.espalier.webui.stream;

import org.jspecify.annotations.NullMarked;
