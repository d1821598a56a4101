import os

import requests

video_id = os.environ["VIDEO_ID"]
video = f"http://localhost:8080/videos/{video_id}"
session = requests.Session()
session.auth = (os.environ["KEY"], "")
piece_bytes = 50 * 1024 * 1024

# Run it again after an interruption: it continues with what is missing.
response = session.get(f"{video}/status")
response.raise_for_status()
ingest = response.json().get("ingest") or {"receivedBytes": []}
arrived = {piece["from"] for piece in ingest["receivedBytes"]}
total = os.path.getsize("film.mp4")
with open("film.mp4", "rb") as file:
    for start in range(0, total, piece_bytes):
        if start in arrived:
            continue
        file.seek(start)
        piece = file.read(piece_bytes)
        end = start + len(piece)
        response = session.post(
            f"{video}/source",
            headers={"Content-Range": f"bytes {start}-{end - 1}/{total}"},
            files={"file": ("film.mp4", piece)},
        )
        response.raise_for_status()
        print(f"{end} of {total} bytes")
