/** Tests of tokens and of the audit log. */
@NullMarked
package io.espalier.webui.security;

import org.jspecify.annotations.NullMarked;
