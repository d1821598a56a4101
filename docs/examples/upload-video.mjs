import { openAsBlob } from 'node:fs';

const authorization = `Basic ${btoa(`${process.env.KEY}:`)}`;

async function post(path, body, headers) {
  const response = await fetch(`http://localhost:8080${path}`, {
    method: 'POST',
    headers: { authorization, ...headers },
    body,
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

const { videoId } = await post('/videos', JSON.stringify({ title: 'My first video' }), {
  'content-type': 'application/json',
});
const form = new FormData();
form.set('file', await openAsBlob('film.mp4'), 'film.mp4');
const { assets } = await post(`/videos/${videoId}/source`, form);
console.log(videoId, assets.player);
