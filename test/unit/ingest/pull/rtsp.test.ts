import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  hasOtherAudio,
  openRtspSource,
  unsupportedVideo,
} from '../../../../src/ingest/pull/ffmpeg-source.ts';
import { RtspCredentials } from '../../../../src/ingest/pull/rtsp-credentials.ts';
import { type RtspMessage, RtspReader } from '../../../../src/ingest/pull/rtsp-messages.ts';
import { makePlainProcessOwner } from '../../../support/process-limits.ts';
import { Random } from '../../../support/random.ts';
import { testTempDir } from '../../../support/temp-dir.ts';

function readAll(pieces: readonly Buffer[]): string[] {
  const seen: string[] = [];
  const reader = new RtspReader((message: RtspMessage) =>
    seen.push(
      message.kind === 'media'
        ? `media ${message.bytes.length}`
        : `${message.firstLine} ${message.body.toString()}`,
    ),
  );
  for (const piece of pieces) reader.push(piece);
  return seen;
}

const conversation = Buffer.concat([
  Buffer.from('RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 5\r\n\r\nv=0\r\n'),
  Buffer.from([0x24, 0, 0, 3, 1, 2, 3]),
  Buffer.from('RTSP/1.0 302 Found\r\nCSeq: 2\r\nLocation: rtsp://10.0.0.1/\r\n\r\n'),
]);

describe('RtspReader', () => {
  it('reads messages with bodies, and media between them, in any pieces', () => {
    const expected = ['RTSP/1.0 200 OK v=0\r\n', 'media 7', 'RTSP/1.0 302 Found '];
    expect(readAll([conversation])).toEqual(expected);
    expect(readAll(Array.from(conversation, byte => Buffer.of(byte)))).toEqual(expected);
  });

  it.each([
    ['no text', Buffer.from([0, 1, 2, 3, 4])],
    ['an endless header', Buffer.alloc(20_000, 'A')],
    ['a body that is too large', Buffer.from('RTSP/1.0 200 OK\r\nContent-Length: 999999999\r\n\r\n')],
    ['a message hidden in another', Buffer.from('RTSP/1.0 200 OK\nCSeq: 1\n\nRTSP/1.0 302 Found\r\n\r\n')],
    ['a negative length', Buffer.from('RTSP/1.0 200 OK\r\nContent-Length: -5\r\n\r\n')],
  ])('throws at %s', (_, bytes) => {
    expect(() => readAll([bytes])).toThrow('not RTSP');
  });

  it('ends with a message or an error, whatever it reads', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = new Random(seed);
      const bytes = Buffer.from(conversation);
      for (let change = random.below(8); change >= 0; change--)
        bytes[random.below(bytes.length)] = random.below(256);
      try {
        expect(readAll([bytes, random.bytes(50)]).length).toBeLessThan(20);
      } catch (error) {
        expect((error as Error).message, `seed ${seed}`).toBe('not RTSP');
      }
    }
  });
});

describe('RtspCredentials', () => {
  const url = new URL('rtsp://Mufasa:Circle%20Of%20Life@host/');

  it('answers a digest challenge as RFC 7616 does', () => {
    const credentials = new RtspCredentials(url);
    expect(credentials.accept(['Digest realm="http-auth@example.org", algorithm=MD5, nonce="abc"'])).toBe(
      true,
    );
    expect(credentials.authorize('DESCRIBE', 'rtsp://host/')).toMatch(
      /^Digest username="Mufasa", realm="http-auth@example\.org", nonce="abc", uri="rtsp:\/\/host\/", response="[0-9a-f]{32}", algorithm=MD5$/,
    );
  });

  it('prefers a digest to a password in plain text, and answers nothing else', () => {
    const credentials = new RtspCredentials(url);
    expect(credentials.accept(['Negotiate'])).toBe(false);
    expect(credentials.accept(['Basic realm="a"', 'Digest realm="a", nonce="b", qop="auth"'])).toBe(true);
    expect(credentials.authorize('PLAY', 'rtsp://host/')).toMatch(
      /qop=auth, nc=00000001, cnonce="[0-9a-f]{16}"$/,
    );
    expect(credentials.accept(['Basic realm="a"'])).toBe(true);
    expect(credentials.authorize('PLAY', 'rtsp://host/')).toBe('Basic TXVmYXNhOkNpcmNsZSBPZiBMaWZl');
  });
});

describe('the audio of a session description', () => {
  it.each([
    ['m=audio 0 RTP/AVP 8\r\n', true],
    ['m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/48000/2\r\n', false],
    ['m=audio 0 RTP/AVP 96\r\na=rtpmap:96 L16/44100\r\n', true],
    ['m=audio 0 RTP/AVP 98\r\na=rtpmap:98 MP4A-LATM/48000\r\n', true],
    ['m=video 0 RTP/AVP 96\r\n', false],
  ])('of %j is converted: %s', (sdp, isOther) => {
    expect(hasOtherAudio(`v=0\r\n${sdp}`)).toBe(isOther);
  });
});

describe('the video of a session description', () => {
  it.each([
    ['m=video 0 RTP/AVP 26\r\n', 'MJPEG'],
    ['m=video 0 RTP/AVP 96\r\na=rtpmap:96 jpeg/90000\r\n', 'MJPEG'],
    ['m=video 0 RTP/AVP 96\r\na=rtpmap:96 MP4V-ES/90000\r\n', 'MPEG-4 part 2'],
    ['m=video 0 RTP/AVP 96\r\na=rtpmap:96 VP8/90000\r\n', 'VP8'],
    ['m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n', undefined],
    ['m=audio 0 RTP/AVP 8\r\nm=video 0 RTP/AVP 97\r\na=rtpmap:97 h265/90000\r\n', undefined],
    ['m=video 0 RTP/AVP 96\r\n', undefined],
    ['m=audio 0 RTP/AVP 26\r\n', undefined],
  ])('of %j is not supported: %s', (sdp, name) => {
    expect(unsupportedVideo(`v=0\r\n${sdp}`)).toBe(name);
  });
});

describe('a source with B-frames', () => {
  it('is opened again without its start when the first frames have no decode time', async () => {
    const path = join(await testTempDir(), 'ffmpeg');
    // Fails as ffmpeg 7 does when it cannot send the first frames.
    const script = `#!/bin/sh
case "$*" in
*'-ss 0.2'*) printf '%s' "$*" ;;
*) echo '[mpegts @ 0x1] first pts and dts value must be set' >&2; exit 1 ;;
esac
`;
    await writeFile(path, script, { mode: 0o755 });
    const received: Buffer[] = [];
    const events = { bytes: (bytes: Buffer) => void received.push(bytes), media: () => {} };
    const rules = { resolve: async () => [{ address: '127.0.0.1', family: 4 }], allowPrivate: true };
    const options = { path, owner: makePlainProcessOwner(), liveStreamId: 'li1' };
    const source = await openRtspSource(new URL('rtsp://127.0.0.1:9/cam'), rules, events, options);
    await source.ended;
    expect(Buffer.concat(received).toString()).toContain('-ss 0.2');
  });
});
