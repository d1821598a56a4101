const authorization = `Basic ${btoa(`${process.env.KEY}:`)}`;

const response = await fetch('http://localhost:8080/live-streams', {
  method: 'POST',
  headers: { authorization, 'content-type': 'application/json' },
  body: JSON.stringify({ name: 'My first stream' }),
});
if (!response.ok) throw new Error(await response.text());
const { liveStreamId, streamKey, assets } = await response.json();
console.log(liveStreamId, streamKey, assets.player);
