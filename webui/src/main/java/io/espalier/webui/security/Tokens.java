package io.espalier.webui.security;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.security.auth.x500.X500Principal;

/** Maps tokens and client certificates to principals. Immutable; never prints a token. */
public final class Tokens {
  /** The way in which a principal authenticates. */
  sealed interface Proof {}

  /** SHA-256 of a token, as 64 hexadecimal digits in lower case. */
  record Hash(String sha256) implements Proof {}

  /** Subject of a client certificate. */
  record Subject(X500Principal subject) implements Proof {}

  /** A trusted proxy says that it is this principal. */
  record SignOn() implements Proof {}

  public record Entry(Principal principal, Proof proof) {}

  private final List<Entry> entries;
  private final Set<String> proxies;

  Tokens(List<Entry> entries) {
    this(entries, Set.of());
  }

  /**
   * @param proxies names of the principals that say who asks, and have no role of their own
   */
  Tokens(List<Entry> entries, Set<String> proxies) {
    this.entries = List.copyOf(entries);
    this.proxies = Set.copyOf(proxies);
  }

  /** Returns true for a principal that only passes on requests of people that it has identified. */
  public boolean isProxy(Principal principal) {
    return proxies.contains(principal.name());
  }

  /** Returns the principal of a person that a trusted proxy has identified. */
  public Optional<Principal> ofSignOn(String name) {
    for (Entry entry : entries) {
      if (entry.proof() instanceof SignOn && entry.principal().name().equals(name)) {
        return Optional.of(entry.principal());
      }
    }
    return Optional.empty();
  }

  /** Returns the number of known tokens and certificates. */
  public int size() {
    return entries.size();
  }

  /**
   * Returns the principal of a token. It compares the hash with all known hashes completely, so
   * that the time does not depend on the offered token.
   */
  public Optional<Principal> ofToken(String offered) {
    byte[] hash = ascii(sha256(offered));
    Optional<Principal> found = Optional.empty();
    for (Entry entry : entries) {
      if (entry.proof() instanceof Hash known
          && MessageDigest.isEqual(ascii(known.sha256()), hash)) {
        found = Optional.of(entry.principal());
      }
    }
    return found;
  }

  /**
   * Returns the principal of a certificate, whose validity was checked during the TLS handshake.
   */
  public Optional<Principal> ofCertificate(X500Principal subject) {
    for (Entry entry : entries) {
      if (entry.proof() instanceof Subject known && known.subject().equals(subject)) {
        return Optional.of(entry.principal());
      }
    }
    return Optional.empty();
  }

  private static byte[] ascii(String hex) {
    return hex.getBytes(StandardCharsets.US_ASCII);
  }

  static String sha256(String text) {
    try {
      return HexFormat.of()
          .formatHex(
              MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return entries.size() + " tokens and certificates";
  }
}
