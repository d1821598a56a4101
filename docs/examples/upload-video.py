import os

import requests

server = "http://localhost:8080"
session = requests.Session()
session.auth = (os.environ["KEY"], "")

response = session.post(f"{server}/videos", json={"title": "My first video"})
response.raise_for_status()
video_id = response.json()["videoId"]

with open("film.mp4", "rb") as file:
    response = session.post(f"{server}/videos/{video_id}/source", files={"file": file})
response.raise_for_status()
print(video_id, response.json()["assets"]["player"])
