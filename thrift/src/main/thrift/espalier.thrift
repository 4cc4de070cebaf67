// The protocol between a scheduler and its workers. What the messages mean, and why a task never
// runs twice, is argued in PROTOCOL.md; the comments here say what each call does when it fails,
// half fails, comes late, twice or out of order.
//
// Transport: framed, compact, TCP, with or without TLS. The worker opens the connection. The first
// call on it is greet; until that has been answered well nothing else is. Then the worker calls
// SchedulerService, and since protocol 2 the scheduler calls WorkerService on the same connection;
// several calls may be under way in each direction, and an answer has the sequence id of its call.
// In protocol 1 the scheduler opened connections to the worker's address for that.
//
// Compatibility: fields and methods are only added, numbers never reused, nothing is required. A
// release talks to the one before it: see Greeting.
//
// Times are epoch milliseconds by the clock of the sender; durations are milliseconds.
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

// ---- what is talked about -------------------------------------------------------------------------

struct WireWorker {
  1: string shard         // the name under which a worker is known and may be replaced
  2: i64 instance         // random, drawn when its process starts
}

// One attempt to run one task. (epoch, sequence) is the fencing token.
struct WireRun {
  1: string job
  2: string node
  3: i64 epoch
  4: i64 sequence
  5: i64 startMillis
}

struct WireVersions {
  1: i32 oldest
  2: i32 newest
}

// Of the worker's host or container, for people; a figure that the worker does not know is absent.
struct WireHostFigures {
  1: optional i32 loadThousandths      // load average of the last minute
  2: optional i64 memoryTotalBytes
  3: optional i64 memoryAvailableBytes
  4: optional i64 diskTotalBytes       // the file system of its data directory
  5: optional i64 diskFreeBytes
}

struct WireFacts {
  1: string host
  2: string address       // where the worker listens, HOST:PORT; empty: nowhere (protocol 2)
  3: i32 maxTasks
  4: map<string, i64> physical
  5: WireVersions versions
  6: set<string> capabilities
  7: map<string, string> labels   // absent from workers of releases before them
  8: optional i32 cpuInUse        // thousandths of its own capacity, measured; absent: not known
  9: optional i32 memoryInUse
  10: optional WireHostFigures figures // absent from workers of releases before them
}

struct WireUsage {        // -1: not known
  1: i64 cpuMillis
  2: i64 peakMemoryBytes
  3: i64 readBytes
  4: i64 writtenBytes
  5: i64 memoryBytes = -1 // held now
  6: list<string> gpus    // used now
}

struct WireKill {
  1: string method        // term, term_wait_kill, kill
  2: i32 waitMillis
}

// ---- worker to scheduler --------------------------------------------------------------------------

struct WireHeartbeat {
  1: WireWorker worker
  2: i64 number
  3: i64 epoch
  4: i64 session          // 0: register me
  5: WireFacts facts
  6: bool draining
  7: bool healthy
  8: string note
  9: i32 running
  10: i32 unsettled
  11: list<WireRun> runs
  12: list<i64> cleared
  13: optional string storeId // of the store that this process has served
}

enum WireHeartbeatVerdict {
  ACCEPTED = 1
  REGISTER_AGAIN = 2
  STOP_ALL = 3
  REFUSED = 4
  NOT_LEADER = 5
}

struct WireHeartbeatAnswer {
  1: i64 number
  2: WireHeartbeatVerdict verdict
  3: i64 epoch
  4: i64 session
  5: i32 version
  6: map<string, i64> timers  // by name, in milliseconds; unknown names are ignored
  7: bool drain
  8: string message
  9: optional string storeId  // of the store that the scheduler serves
}

enum WireEndKind {
  EXITED = 1
  KILLED = 2
  START_FAILED = 3
  NOT_STARTED = 4
  LOST = 5
  CALL_FAILED = 6
  OUTCOME_UNKNOWN = 7
}

struct WireEnd {
  1: WireRun run
  2: WireEndKind kind
  3: optional string rawStatus
  4: optional i32 exitCode
  5: optional i32 signal
  6: optional string message
  7: optional string stopReason
  8: bool coreDumped
  9: optional WireUsage usage
  10: i64 endedAtMillis
  11: i64 retryAfterMillis
  12: optional i64 startedAtMillis // by the clock of the worker's host; of its process or call
  13: optional map<string, i64> counters // since its start
}

struct WireProgress {
  1: WireRun run
  2: optional i64 done
  3: optional i64 total
  4: optional string cursor
  5: string json
}

// What a live task has counted since its start: said again as a whole, so that nothing is counted twice.
struct WireCounters {
  1: WireRun run
  2: map<string, i64> values
}

// How a live call was last asked about.
struct WirePoll {
  1: WireRun run
  2: i64 atMillis // by the clock of the worker's host
  3: string answer
  4: i64 nextMillis // 0: it is not asked again
}

struct WireSample {
  1: WireRun run
  2: WireUsage usage
}

struct WireReport {
  1: WireWorker worker
  2: i64 number
  3: list<WireEnd> ends
  4: list<WireProgress> progress
  5: list<WireSample> usage
  6: optional string storeId
  7: optional list<WireCounters> counters
  8: optional list<WirePoll> polls
}

struct WireReportAnswer {
  1: i64 number
  2: bool accepted
  3: list<WireRun> settled
}

