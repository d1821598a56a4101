import { openAsBlob } from 'node:fs';

const videoId = process.env.VIDEO_ID;
const video = `http://localhost:8080/videos/${videoId}`;
const authorization = `Basic ${btoa(`${process.env.KEY}:`)}`;
const pieceBytes = 50 * 1024 * 1024;

async function call(url, options) {
  const response = await fetch(url, options);
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

// Run it again after an interruption: it continues with what is missing.
const { ingest } = await call(`${video}/status`, { headers: { authorization } });
const arrived = new Set(ingest?.receivedBytes.map(({ from }) => from));
const file = await openAsBlob('film.mp4');
for (let from = 0; from < file.size; from += pieceBytes) {
  if (arrived.has(from)) continue;
  const to = Math.min(from + pieceBytes, file.size);
  const body = new FormData();
  body.set('file', file.slice(from, to), 'film.mp4');
  const headers = { authorization, 'content-range': `bytes ${from}-${to - 1}/${file.size}` };
  await call(`${video}/source`, { method: 'POST', headers, body });
  console.log(`${to} of ${file.size} bytes`);
}
