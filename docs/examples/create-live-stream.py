import os

import requests

response = requests.post(
    "http://localhost:8080/live-streams",
    auth=(os.environ["KEY"], ""),
    json={"name": "My first stream"},
)
response.raise_for_status()
stream = response.json()
print(stream["liveStreamId"], stream["streamKey"], stream["assets"]["player"])
