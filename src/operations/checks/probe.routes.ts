import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import * as z from 'zod';
import type { AddressOf, IsSecure } from '../../http/listener/client-address.ts';
import type { UpgradeHandler } from '../../http/listener/upgrade-handler.ts';
import { defineRoute, type Route } from '../../http/routing/route.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { acceptKeyOf, type Probe, probePath, streamParts, streamPauseMs } from './probe.ts';

interface ProbeOptions {
  readonly publicUrl: () => string;
  readonly ports: () => Probe['ports'];
  readonly addressOf: AddressOf;
  readonly isSecure: IsSecure;
  readonly clock: Clock;
}

const maxStreams = 20;
const cachedSeconds = 5;

const port = (text: string) => z.int().min(1).max(65_535).nullable().describe(text);

const probeSchema = z
  .object({
    product: z.literal('millrace'),
    time: z.iso.datetime({ offset: true }).describe('The clock of the server.'),
    address: z.string().describe('Address of the client, as the server sees it.'),
    isSecure: z.boolean().describe('The server takes the request for one over TLS.'),
    publicUrl: z.string().describe('Base of all URLs that the API returns.'),
    ports: z
      .object({
        rtmp: port('TCP.'),
        rtmps: port('TCP.'),
        srt: port('UDP.'),
        webrtc: port('UDP and TCP.'),
      })
      .describe('Ports of the server for encoders; null where it has none.'),
  })
  .meta({
    id: 'Probe',
    examples: [
      {
        product: 'millrace',
        time: '2026-03-04T05:06:07+00:00',
        address: '203.0.113.9',
        isSecure: true,
        publicUrl: 'https://video.example.org',
        ports: { rtmp: 1935, rtmps: null, srt: 6200, webrtc: 8189 },
      },
    ],
  });

const echoQuery = z.object({
  _HLS_msn: z
    .string()
    .regex(/^\d{1,12}$/)
    .optional()
    .describe('Any number.'),
  _HLS_part: z
    .string()
    .regex(/^\d{1,12}$/)
    .optional()
    .describe('Any number.'),
});

/** Tells clients what arrives here of their requests. They name nothing that the server would connect to. */
export function probeRoutes({ publicUrl, ports, addressOf, isSecure, clock }: ProbeOptions): Route[] {
  let streams = 0;
  return [
    defineRoute({
      method: 'GET',
      path: probePath,
      tag: 'Operation',
      summary: 'See how a request arrives',
      description:
        'For `millrace doctor --from URL`: what a proxy has made of the request, and the ports to try. As a WebSocket (`Upgrade: websocket`), the connection opens and is closed with 1000.',
      auth: 'none',
      success: { status: 200, description: 'The request, as it arrived.', schema: probeSchema },
      handle: ({ incoming }) => ({
        product: 'millrace' as const,
        time: formatAtom(clock.nowMs()),
        address: addressOf(incoming),
        isSecure: isSecure(incoming),
        publicUrl: publicUrl(),
        ports: ports(),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: `${probePath}/echo`,
      tag: 'Operation',
      summary: 'See whether the query and Range arrive',
      description: `Repeats two numbers of the query, those of Low-Latency HLS, as \`msn=5 part=2\`. Caches may keep it for ${cachedSeconds} s. Supports \`Range\`.`,
      auth: 'none',
      query: echoQuery,
      success: { status: 200, description: 'The numbers.', fileTypes: ['text/plain'] },
      errors: ['request-invalid-query-parameter'],
      handle: ({ query: { _HLS_msn: msn, _HLS_part: part }, setHeader }) => {
        const text = Buffer.from(`msn=${msn ?? 'missing'} part=${part ?? 'missing'}`);
        setHeader('Cache-Control', `public, max-age=${cachedSeconds}`);
        return {
          contentType: 'text/plain',
          bytes: text.length,
          etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 16)}"`,
          open: async ({ start, end }) => Readable.from([text.subarray(start, end)]),
        };
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${probePath}/stream`,
      tag: 'Operation',
      summary: 'See whether a response arrives as it is sent',
      description: `Sends two lines, the second one ${streamPauseMs} ms after the first. At most ${maxStreams} at once.`,
      auth: 'none',
      success: { status: 200, description: 'Two lines.', fileTypes: ['text/event-stream'] },
      handle: ({ setHeader }) => {
        // As with the event streams of live streams, nginx passes it on at once.
        setHeader('X-Accel-Buffering', 'no');
        setHeader('Cache-Control', 'no-store');
        return {
          contentType: 'text/event-stream',
          bytes: streamParts.join('').length,
          etag: '"stream"',
          open: async () => {
            if (streams >= maxStreams) {
              const detail = 'Too many of these are being sent. Try again in a moment.';
              throw new AppError('media-unavailable', undefined, {
                details: { detail, retryAfterSeconds: 2 },
              });
            }
            streams += 1;
            return slowly(streamParts, () => {
              streams -= 1;
            });
          },
        };
      },
    }),
  ];
}

function slowly(parts: readonly string[], closed: () => void): Readable {
  let timer: NodeJS.Timeout | undefined;
  const stream = new Readable({
    read() {},
    destroy(error, done) {
      clearTimeout(timer);
      closed();
      done(error);
    },
  });
  const [first, ...rest] = parts;
  stream.push(first);
  timer = setTimeout(() => {
    for (const part of rest) stream.push(part);
    stream.push(null);
  }, streamPauseMs);
  return stream;
}

/** A close frame with the code 1000. RFC 6455, 5.5.1. */
const closeFrame = Buffer.from([0x88, 0x02, 0x03, 0xe8]);

/** Opens a WebSocket and closes it at once. RFC 6455, 4.2.2. */
export const probeUpgrade: UpgradeHandler = {
  path: probePath,
  protocol: 'websocket',
  handle: async (request, socket) => {
    const key = request.headers['sec-websocket-key'];
    if (key === undefined || key.length > 64) throw new AppError('upgrade-required');
    const head = [
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      `Sec-WebSocket-Accept: ${acceptKeyOf(key)}`,
    ];
    socket.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), closeFrame]));
    socket.resume();
  },
};
