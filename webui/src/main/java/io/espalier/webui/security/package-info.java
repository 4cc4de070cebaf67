/** Authorisation of HTTP callers and the audit log, independent of HTTP itself. */
@NullMarked
package io.espalier.webui.security;

import org.jspecify.annotations.NullMarked;
