#!/usr/bin/env python3
"""A small service for the calls of plugin.json: each piece of work takes three seconds.

It answers one line with one line; src/main/java/example/LineCalls.java says which. An invocation
that it has got is not carried out again. It forgets all of them when it ends.
"""
import socketserver
import sys
import threading
import time

SECONDS = 3
lock = threading.Lock()
began = {}
cancelled = set()


def answer(verb, invocation):
    with lock:
        if verb == "start":
            began.setdefault(invocation, time.monotonic())
        if invocation not in began:
            return "unknown"
        pieces = int(time.monotonic() - began[invocation])
        if verb == "cancel" and pieces < SECONDS:
            cancelled.add(invocation)
        if invocation in cancelled:
            return "cancelled"
        return "ended done" if pieces >= SECONDS else f"running {pieces}"


class Handler(socketserver.StreamRequestHandler):
    def handle(self):
        words = self.rfile.readline(4096).decode(errors="replace").split()
        if len(words) < 2 or words[0] not in ("start", "poll", "cancel"):
            self.wfile.write(b"failed to understand: start, poll or cancel, and an invocation\n")
            return
        said = answer(words[0], words[1])
        print(" ".join(words), "->", said, flush=True)
        self.wfile.write(said.encode() + b"\n")


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 7070
    with Server(("127.0.0.1", port), Handler) as server:
        print(f"listens on 127.0.0.1:{port}", flush=True)
        server.serve_forever()
