"""A client with Python's nntplib: TASK URL [FILE]. nntp URLs are nntp://HOST:PORT/GROUP/NUMBER, news
URLs news://HOST:PORT/MESSAGE-ID."""
import nntplib, sys
from urllib.parse import unquote, urlsplit

task, url = sys.argv[1], urlsplit(sys.argv[2])
group, _, number = unquote(url.path[1:]).partition("/")
try:
    with nntplib.NNTP(url.hostname, url.port, timeout=5) as server:
        if task == "download":
            if url.scheme == "nntp":
                server.group(group)
            with open(sys.argv[3], "wb") as file:
                server.article(number if url.scheme == "nntp" else f"<{group}>", file=file)
        elif task == "list":
            _, _, first, last, _ = server.group(group)
            for number, _ in server.over((first, last))[1]:
                print(number)
        elif task == "upload":
            with open(sys.argv[3], "rb") as file:
                server.post(file)
except (nntplib.NNTPError, OSError, EOFError, ValueError) as error:
    sys.exit(f"nntplib: {error!r}")
