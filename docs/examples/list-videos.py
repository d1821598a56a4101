import os
from urllib.parse import urljoin

import requests

session = requests.Session()
session.auth = (os.environ["KEY"], "")
url = "http://localhost:8080/videos?pageSize=100"
while url:
    response = session.get(url)
    response.raise_for_status()
    page = response.json()
    for video in page["data"]:
        print(video["videoId"], video["title"])
    links = {link["rel"]: link["uri"] for link in page["pagination"]["links"]}
    url = "next" in links and urljoin(url, links["next"])
