#!/usr/bin/env python3
"""receiver.py KEY_FILE FILE: a receiver of notifications on loopback; prints its port.

Checks the signature of each, and appends its body to the file as a line, each id once.
"""
import hashlib
import hmac
import http.server
import json
import sys

key = open(sys.argv[1], "rb").read().strip()
told = open(sys.argv[2], "a")
seen = set()


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = dict(part.split("=", 1) for part in self.headers["Espalier-Signature"].split(","))
        expected = hmac.new(key, signature["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
        is_genuine = hmac.compare_digest(expected, signature["v1"])
        if is_genuine and json.loads(body)["id"] not in seen:
            seen.add(json.loads(body)["id"])
            print(json.dumps(json.loads(body)), file=told, flush=True)
        self.send_response(204 if is_genuine else 403)
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
print("listening on", server.server_port, flush=True)
server.serve_forever()
