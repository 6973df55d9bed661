"""python3 server.py PORT: answers every request with the number of words in a text."""

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from words import count

TEXT = "to be or not to be " * 100


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self):
        body = str(count(TEXT)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        pass


class Server(ThreadingHTTPServer):
    def handle_error(self, request, client_address):
        pass


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
