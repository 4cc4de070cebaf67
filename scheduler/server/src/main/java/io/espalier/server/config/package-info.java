/** Where the configuration comes from, and how it is kept fresh. */
@NullMarked
package io.espalier.server.config;

import org.jspecify.annotations.NullMarked;
