"""A client with httpx, which offers HTTP/2: [--ca FILE] download|upload URL FILE."""
import argparse, sys
import httpx

parser = argparse.ArgumentParser()
parser.add_argument("--ca", help="trust this certificate")
parser.add_argument("task")
parser.add_argument("url")
parser.add_argument("file")
args = parser.parse_args()
try:
    with httpx.Client(http2=True, verify=args.ca or True, timeout=5, follow_redirects=True, trust_env=False) as client:
        if args.task == "download":
            with client.stream("GET", args.url) as response, open(args.file, "wb") as file:
                response.raise_for_status()
                for part in response.iter_raw():
                    file.write(part)
        elif args.task == "upload":
            with open(args.file, "rb") as file:
                client.put(args.url, content=file.read()).raise_for_status()
except (OSError, httpx.HTTPError, httpx.InvalidURL) as error:
    sys.exit(f"httpx: {type(error).__name__}: {error}")
