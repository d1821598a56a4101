import hashlib
import hmac
import re
import time


def sign(secret, text):
    return hmac.new(secret.encode(), text, hashlib.sha256).hexdigest()


def is_genuine(headers, body, secret):
    """Checks that the server sent a request in the last five minutes. `body` is its raw bytes."""
    if not hmac.compare_digest(headers.get("X-Api-Video-Signature", ""), sign(secret, body)):
        return False
    parts = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", headers.get("Millrace-Signature", ""))
    if parts is None or abs(time.time() - int(parts[1])) > 300:
        return False
    return hmac.compare_digest(parts[2], sign(secret, parts[1].encode() + b"." + body))
