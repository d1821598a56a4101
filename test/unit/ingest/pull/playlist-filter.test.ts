import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { PlaylistFilter, plainAddress, realAddress } from '../../../../src/ingest/pull/playlist-filter.ts';

async function filtered(...chunks: readonly string[]): Promise<string> {
  const filter = new PlaylistFilter();
  Readable.from(chunks.map(chunk => Buffer.from(chunk))).pipe(filter);
  return (await buffer(filter)).toString();
}

describe('what a source sends to ffmpeg', () => {
  it('is passed on as it is, unless it is a playlist', async () => {
    const segment = '#EXT tcp://10.0.0.1:22 https://a.example/';
    expect(await filtered('#EXT', segment.slice(4))).toBe(segment);
    expect(await filtered()).toBe('');
  });

  it('names HTTPS addresses of a playlist as HTTP addresses of the proxy', async () => {
    const playlist =
      '#EXTM3U\n#EXT-X-KEY:URI="https://u:p@a.example:8443/k?a=1"\nhttps://b.example/1.ts\n2.ts\n';
    const expected =
      '#EXTM3U\n#EXT-X-KEY:URI="http://a.example.https.invalid:8443/k?a=1"\n' +
      'http://b.example.https.invalid:443/1.ts\n2.ts\n';
    expect(await filtered(playlist.slice(0, 3), playlist.slice(3, 60), playlist.slice(60))).toBe(expected);
  });

  it.each(['tcp://10.0.0.1:22', 'crypto+tcp://10.0.0.1:22', '#EXT-X-MEDIA:URI="t\\cp://10.0.0.1:22"'])(
    'is no playlist that leads ffmpeg past the proxy: %s',
    async line => {
      await expect(filtered(`#EXTM3U\n${line}\n`)).rejects.toThrow(/not HTTP/);
    },
  );

  it('is no playlist without an end', async () => {
    const half = `${'#'.repeat(3 * 1024 * 1024)}\n`;
    await expect(filtered(`#EXTM3U\n${half}`, half)).rejects.toThrow(/larger than 4 MB/);
  });
});

describe('the address for ffmpeg', () => {
  it.each([
    ['https://a.example/x?y=1', 'http://a.example.https.invalid:443/x?y=1'],
    ['https://u:p@a.example:80/', 'http://a.example.https.invalid:80/'],
    ['http://u:p@a.example:8080/x', 'http://a.example:8080/x'],
  ])('of %s leads back to it', (address, plain) => {
    const url = new URL(address);
    expect(plainAddress(url)).toBe(plain);
    const { origin, pathname, search } = url;
    expect(realAddress(plain)?.href).toBe(`${origin}${pathname}${search}`);
  });

  it.each(['ftp://a.example/', 'https://a.example/', '/x', ''])('is not %j', address => {
    expect(realAddress(address)).toBeUndefined();
  });
});
