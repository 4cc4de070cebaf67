package io.espalier.webui.security;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Parses the text form of {@link Tokens}: one line per token, {@code NAME ROLE TOKEN}. See
 * docs/security.md.
 */
public final class TokensFile {
  private static final int MAX_BYTES = 1 << 20;
  private static final int LEAST_TOKEN = 16;
  private static final int MOST_TOKEN = 512;
  private static final String HASH = "sha256:";
  private static final String CERTIFICATE = "cert:";
  private static final String SIGN_ON = "sso";
  private static final String PROXY = "proxy";
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._@-]{0,63}");

  private static final Pattern SHA256 = Pattern.compile("[0-9a-f]{64}");

  /** The characters allowed in an {@code Authorization} header (RFC 6750, section 2.1). */
  private static final Pattern TOKEN = Pattern.compile("[A-Za-z0-9._~+/-]+=*");

  private final Path file;
  private final List<String> problems = new ArrayList<>();
  private final List<Tokens.Entry> entries = new ArrayList<>();
  private final Map<String, String> roles = new HashMap<>();
  private final Set<String> proxies = new HashSet<>();
  private final Map<String, Integer> lines = new HashMap<>();

  private TokensFile(Path file) {
    this.file = file;
  }

  /** Thrown when a file cannot be used. */
  public static final class Unusable extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient List<String> problems;

    Unusable(List<String> problems) {
      super(String.join("; ", problems));
      this.problems = List.copyOf(problems);
    }

    /** Returns all problems, each with file and line; none contains a token. */
    public List<String> problems() {
      return problems == null ? List.of() : problems;
    }
  }

  /**
   * Reads a file.
   *
   * @throws Unusable with every problem at once
   */
  public static Tokens read(Path file) throws Unusable {
    byte[] bytes;
    try {
      requirePrivate(file);
      if (Files.size(file) > MAX_BYTES) {
        throw new Unusable(List.of(file + " is larger than " + MAX_BYTES + " bytes"));
      }
      bytes = Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new Unusable(List.of("there is no file " + file));
    } catch (IOException e) {
      throw new Unusable(List.of("cannot read " + file + ": " + e.getMessage()));
    }
    try {
      return parse(
          file, StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException e) {
      throw new Unusable(List.of(file + " is not in UTF-8"));
    }
  }

  /**
   * Refuses a file that others can read or write, because its tokens may be plain text.
   *
   * @throws Unusable with the remedy
   */
  public static void requirePrivate(Path file) throws IOException, Unusable {
    if (!file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return;
    }
    Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(file);
    if (permissions.contains(PosixFilePermission.OTHERS_READ)
        || permissions.contains(PosixFilePermission.OTHERS_WRITE)
        || permissions.contains(PosixFilePermission.GROUP_WRITE)) {
      throw new Unusable(
          List.of(file + " can be read by all or written by others: chmod 600 " + file));
    }
  }

  /**
   * Parses the text of a file.
   *
   * @param file for messages
   * @throws Unusable with every problem at once
   */
  static Tokens parse(Path file, String text) throws Unusable {
    TokensFile parsing = new TokensFile(file);
    int number = 0;
    for (String line : text.split("\r?\n", -1)) {
      number++;
      String trimmed = line.strip();
      if (!trimmed.isEmpty() && !trimmed.startsWith("#")) {
        parsing.line(number, trimmed);
      }
    }
    if (parsing.entries.isEmpty() && parsing.problems.isEmpty()) {
      parsing.problems.add(file + " names nobody: lines are NAME ROLE TOKEN");
    }
    if (!parsing.problems.isEmpty()) {
      throw new Unusable(parsing.problems);
    }
    return new Tokens(parsing.entries, parsing.proxies);
  }

  private void line(int number, String line) {
    String[] parts = line.split("\\s+", 3);
    if (parts.length < 3) {
      // Does not quote the line: the name may be missing, and then this is a token.
      problem(number, "expected NAME ROLE TOKEN, separated by blanks");
      return;
    }
    String name = parts[0];
    if (!NAME.matcher(name).matches()) {
      problem(
          number, "the name must be 1 to 64 letters, digits or . _ @ -, a letter or digit first");
      return;
    }
    if (name.equals(Principal.ANONYMOUS)) {
      problem(number, "the name " + name + " is that of those without a token; take another");
    }
    Principal principal = principal(name, parts[1]);
    if (principal == null) {
      problem(
          number,
          "the role of "
              + name
              + " must be viewer, operator or admin, operator@QUEUE or, of a proxy that says who"
              + " asks, proxy");
    } else if (!roles.computeIfAbsent(name, unused -> parts[1]).equals(parts[1])) {
      problem(number, name + " has another role above: one name has one role");
    }
    Tokens.Proof proof = proof(number, name, parts[2]);
    if (parts[1].equals(PROXY)) {
      proxies.add(name);
      if (proof instanceof Tokens.SignOn) {
        problem(number, "the proxy " + name + " needs a token or a certificate");
      }
    }
    if (proof != null && principal != null) {
      entries.add(new Tokens.Entry(principal, proof));
    }
  }

  private static @Nullable Principal principal(String name, String role) {
    if (role.equals(PROXY)) {
      return new Principal(name, Role.VIEWER, true);
    }
    if (role.startsWith(Principal.OF_QUEUES)) {
      List<String> queues = List.of(role.substring(Principal.OF_QUEUES.length()).split(",", -1));
      return queues.contains("")
          ? null
          : new Principal(name, Role.VIEWER, true, new HashSet<>(queues));
    }
    return Role.of(role).map(known -> new Principal(name, known, true)).orElse(null);
  }

  private Tokens.@Nullable Proof proof(int number, String name, String secret) {
    if (secret.equals(SIGN_ON)) {
      return once(number, SIGN_ON + ":" + name) ? new Tokens.SignOn() : null;
    }
    if (secret.startsWith(CERTIFICATE)) {
      try {
        X500Principal subject = new X500Principal(secret.substring(CERTIFICATE.length()).strip());
        return once(number, "cert:" + subject.getName(X500Principal.CANONICAL))
            ? new Tokens.Subject(subject)
            : null;
      } catch (IllegalArgumentException e) {
        problem(number, "cert: of " + name + " must be followed by a subject such as CN=" + name);
        return null;
      }
    }
    String hash;
    if (secret.startsWith(HASH)) {
      hash = secret.substring(HASH.length()).toLowerCase(Locale.ROOT);
      if (!SHA256.matcher(hash).matches()) {
        problem(number, "sha256: of " + name + " must be followed by 64 hexadecimal digits");
        return null;
      }
    } else if (secret.length() < LEAST_TOKEN
        || secret.length() > MOST_TOKEN
        || !TOKEN.matcher(secret).matches()) {
      problem(
          number,
          "the token of "
              + name
              + " must be "
              + LEAST_TOKEN
              + " to "
              + MOST_TOKEN
              + " letters, digits or . _ ~ + / -; openssl rand -hex 32 makes one");
      return null;
    } else {
      hash = Tokens.sha256(secret);
    }
    return once(number, hash) ? new Tokens.Hash(hash) : null;
  }

  private boolean once(int number, String proof) {
    Integer before = lines.putIfAbsent(proof, number);
    if (before != null) {
      problem(number, "line " + before + " has the same token or certificate");
    }
    return before == null;
  }

  private void problem(int number, String text) {
    problems.add(file + ":" + number + ": " + text);
  }
}
