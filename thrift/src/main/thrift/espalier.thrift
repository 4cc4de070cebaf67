// The protocol between a scheduler and its workers. What the messages mean, and why a task never
// runs twice, is argued in PROTOCOL.md; the comments here say what each call does when it fails,
// half fails, comes late, twice or out of order.
//
// Transport: framed, compact, TCP, with or without TLS; one request at a time per connection. The
// first call on every connection is greet; until it has been answered well nothing else is.
//
// Compatibility: fields and methods are only added, numbers never reused, nothing is required. A
// release talks to the one before it: see Greeting.
//
// Times are epoch milliseconds by the clock of whoever says them; durations are milliseconds.
// 0 and the empty string mean "none" unless something else is said.

namespace java io.espalier.thrift.gen

// ---- who is there ---------------------------------------------------------------------------------

struct Greeting {
  1: i32 oldestProtocol   // the range that the caller speaks
  2: i32 newestProtocol
  3: string program       // for people: "espalier 0.1.0"
  4: string callee        // what the caller takes us for: "scheduler" or "worker"
  5: optional string token
}

struct Greeted {
  1: i32 protocol         // the newest that both speak; both keep to it on this connection
  2: string program
}

enum RefusalCode {
  WRONG_TOKEN = 1
  OTHER_PROTOCOL = 2      // the ranges have nothing in common
  OTHER_ROLE = 3          // the callee is not what the caller takes it for
  NOT_GREETED = 4
  BAD_MESSAGE = 5         // nothing of it was acted upon
  NOT_LEADER = 6          // the scheduler is not (or no longer) in charge; ask again later
  SHUTTING_DOWN = 7
}

exception Refused {
  1: RefusalCode code
  2: string message
}

service Peer {
  // Failure: the connection is useless and closed. Changes nothing, so it may be repeated at will.
  Greeted greet(1: Greeting greeting) throws (1: Refused refused)
}
