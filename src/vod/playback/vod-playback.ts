import { RenderedText } from '../../shared/text/rendered-text.ts';
import type { MediaResponse, PlaylistResponse, ResponseBody } from '../../shared/viewer-responses.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { EncodingState } from '../encoding-repository.ts';
import type { RenditionReader } from '../index/rendition-reader.ts';
import type { SourceMetadata } from '../source/source-metadata.ts';
import type { GrowingVideo, GrowingVideos } from './growing-videos.ts';
import { PlaylistCache } from './playlist-cache.ts';
import {
  codecRenditionName,
  isRenditionName,
  type PlayableRendition,
  type RenditionRecord,
  recordOfGrowing,
} from './rendition-record.ts';
import { formatVodMultivariant, formatVodPlaylist, type VodCaptions } from './vod-playlists.ts';

interface VodPlaybackOptions {
  readonly stateOf: (videoId: string) => Promise<EncodingState | undefined>;
  readonly languageOf?: (videoId: string) => Promise<string | undefined>;
  readonly thumbnailOf: (
    videoId: string,
  ) => Promise<{ readonly file: string; readonly type: string } | undefined>;
  readonly files: MediaFiles;
  readonly reader: RenditionReader;
  readonly growing: GrowingVideos;
}

const segmentName = /^(init|video|audio)-(\d{1,12})(?:-(\d{1,8}))?\.(mp4|m4s)$/;
const mp4Type = 'video/mp4';
const fileTypes = { 'storyboard.jpg': 'image/jpeg', 'storyboard.vtt': 'text/vtt; charset=utf-8' } as const;

export class VodPlayback {
  readonly #options: VodPlaybackOptions;
  readonly #playlists = new PlaylistCache(32 * 1024 * 1024);

  constructor(options: VodPlaybackOptions) {
    this.#options = options;
  }

  releaseMemory(): void {
    this.#playlists.clear();
    this.#options.reader.releaseMemory();
  }

  async isPlayable(videoId: string): Promise<boolean> {
    const { growing, stateOf } = this.#options;
    return growing.find(videoId) !== undefined || (await stateOf(videoId))?.isPlayable === true;
  }

  async multivariant(
    videoId: string,
    captions: readonly VodCaptions[],
    avh?: string,
  ): Promise<RenderedText | undefined> {
    const language = await this.#options.languageOf?.(videoId);
    const { state, growing } = await this.#find(videoId);
    if (state === undefined) return undefined;
    if (!state.isPlayable && growing === undefined) return undefined;
    const render = async () =>
      formatVodMultivariant({
        renditions: playableRenditions(state, growing),
        captions: state.isPlayable ? captions : [],
        audioTracks: state.audioTracks,
        hasClosedCaptions: (state.sourceMetadata as Partial<SourceMetadata>).closedCaptions === true,
        language,
        avh,
      });
    // Bitrates of growing renditions change, and playlists with a session belong to one viewer.
    if (!state.isPlayable || avh !== undefined) return new RenderedText(await render());
    const tracks = captions.map(track => (track.isDefault ? `${track.language}*` : track.language));
    return this.#playlists.get(`${videoId}/${state.revision}/${language ?? ''}/${tracks.join()}`, render);
  }

  async mediaPlaylist(videoId: string, name: string, avh?: string): Promise<PlaylistResponse | undefined> {
    const found = await this.#open(videoId, name);
    if (found === undefined) return undefined;
    const { generation, isComplete, targetDurationSeconds } = found;
    const render = async () => formatVodPlaylist({ ...found, ...(avh === undefined ? {} : { avh }) });
    const text =
      isComplete && avh === undefined
        ? await this.#playlists.get(`${videoId}/${name}/${generation}/${targetDurationSeconds}`, render)
        : new RenderedText(await render());
    return { status: 200, text, isComplete, targetDurationSeconds };
  }

  async media(videoId: string, renditionName: string, name: string): Promise<MediaResponse | undefined> {
    const [, kind, generationText, indexText, extension] = segmentName.exec(name) ?? [];
    if (kind === undefined || (kind === 'init') !== (indexText === undefined)) return undefined;
    if ((kind === 'init') !== (extension === 'mp4')) return undefined;
    const found = await this.#open(videoId, renditionName, Number(generationText));
    if (found === undefined) return undefined;
    const { rendition, generation } = found;
    const contentType = rendition.renditionMetadata.kind === 'video' ? 'video/mp4' : 'audio/mp4';
    const etag = `"${generation.toString(36)}-${renditionName}-${indexText ?? 'init'}"`;
    const lifetimeSeconds = Number.POSITIVE_INFINITY;
    if (kind === 'init') {
      const { init } = rendition;
      return { parts: [init], bytes: init.length, contentType, etag, lifetimeSeconds };
    }
    const index = Number(indexText);
    if (kind !== rendition.renditionMetadata.kind || index >= rendition.segmentCount) return undefined;
    const { parts, bytes } = await rendition.readSegment(index);
    return { parts, bytes, contentType, etag, lifetimeSeconds };
  }

