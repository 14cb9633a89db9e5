"""Runs pyftpdlib for the interop tests:

    python3 serve_pyftpdlib.py HOST PORT ROOT [explicit PEM]

PEM has the certificate and its key. The account is lab, with the password secret; anonymous may log
in too.
"""

import logging
import sys

from pyftpdlib.authorizers import DummyAuthorizer
from pyftpdlib.handlers import FTPHandler
from pyftpdlib.servers import FTPServer

host, port, root = sys.argv[1:4]
if len(sys.argv) > 4:
    from pyftpdlib.handlers import TLS_FTPHandler as Handler

    Handler.certfile = sys.argv[5]
else:
    Handler = FTPHandler
logging.basicConfig(level=logging.WARNING)
Handler.authorizer = DummyAuthorizer()
Handler.authorizer.add_user("lab", "secret", root, perm="elradfmwMT")
Handler.authorizer.add_anonymous(root)
FTPServer((host, int(port)), Handler).serve_forever()
