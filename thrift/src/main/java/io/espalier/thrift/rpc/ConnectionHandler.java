package io.espalier.thrift.rpc;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletionStage;

/**
 * What one connection is answered; a new one for each connection, called for one frame at a time.
 */
interface ConnectionHandler {
  /**
   * Answers a request.
   *
   * @return completes with the answer, on any thread; exceptionally: the connection is closed
   */
  CompletionStage<Answer> answer(byte[] request);

  /**
   * What goes back.
   *
   * @param greeted whether the peer is now known to be one of ours
   * @param last the connection is closed after it
   */
  record Answer(ByteBuffer frame, boolean greeted, boolean last) {}
}
