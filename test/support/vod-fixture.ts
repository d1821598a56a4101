import { createHash, randomBytes } from 'node:crypto';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { VodEntry, VodFile, VodSource, VodTextTrack } from '../../src/delivery/vod/vod-source.ts';
import type { FileSlice } from '../../src/shared/files/file-slice.ts';
import type { CompressedText } from '../../src/shared/text/rendered-text.ts';
import type { MediaResponse, PlaylistResponse, ResponseBody } from '../../src/shared/viewer-responses.ts';
import { formatCaptionsPlaylist } from '../../src/vod/playback/vod-playlists.ts';
import { rendered } from '../service/delivery-fixture.ts';

export const videoId = 'vi0123456789012345678901';
export const hiddenId = 'viHidden0000000000000000';

/** Videos made of files in a folder, with whatever a test sets. */
export class FolderVideos implements VodSource {
  readonly folder: string;
  readonly entries = new Map<string, VodEntry>();
  /** Bodies by `<videoId>/<name>`. */
  readonly bodies = new Map<string, ResponseBody & { lifetimeSeconds?: number }>();
  isComplete = true;
  fault: Error | undefined;
  /** Base of addresses for downloads; undefined without them. */
  downloadBase: string | undefined;
  #size = 0;

  constructor(folder: string) {
    this.folder = folder;
    this.set(videoId, { public: true });
    this.set(hiddenId, { public: false, title: 'Hidden' });
  }

  /** The file that slices are made of. */
  get path(): string {
    return join(this.folder, 'source');
  }

  set(id: string, values: Partial<VodEntry>): void {
    this.entries.set(id, {
      videoId: id,
      projectId: 'prOfTest',
      title: 'Pier <cam>',
      public: true,
      listed: false,
      isSandbox: false,
      policy: undefined,
      limits: undefined,
      clippedFrom: undefined,
      mp4Support: true,
      panoramic: false,
      isPlayable: true,
      hasFailed: false,
      hasStoryboard: false,
      durationSeconds: 61.5,
      width: 640,
      height: 360,
      revision: 3,
      captions: async () => [],
      chapters: async () => [],
      theme: async () => undefined,
      ...this.entries.get(id),
      ...values,
    });
  }

  /** Puts random bytes at the end of the file; where they are, and what they are. */
  async addBytes(length: number): Promise<{ slice: FileSlice; bytes: Buffer }> {
    const bytes = randomBytes(length);
    await appendFile(this.path, bytes);
    const slice = { path: this.path, start: this.#size, length };
    this.#size += length;
    return { slice, bytes };
  }

  /** Makes `name` of a video answer these pieces. */
  give(id: string, name: string, parts: ResponseBody['parts'], contentType = 'video/mp4'): void {
    this.bodies.set(`${id}/${name}`, {
      parts,
      bytes: parts.reduce((sum, piece) => sum + piece.length, 0),
      contentType,
      etag: `"${createHash('sha1').update(`${id}/${name}`).digest('hex')}"`,
    });
  }

  /** The same with a file of its own. */
  async giveFile(id: string, name: string, content: Buffer | string, contentType: string): Promise<string> {
    const path = join(this.folder, `${id}-${name.replaceAll('/', '-')}`);
    await writeFile(path, content);
    const length = Buffer.byteLength(content);
    this.give(id, name, [{ path, start: 0, length }], contentType);
    return path;
  }

  async downloadUrl(...[id, quality = '', options]: Parameters<VodSource['downloadUrl']>) {
    if (this.downloadBase === undefined) return undefined;
    const { expiresSeconds, contentDisposition } = options;
    const query = new URLSearchParams({ seconds: String(expiresSeconds), as: contentDisposition });
    return `${this.downloadBase}/${id}/${quality}?${query}`;
  }

  async find(id: string): Promise<VodEntry | undefined> {
    return this.entries.get(id);
  }

  captionsPlaylist(language: string, durationSeconds: number, avh?: string): CompressedText {
    return rendered(formatCaptionsPlaylist(language, durationSeconds, avh));
  }

  async multivariant(
    id: string,
    _captions: readonly VodTextTrack[],
    avh?: string,
  ): Promise<CompressedText | undefined> {
    if (this.fault !== undefined) throw this.fault;
    return this.entries.get(id)?.isPlayable === true
      ? rendered(`#EXTM3U\n720p/manifest.m3u8${avh === undefined ? '' : `?avh=${avh}`}\n`)
      : undefined;
  }

  async mediaPlaylist(_id: string, rendition: string, avh?: string): Promise<PlaylistResponse | undefined> {
    if (rendition !== '720p' && rendition !== 'audio') return undefined;
    const text = rendered(`#EXTM3U\nvideo-1-0.m4s${avh === undefined ? '' : `?avh=${avh}`}\n`);
    return { status: 200, text, isComplete: this.isComplete, targetDurationSeconds: 4 };
  }

  async media(id: string, rendition: string, name: string): Promise<MediaResponse | undefined> {
    const body = this.bodies.get(`${id}/${rendition}/${name}`);
    return body === undefined ? undefined : { lifetimeSeconds: Number.POSITIVE_INFINITY, ...body };
  }

  async textTrack(
    id: string,
    track: 'captions' | 'chapters',
    language: string,
  ): Promise<ResponseBody | undefined> {
    return this.bodies.get(`${id}/${track}/${language}`);
  }

  async file(id: string, file: VodFile, quality?: string): Promise<ResponseBody | undefined> {
    return this.bodies.get(quality === undefined ? `${id}/${file}` : `${id}/${file}/${quality}`);
  }
}
