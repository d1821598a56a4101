import os

import requests

video_id = os.environ["VIDEO_ID"]
with open("fr.vtt", "rb") as file:
    response = requests.post(
        f"http://localhost:8080/videos/{video_id}/captions/fr",
        auth=(os.environ["KEY"], ""),
        files={"file": file},
    )
response.raise_for_status()
print(response.json()["uri"])
