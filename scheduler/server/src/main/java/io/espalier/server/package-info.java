/** What every part of the program may use: its version, and how commands end. */
@NullMarked
package io.espalier.server;

import org.jspecify.annotations.NullMarked;