service SchedulerService extends Peer {
  // "I am here", and with session 0 "register me". An accepted answer renews the lease from the moment the heartbeat was SENT.
  // Failure, delay: the lease goes on to run out; the next heartbeat says everything again.
  // Replay, order: numbers grow; what is not newer than the newest seen is ignored, an answer to another number than the one
  // under way too. Identity: shard and instance name the process, the session its registration, the epoch the leadership.
  // Partial failure: there is none, one heartbeat is acted upon as a whole or not at all.
  WireHeartbeatAnswer heartbeat(1: WireHeartbeat heartbeat) throws (1: Refused refused)

  // What tasks said and how they ended: facts, which need no session. The answer names the ends that are durable.
  // Failure, delay, partial failure: an end is sent again, with growing pauses, until it is settled, by an answer here or by a
  // Work that names it; so nothing acknowledged is lost, and nothing lost was acknowledged. Progress is sent again until
  // it is answered, and with each copy of the end of its task; samples are sent once.
  // Replay, order: ends are idempotent by their run; the first one counts, a copy is settled at once.
  WireReportAnswer report(1: WireReport report) throws (1: Refused refused)
}

// ---- scheduler to worker --------------------------------------------------------------------------

struct WireCgroups {
  1: string root
  2: string slice
  3: list<string> subsystems
  4: bool killWithoutFreezer
}

struct WireAttributes {
  1: optional i32 umask
  2: optional i32 nice
  3: optional string ioClass
  4: optional i32 ioLevel
  5: optional string runAsUser
  6: optional string runAsGroup
}

struct WireCgroupLimits {
  1: optional i64 memoryMb
  2: optional i64 memorySwapMb
  3: optional i32 cpuWeight
  4: optional i32 cpuQuotaPercent
  5: optional i32 pidsMax
  6: optional i32 ioWeight
  7: bool enforced
}

struct WireSubprocess {
  1: i32 pollMillis
  2: i32 maxLogLinesPerPollInterval
  3: i32 parentDeathSignal
  4: bool processGroupLeader
  5: bool useCanaryPipe
  6: WireCgroups cgroups
  7: WireAttributes attributes
  8: list<string> passedVariables
  9: map<string, string> setVariables
  10: WireCgroupLimits limits
}

// What the worker keeps of the output of a job, from this start on and until another start says something else.
struct WireLogOptions {
  1: optional i32 retentionDays
  2: optional i64 maxMb
  3: list<string> redact  // regular expressions: what they find is never stored
}

// What many starts of a batch have in common.
struct WireRecipe {
  1: list<string> command
  2: string statusFrom
  3: WireSubprocess subprocess
  4: WireKill kill
  5: map<string, i32> workerSlots
  6: WireLogOptions logs
}

struct WireStart {
  1: WireRun run
  2: i32 attempt
  3: i32 recipe           // index into the recipes of the batch
  4: string argument      // the task's JSON argument, as text
  5: i64 timeoutMillis
  6: i64 noOutputMillis
  7: i64 deadlineMillis
  8: optional string call // the call of a service that the task is, as JSON; unset: a process
  9: optional i64 batch   // consecutive starts with the same number are one batch; unset: alone
}

// How fast a task is to work: 1 at full speed, 0 not at all for now.
struct WireThrottle {
  1: double ratio = 1
  2: string reason
}

struct WireOrder {
  1: WireRun run
  2: i64 number
  3: optional WireKill kill
  4: i64 extendMillis
  5: optional WireThrottle throttle // unknown to workers of releases before it
  6: optional bool recall // end it as never started if it has not begun; for workers that can "recall"
}

struct WireWork {
  1: i64 epoch
  2: i64 session
  3: WireWorker worker
  4: i64 number
  5: list<WireRecipe> recipes
  6: list<WireStart> starts
  7: list<WireOrder> orders
  8: list<WireRun> asks
  9: list<WireRun> settled
}

enum WireWorkVerdict {
  DONE = 1
  OLD = 2
  STALE = 3
}

struct WireStartRefusal {
  1: i32 start            // index into the starts of the batch; all others were accepted
  2: string reason
  3: i64 retryAfterMillis
}

enum WireRunState {
  RUNNING = 1
  ENDED = 2
  NOT_RUNNING = 3
}

struct WireWorkAnswer {
  1: i64 number
  2: WireWorkVerdict verdict
  3: i64 epoch
  4: i32 starts           // how many starts were answered: all of the batch, or 0
  5: list<WireStartRefusal> refusals
  6: list<WireRunState> asked
}

struct WireLogQuery {
  1: list<string> streams // stdout, stderr, statuses
  2: list<string> jobs    // empty: any, as with nodes and invocation
  3: list<string> nodes
  4: string invocation
  5: i64 fromId           // -1: from the end of the range
  6: bool ascending
  7: i32 limit
  8: i64 sinceMillis
  9: i64 untilMillis
  10: string regex
}

struct WireLogLine {
  1: i64 id
  2: string stream
  3: string job
  4: string node
  5: string invocation
  6: i64 timeMillis
  7: string text
}

struct WireLogPage {
  1: list<WireLogLine> lines
  2: i64 nextId
}

service WorkerService extends Peer {
  // Everything there is to say to a worker in one round trip: starts, orders, questions, settled ends. At most one is under way
  // per worker.
  // Failure, delay: a batch that was not answered may or may not have been acted upon. Its starts are never sent again: the next
  // batch asks what became of them. Orders and settled ends are repeated.
  // Replay, order: a worker acts upon a batch only if its number is above all that it has seen in its session; "not running" is
  // therefore binding. Identity: epoch, session and worker must be the ones that the worker has registered with.
  // Partial failure: each start is answered by itself; the answers of a batch that is DONE are final.
  WireWorkAnswer work(1: WireWork work) throws (1: Refused refused)

  // A page of the worker's own log store. Changes nothing; may be repeated at will; needs no session.
  WireLogPage logs(1: WireLogQuery query) throws (1: Refused refused)
}
