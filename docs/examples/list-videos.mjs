const headers = { authorization: `Basic ${btoa(`${process.env.KEY}:`)}` };

let url = 'http://localhost:8080/videos?pageSize=100';
while (url !== undefined) {
  const response = await fetch(url, { headers });
  if (!response.ok) throw new Error(await response.text());
  const { data, pagination } = await response.json();
  for (const { videoId, title } of data) console.log(videoId, title);
  const next = pagination.links.find(({ rel }) => rel === 'next');
  url = next && new URL(next.uri, url).href;
}
