import { open } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { FileSlice } from '../../src/shared/files/file-slice.ts';
import type { OpenRendition } from '../../src/vod/index/rendition.ts';
import { formatVodMultivariant, formatVodPlaylist } from '../../src/vod/playback/vod-playlists.ts';

/** Renditions at an address, and how to end that. */
export interface ServedRenditions {
  /** URL of the multivariant playlist. */
  readonly url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Reads all parts of a segment. */
export async function bytesOf(parts: readonly (Buffer | FileSlice)[]): Promise<Buffer> {
  const buffers: Buffer[] = [];
  for (const piece of parts) {
    if (Buffer.isBuffer(piece)) {
      buffers.push(piece);
      continue;
    }
    const handle = await open(piece.path, 'r');
    try {
      const bytes = Buffer.alloc(piece.length);
      const { bytesRead } = await handle.read(bytes, 0, piece.length, piece.start);
      if (bytesRead !== piece.length) throw new Error(`${piece.path} is shorter than its index says`);
      buffers.push(bytes);
    } finally {
      await handle.close();
    }
  }
  return Buffer.concat(buffers);
}

/** Serves renditions by their names (`720p`, `audio`) as a video that is complete. */
export async function serveRenditions(
  renditions: ReadonlyMap<string, OpenRendition>,
): Promise<ServedRenditions> {
  const targetDurationSeconds = Math.max(
    1,
    ...[...renditions.values()].map(({ renditionMetadata }) =>
      Math.round(renditionMetadata.maxSegmentDurationSeconds),
    ),
  );
  const playlistOf = (path: string): string | undefined => {
    if (path === '/manifest.m3u8') {
      return formatVodMultivariant({
        renditions: [...renditions].map(([name, rendition]) => ({
          name,
          record: {
            ...rendition.renditionMetadata,
            ...rendition.bitRates(targetDurationSeconds),
            generation: 7,
            durationSeconds:
              rendition.renditionMetadata.durationTicks / rendition.renditionMetadata.timescale,
          },
        })),
      });
    }
    const [, name = ''] = /^\/(\w+)\/manifest\.m3u8$/.exec(path) ?? [];
    const rendition = renditions.get(name);
    if (rendition === undefined) return undefined;
    return formatVodPlaylist({ rendition, generation: 7, targetDurationSeconds, isComplete: true });
  };
  const mediaOf = async (path: string): Promise<Buffer | undefined> => {
    const [, name = '', kind, , index] =
      /^\/(\w+)\/(init|video|audio)-7(-(\d+))?\.m(?:p4|4s)$/.exec(path) ?? [];
    const rendition = renditions.get(name);
    if (rendition === undefined) return undefined;
    if (kind === 'init') return rendition.init;
    const { parts, bytes } = await rendition.readSegment(Number(index));
    const body = await bytesOf(parts);
    if (body.length !== bytes) throw new Error(`${path} has ${body.length} bytes, ${bytes} were promised`);
    return body;
  };
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    const text = playlistOf(path);
    const body = text === undefined ? await mediaOf(path).catch(() => undefined) : Buffer.from(text);
    const canZip = text !== undefined && /gzip/.test(request.headers['accept-encoding'] ?? '');
    response.writeHead(body === undefined ? 404 : 200, {
      'access-control-allow-origin': '*',
      'content-type':
        text !== undefined
          ? 'application/vnd.apple.mpegurl'
          : path.startsWith('/audio')
            ? 'audio/mp4'
            : 'video/mp4',
      ...(text === undefined ? {} : { vary: 'accept-encoding' }),
      ...(canZip ? { 'content-encoding': 'gzip' } : {}),
    });
    response.end(request.method === 'HEAD' ? '' : canZip && body !== undefined ? gzipSync(body) : body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/manifest.m3u8`,
    [Symbol.asyncDispose]: () =>
      new Promise<void>(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
