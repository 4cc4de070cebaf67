package io.espalier.thrift.rpc;

import io.espalier.core.protocol.Versions;
import io.espalier.thrift.gen.Greeting;
import io.espalier.thrift.gen.RefusalCode;
import io.espalier.thrift.gen.Refused;
import org.jspecify.annotations.Nullable;

/** The first call of each connection: who is there, what it speaks, and whether it is a member. */
final class Greetings {
  private Greetings() {}

  static Greeting of(PeerOptions us, PeerRole callee) {
    Greeting greeting =
        new Greeting(us.protocol().oldest(), us.protocol().newest(), us.program(), callee.word());
    greeting.setToken(us.security().secretText());
    return greeting;
  }

  /** Returns the newest version that both sides speak; there is one when there is no objection. */
  static int version(Greeting greeting, PeerOptions us) {
    return us.protocol().common(range(greeting)).orElse(0);
  }

  private static Versions range(Greeting greeting) {
    if (greeting.getOldestProtocol() < 1
        || greeting.getNewestProtocol() < greeting.getOldestProtocol()) {
      throw new IllegalArgumentException("no range");
    }
    return new Versions(greeting.getOldestProtocol(), greeting.getNewestProtocol());
  }

  /**
   * Returns why a caller is refused; null: it is not.
   *
   * @param role what the callee is
   */
  static @Nullable Refused objection(@Nullable Greeting greeting, PeerRole role, PeerOptions us) {
    if (greeting == null) {
      return new Refused(RefusalCode.BAD_MESSAGE, "an empty greeting");
    }
    // An unauthenticated peer learns nothing except that it was rejected.
    if (!us.security().accepts(greeting.getToken())) {
      return new Refused(
          RefusalCode.WRONG_TOKEN,
          greeting.getToken() == null
              ? "a token is needed here: give --token-file"
              : "the token is not the one of this " + role.word());
    }
    if (!role.word().equals(greeting.getCallee())) {
      return new Refused(
          RefusalCode.OTHER_ROLE, "this is a " + role.word() + ", not a " + greeting.getCallee());
    }
    Versions theirs;
    try {
      theirs = range(greeting);
    } catch (IllegalArgumentException e) {
      return new Refused(RefusalCode.BAD_MESSAGE, "its protocol versions are " + e.getMessage());
    }
    if (us.protocol().common(theirs).isEmpty()) {
      return new Refused(
          RefusalCode.OTHER_PROTOCOL,
          "this "
              + role.word()
              + " ("
              + us.program()
              + ") speaks protocol "
              + us.protocol()
              + ", the caller ("
              + greeting.getProgram()
              + ") speaks "
              + theirs
              + ": releases may be one apart");
    }
    return null;
  }
}
