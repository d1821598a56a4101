import { openAsBlob } from 'node:fs';

const videoId = process.env.VIDEO_ID;
const body = new FormData();
body.set('file', await openAsBlob('fr.vtt'), 'fr.vtt');
const response = await fetch(`http://localhost:8080/videos/${videoId}/captions/fr`, {
  method: 'POST',
  headers: { authorization: `Basic ${btoa(`${process.env.KEY}:`)}` },
  body,
});
if (!response.ok) throw new Error(await response.text());
console.log((await response.json()).uri);
