package io.espalier.worker.call;

import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import java.util.List;
import java.util.Optional;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/** Says in plain words why there is no TLS connection to a service. */
final class TlsFailures {
  private static final List<String> OTHER_HOST =
      List.of("No subject alternative", "No name matching");

  /** The alerts with which a service answers our certificate, or that we have none. */
  private static final List<String> OF_OUR_CERTIFICATE =
      List.of("certificate", "unknown_ca", "access_denied", "handshake_failure");

  private TlsFailures() {}

  /**
   * Returns what a failure means, if TLS failed before the service got a request.
   *
   * @return empty when it is no failure of that kind
   */
  static Optional<String> message(@Nullable Throwable failure) {
    Throwable deepest = null;
    boolean isTls = false;
    for (Throwable each = failure; each != null; each = each.getCause()) {
      String said = String.valueOf(each.getMessage());
      isTls |= each instanceof SSLException;
      if (each instanceof CertificateExpiredException
          || each instanceof CertificateNotYetValidException) {
        return Optional.of("the certificate of the service is not valid now: " + said);
      }
      if (each instanceof CertificateException && OTHER_HOST.stream().anyMatch(said::startsWith)) {
        return Optional.of("the certificate of the service is for another host: " + said);
      }
      if (isOfNoTls(each)) {
        return Optional.of("the service does not speak TLS");
      }
      if (each instanceof SSLException && said.startsWith("handshake timed out")) {
        return Optional.of("the service does not answer the TLS handshake");
      }
      if (each instanceof SSLException
          && said.contains("Received fatal alert")
          && OF_OUR_CERTIFICATE.stream().anyMatch(said::contains)) {
        return Optional.of("the service wants a certificate that it trusts from us: " + said);
      }
      deepest = each;
    }
    if (deepest instanceof CertPathBuilderException
        || deepest instanceof CertPathValidatorException) {
      return Optional.of(
          "the certificate of the service is of no authority that is trusted (set \"ca_file\" in"
              + " \"tls\"): "
              + deepest.getMessage());
    }
    return isTls && deepest != null
        ? Optional.of("no TLS connection: " + deepest.getMessage())
        : Optional.empty();
  }

  /** Returns whether the first bytes of the service were no TLS, so that nothing was sent to it. */
  static boolean isOfNoTls(Throwable failure) {
    String said = String.valueOf(failure.getMessage());
    return failure instanceof SSLException
        && (said.contains("recognized SSL message") || said.startsWith("not an SSL/TLS record"));
  }
}
