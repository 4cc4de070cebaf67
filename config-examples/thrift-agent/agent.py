#!/usr/bin/python3
"""A small agent that tasks call over Thrift: agent.py LOG [CERTIFICATE KEY SECRET_FILE].

It prints "listening on PORT". With a certificate and its key it speaks TLS, and wants the secret with each request.

It works on each invocation once, for a fraction of a second, loses every tenth answer to a start,
and reports every second end by itself. Needs the modules that thrift makes of agent.thrift, and
Debian's python3-thrift.
"""

import hmac
import json
import sys
import threading
import time
import urllib.request

from espalier_agent import Agent
from espalier_agent.ttypes import Answer, State
from thrift.protocol import TBinaryProtocol
from thrift.server import TServer
from thrift.Thrift import TApplicationException
from thrift.transport import TSocket, TSSLSocket, TTransport


class Handler:
    """Carries out each invocation once, however often it is started."""

    def __init__(self, log, secret):
        self.log = log
        self.secret = secret
        self.lock = threading.Lock()
        self.answers = {}
        self.refused = set()
        self.starts = 0

    def knows(self, secret):
        return not self.secret or hmac.compare_digest(self.secret, secret or "")

    def start(self, start, secret):
        if not self.knows(secret):
            return Answer(State.REFUSED, message="another secret is wanted")
        with self.lock:
            if start.invocation in self.refused:
                return Answer(State.REFUSED, message="it was asked about before it came", retry_after_ms=1000)
            if start.invocation in self.answers:
                return self.answers[start.invocation]
            self.answers[start.invocation] = answer = Answer(State.RUNNING, progress='{"done": 0, "total": 1}')
            self.starts += 1
            loses = self.starts % 10 == 0
            reports = self.starts % 2 == 0
        threading.Thread(target=self.work, args=(start, reports), daemon=True).start()
        if loses:
            print("lost an answer", flush=True)
            raise TTransport.TTransportException(message="this answer is lost on purpose")
        return answer

    def poll(self, invocation, secret):
        if not self.knows(secret):
            raise TApplicationException(TApplicationException.UNKNOWN, "another secret is wanted")
        with self.lock:
            if invocation not in self.answers:
                self.refused.add(invocation)
                return Answer(State.NOT_FOUND, message="it never came")
            return self.answers[invocation]

    def cancel(self, invocation, secret):
        return self.poll(invocation, secret)  # It is over in a moment anyway.

    def work(self, start, reports):
        began = time.time()
        time.sleep(0.2 + hash(start.node) % 100 / 250)
        result = {"result": "done", "data": {"node": start.node}}
        with self.lock:
            self.answers[start.invocation] = Answer(State.ENDED, status=json.dumps(result))
            self.log.write(f"{start.node} {began:.3f} {time.time():.3f}\n")
            self.log.flush()
        if reports and start.callback:
            self.report(start.callback, result)

    @staticmethod
    def report(url, result):
        request = urllib.request.Request(url, json.dumps(result).encode(), {"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                print("reported", answer.status, flush=True)
        except OSError as e:  # Nobody listens any more, or somebody else was faster: it will be asked about.
            print("not reported", e, flush=True)


def main():
    log, *tls = sys.argv[1:]
    secret = ""
    listener = TSocket.TServerSocket("127.0.0.1", 0)
    if tls:
        certificate, key, secret_file = tls
        listener = TSSLSocket.TSSLServerSocket("127.0.0.1", 0, certfile=certificate, keyfile=key)
        with open(secret_file, encoding="utf-8") as file:
            secret = file.read().strip()
    handler = Handler(open(log, "a", encoding="utf-8"), secret)
    listener.listen()
    print("listening on", listener.handle.getsockname()[1], flush=True)
    listener.listen = lambda: None  # The server would bind another port.
    TServer.TThreadedServer(
        Agent.Processor(handler),
        listener,
        TTransport.TFramedTransportFactory(),
        TBinaryProtocol.TBinaryProtocolFactory(),
        daemon=True,
    ).serve()


if __name__ == "__main__":
    main()
