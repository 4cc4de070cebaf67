/**
 * What a service offers that tasks call over Thrift (docs/calls.md#calls-over-thrift): framed
 * transport, binary protocol, one request per connection, at most 64 KiB per message, in the clear
 * or over TLS.
 *
 * An invocation is carried out once, however often it is started: `start` of one that is known
 * answers with its state. `poll` and `cancel` may come before their `start` does; with
 * `not_found: never_started` such an invocation must be refused from then on.
 */

namespace java io.espalier.agent
namespace py espalier_agent

/** The state of an invocation. */
enum State {
  /** It goes on; `progress` may say how far it is. */
  RUNNING = 1,
  /** It has ended; `status` says how. */
  ENDED = 2,
  /** It was cancelled, and nothing of it runs or will run. */
  CANCELLED = 3,
  /** It has failed, and nothing of it runs or will run; `message` says why. */
  FAILED = 4,
  /** Nothing of it was carried out or will be; it may be tried again after `retry_after_ms`. */
  REFUSED = 5,
  /** It is not known. */
  NOT_FOUND = 6
}

struct Start {
  /** Names the invocation; unique for ever. */
  1: required string invocation
  2: required string job
  3: required string node
  /** EPOCH.NUMBER, which grows with each start of the task. */
  4: required string token
  5: required i32 attempt
  /** The JSON argument that a process would get. */
  6: required string argument
  /** Names the task, the same for all attempts; empty unless its calls are idempotent. */
  7: required string key
  /** Where the end may be reported (docs/calls.md#callbacks); empty: nowhere. It is secret. */
  8: required string callback
}

struct Answer {
  1: required State state
  /** ENDED: a status as tasks write it, `done` or a JSON object with `result`; empty: done. */
  2: optional string status
  /** RUNNING: a JSON object. */
  3: optional string progress
  /** FAILED, REFUSED, NOT_FOUND: why. */
  4: optional string message
  /** REFUSED: when to try again; 0: the task is at fault, and its back-off counts. */
  5: optional i64 retry_after_ms
}

/**
 * `secret` is the text of the file that `secret_file` of the job names, and tells the agent who
 * calls; there is none without that key. An agent that wants another secret answers REFUSED to
 * `start`, and fails otherwise.
 */
service Agent {
  /** Begins an invocation. The connection may end before the answer: then `poll` follows. */
  Answer start(1: Start start, 2: string secret)

  /** Tells the state of an invocation; changes nothing. */
  Answer poll(1: string invocation, 2: string secret)

  /** Ends an invocation; may be repeated, and answers RUNNING until that is done. */
  Answer cancel(1: string invocation, 2: string secret)
}
