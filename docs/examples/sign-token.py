import base64
import json

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, utils


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sign_token(signing_key_id, private_key, claims):
    header = {"alg": "ES256", "kid": signing_key_id}
    text = ".".join(encode(json.dumps(part).encode()) for part in (header, claims))
    key = serialization.load_pem_private_key(private_key.encode(), None)
    signature = key.sign(text.encode(), ec.ECDSA(hashes.SHA256()))
    r, s = utils.decode_dss_signature(signature)
    return f"{text}.{encode(r.to_bytes(32, 'big') + s.to_bytes(32, 'big'))}"
