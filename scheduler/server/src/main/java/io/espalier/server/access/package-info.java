/** How clients prove who they are to a scheduler, and know that it is the right one. */
@NullMarked
package io.espalier.server.access;

import org.jspecify.annotations.NullMarked;
