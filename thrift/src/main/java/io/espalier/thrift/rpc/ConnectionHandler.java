package io.espalier.thrift.rpc;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;

/**
 * Answers the requests of one connection. Each connection has its own handler, which receives one
 * frame at a time.
 */
interface ConnectionHandler {
  /**
   * Answers a request.
   *
   * @return stage that completes with the answer, on any thread; an exceptional completion closes
   *     the connection
   */
  CompletionStage<Answer> answer(byte[] request);

  /**
   * An answer to send.
   *
   * @param greeted true once the peer is known to be a member
   * @param last true when the connection closes after this answer
   */
  record Answer(ByteBuffer frame, boolean greeted, boolean last) {}
}
