package io.espalier.core.config.task;

import java.util.Optional;

/**
 * The files of TLS to a service, by absolute paths, in PEM. The process that makes the call reads
 * them.
 *
 * @param caFile the authorities, one of which must have issued the certificate of the service;
 *     empty: those that Java trusts
 * @param certFile the certificate that is shown to the service, with its chain; empty: none
 * @param keyFile the key of that certificate, unencrypted; there are both or neither
 */
public record CallTls(
    Optional<String> caFile, Optional<String> certFile, Optional<String> keyFile) {
  /** TLS with the authorities that Java trusts. */
  public static final CallTls USUAL =
      new CallTls(Optional.empty(), Optional.empty(), Optional.empty());
}