  async file(
    videoId: string,
    file: 'mp4' | 'thumbnail' | 'storyboard.jpg' | 'storyboard.vtt',
    quality?: string,
  ): Promise<ResponseBody | undefined> {
    const { files, stateOf, thumbnailOf } = this.#options;
    if (file === 'thumbnail') {
      const image = await thumbnailOf(videoId);
      return image && this.#fileBody(files.video(videoId, image.file), image.type);
    }
    const state = await stateOf(videoId);
    if (file === 'mp4') {
      const mp4 = mp4FileOf(state, quality);
      return mp4 === undefined ? undefined : this.#fileBody(files.video(videoId, mp4), mp4Type);
    }
    // An outdated file may exist while the storyboard is being made.
    return state?.hasStoryboard === true
      ? this.#fileBody(files.video(videoId, file), fileTypes[file])
      : undefined;
  }

  /** Returns a URL for the MP4. Undefined when the storage has no addresses for clients. */
  async downloadUrl(
    videoId: string,
    quality: string | undefined,
    options: { readonly expiresSeconds: number; readonly contentDisposition: string },
  ): Promise<string | undefined> {
    const { files, stateOf } = this.#options;
    if (files.storage.kind === 'data-folder') return undefined;
    const mp4 = mp4FileOf(await stateOf(videoId), quality);
    if (mp4 === undefined) return undefined;
    return files.storage.downloadUrl(files.video(videoId, mp4), { ...options, contentType: mp4Type });
  }

  async #fileBody(path: string, contentType: string): Promise<ResponseBody | undefined> {
    const file = await this.#options.files.storage.find(path);
    if (file === undefined) return undefined;
    const { bytes, etag } = file;
    return { parts: [{ path, start: 0, length: bytes }], bytes, contentType, etag };
  }

  async #open(videoId: string, name: string, wantedGeneration?: number) {
    if (!isRenditionName(name)) return undefined;
    const { reader, files } = this.#options;
    const { state, growing } = await this.#find(videoId);
    if (state === undefined) return undefined;
    const isWanted = (generation: number) =>
      wantedGeneration === undefined || wantedGeneration === generation;
    const stored =
      state.renditions.find(
        ({ type, quality, status }) => type !== 'mp4' && quality === name && status === 'encoded',
      ) ?? state.codecRenditions.find(one => one.status === 'encoded' && codecRenditionName(one) === name);
    if (stored?.file !== undefined) {
      const { generation } = stored.renditionMetadata as RenditionRecord;
      if (!isWanted(generation)) return undefined;
      const rendition = await reader.open(files.video(videoId, stored.file));
      const targetDurationSeconds = targetDurationOf(state, growing);
      return { rendition, generation, isComplete: true, targetDurationSeconds };
    }
    const rendition = growing?.renditions.get(name);
    if (growing === undefined || rendition === undefined || !isWanted(growing.generation)) return undefined;
    const { generation, targetDurationSeconds } = growing;
    return { rendition, generation, isComplete: false, targetDurationSeconds };
  }

  async #find(
    videoId: string,
  ): Promise<{ state: EncodingState | undefined; growing: GrowingVideo | undefined }> {
    const { growing: videos, stateOf } = this.#options;
    for (;;) {
      // Reads in this order: a video that finishes meanwhile is in one of them.
      const growing = videos.find(videoId);
      const state = await stateOf(videoId);
      if (state?.isPlayable === true) return { state, growing: undefined };
      // Reads again when the encode ended meanwhile, which closes the renditions.
      if (videos.find(videoId) === growing) return { state, growing };
    }
  }
}

/** Finds the MP4 of the given or else the highest quality. */
function mp4FileOf(state: EncodingState | undefined, quality: string | undefined): string | undefined {
  return state?.renditions.find(
    one =>
      one.type === 'mp4' && one.status === 'encoded' && (quality === undefined || quality === one.quality),
  )?.file;
}

function playableRenditions(state: EncodingState, growing: GrowingVideo | undefined): PlayableRendition[] {
  const playable: PlayableRendition[] = state.renditions
    .filter(({ type, status }) => type !== 'mp4' && status === 'encoded')
    .map(({ quality, renditionMetadata }) => ({
      name: quality,
      record: renditionMetadata as RenditionRecord,
    }));
  if (growing === undefined) {
    for (const one of state.codecRenditions) {
      if (one.status !== 'encoded') continue;
      const record = one.renditionMetadata as RenditionRecord;
      playable.push({ name: codecRenditionName(one), codec: one.codec, record });
    }
    return playable;
  }
  for (const [name, rendition] of growing.renditions) {
    playable.push({ name, record: recordOfGrowing(rendition, growing) });
  }
  return playable;
}

/** While other renditions grow, finished ones already have the final target duration. */
function targetDurationOf(state: EncodingState, growing: GrowingVideo | undefined): number {
  return Math.max(1, state.targetDurationSeconds ?? 0, growing?.targetDurationSeconds ?? 0);
}
