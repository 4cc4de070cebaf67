/** Reads the configuration from its sources and keeps it up to date. */
@NullMarked
package io.espalier.server.config;

import org.jspecify.annotations.NullMarked;
