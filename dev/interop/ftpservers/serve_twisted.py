"""Runs the FTP server of Twisted for the interop tests:

    python3 serve_twisted.py HOST PORT ROOT

The account is lab, with the password secret, and may write; anonymous may read.
"""

import sys

from twisted.cred.checkers import AllowAnonymousAccess, InMemoryUsernamePasswordDatabaseDontUse
from twisted.cred.portal import Portal
from twisted.internet import reactor
from twisted.protocols.ftp import BaseFTPRealm, FTPFactory
from twisted.python.filepath import FilePath

host, port, root = sys.argv[1:4]


class Realm(BaseFTPRealm):
    def getHomeDirectory(self, user):
        return FilePath(root)


accounts = InMemoryUsernamePasswordDatabaseDontUse()
accounts.addUser("lab", "secret")  # its FTP server passes text, although the database wants octets
checkers = [AllowAnonymousAccess(), accounts]
reactor.listenTCP(int(port), FTPFactory(Portal(Realm(root), checkers)), interface=host)
reactor.run()
