import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { callApi, formWithFile, webVttOf } from './api-call.ts';
import { type Publisher, startPublisher } from './ffmpeg.ts';
import type { ServerProcess } from './server-process.ts';

/** A PNG of 72 x 72 pixels: a square with round corners and a play sign in it. */
const logo = [
  'iVBORw0KGgoAAAANSUhEUgAAAEgAAABICAYAAABV7bNHAAAACXBIWXMAAAABAAAAAQBPJcTWAAABJElEQVR4nO3cMRICIRSD4a09',
  'qIfw8lrZOLi8HYUk8DOTPvmGFo7b434U81wspd07wlyC2hmmBAVOBwmcDhI4HSRwOkgAFYHUZVwDUAVIXcI6AAEEEEAAGQcggADK',
  'B3of9Vh7oEQoCVASkgwoBUoO5A5lA+SKZAXkCGUJ5IRkC+QCZQ+khooBUiFFASmgIoFmIsUCzYKKBxoNtQzQKKSlgEZALQn0T6Ql',
  'gbhBE2CWAxrVPR5odPdYoBm9Y4Fm4cQBzYSJA1LgRACpYOyB1DDWQGoUWyA1hjWQGsIWSA1gC6Qebg2kHm0LpB5rC5QcgAACCCCA',
  'jAMQQL8DgfQ9vHquAoHUwAHoIhBIHzgtIJD4YKmOcwa0I1LT4QxoF6jT/RWgVaFKu18eN2dgCFTS0AAAAABJRU5ErkJggg==',
].join('');
const color = 'rgba(95, 212, 189, 1)';
const maxSignatureAgeSeconds = 300;

/** Creates a player theme with colors and a logo; returns its id. */
export async function createTheme(server: ServerProcess, name: string): Promise<string> {
  const { playerId } = await callApi<{ playerId: string }>(server, 'POST', '/players', {
    name,
    trackPlayed: color,
    linkHover: color,
    linkActive: color,
  });
  const body = formWithFile('logo.png', Buffer.from(logo, 'base64'), 'image/png');
  body.set('link', `http://localhost:${server.httpPort}/docs`);
  await callApi(server, 'POST', `/players/${playerId}/logo`, body);
  return playerId;
}

/** Adds captions by language, of which the English ones show by default, and English chapters. */
export async function addTextTracks(
  server: ServerProcess,
  videoId: string,
  captions: Readonly<Record<string, readonly string[]>>,
  chapters: readonly string[],
  cueSeconds: number,
): Promise<void> {
  const add = (kind: string, language: string, texts: readonly string[]) =>
    callApi(
      server,
      'POST',
      `/videos/${videoId}/${kind}/${language}`,
      formWithFile('track.vtt', webVttOf(texts, cueSeconds)),
    );
  for (const [language, texts] of Object.entries(captions)) await add('captions', language, texts);
  await callApi(server, 'PATCH', `/videos/${videoId}/captions/en`, { default: true });
  await add('chapters', 'en', chapters);
}

/** Publishes ffmpeg's test picture, which shows a clock, with a beep each second. */
export function publishTestPattern(ffmpegPath: string, address: string): Publisher {
  const args = [
    ...['-re', '-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
    ...['-re', '-f', 'lavfi', '-i', 'sine=frequency=440:beep_factor=4:sample_rate=48000'],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-tune', 'zerolatency', '-pix_fmt', 'yuv420p'],
    ...['-g', '60', '-keyint_min', '60', '-sc_threshold', '0'],
    ...['-b:v', '2500k', '-maxrate', '2500k', '-bufsize', '2500k', '-c:a', 'aac', '-b:a', '128k'],
  ];
  return startPublisher(ffmpegPath, args, address);
}

interface ReceivedEvent {
  readonly type: string;
  readonly quality?: string;
  readonly videoId?: string;
}

/** Subscribes a webhook receiver on this machine, which passes on the events that the server signed within the last minutes. */
export async function startReceiver(
  server: Pick<ServerProcess, 'baseUrl' | 'productionKey'>,
  onEvent: (event: ReceivedEvent) => void,
): Promise<Server> {
  let secret = '';
  const receiver = createServer(async (request, response) => {
    const body = await text(request);
    const isGenuine = isSigned(String(request.headers['millrace-signature']), body, secret);
    response.writeHead(isGenuine ? 200 : 400).end();
    if (isGenuine) onEvent(JSON.parse(body));
  });
  await new Promise<void>((resolve, reject) =>
    receiver.once('error', reject).listen(0, '127.0.0.1', resolve),
  );
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  const events = [
    'video.encoding.quality.completed',
    'live-stream.broadcast.started',
    'live-stream.broadcast.ended',
    'video.source.recorded',
  ];
  const webhook = await callApi<{ signatureSecret: string }>(server, 'POST', '/webhooks', { url, events });
  secret = webhook.signatureSecret;
  return receiver;
}

function isSigned(header: string, body: string, secret: string): boolean {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (t === undefined || v1 === undefined) return false;
  if (Math.abs(Date.now() / 1000 - Number(t)) > maxSignatureAgeSeconds) return false;
  const expected = createHmac('sha256', secret).update(`${t}.${body}`).digest();
  return timingSafeEqual(Buffer.from(v1, 'hex'), expected);
}
