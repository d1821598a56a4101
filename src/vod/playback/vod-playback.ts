import { stat } from 'node:fs/promises';
import { systemCodeOf } from '../../shared/errors.ts';
import { fileEtag } from '../../shared/files/file-etag.ts';
import { RenderedText } from '../../shared/text/rendered-text.ts';
import type { MediaResponse, PlaylistResponse, ResponseBody } from '../../shared/viewer-responses.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { EncodingState } from '../encoding-repository.ts';
import type { RenditionReader } from '../index/rendition-reader.ts';
import type { GrowingVideos } from './growing-videos.ts';
import { PlaylistCache } from './playlist-cache.ts';
import {
  type PlayableRendition,
  type RenditionRecord,
  recordOfGrowing,
  renditionNames,
} from './rendition-record.ts';
import { formatVodMultivariant, formatVodPlaylist, type VodCaptions } from './vod-playlists.ts';

/** What playback needs of the rest. */
export interface VodPlaybackOptions {
  readonly stateOf: (videoId: string) => EncodingState | undefined;
  /** Tag of the language that a video's owner gave it; that of the source holds unless given. */
  readonly languageOf?: (videoId: string) => string | undefined;
  /** The image that a video shows, relative to its folder, and its media type. */
  readonly thumbnailOf: (videoId: string) => { readonly file: string; readonly type: string } | undefined;
  readonly files: MediaFiles;
  readonly reader: RenditionReader;
  readonly growing: GrowingVideos;
}

const segmentName = /^(init|video|audio)-(\d{1,12})(?:-(\d{1,8}))?\.(mp4|m4s)$/;
const fileTypes = { 'storyboard.jpg': 'image/jpeg', 'storyboard.vtt': 'text/vtt; charset=utf-8' } as const;

/** Gives viewers what there is of videos: what is finished from the disk, and what grows while nothing is finished yet. */
export class VodPlayback {
  readonly #options: VodPlaybackOptions;
  readonly #texts = new PlaylistCache(32 * 1024 * 1024);

  constructor(options: VodPlaybackOptions) {
    this.#options = options;
  }

  /** Whether something can be played now. */
  isPlayable(videoId: string): boolean {
    return (
      this.#options.growing.find(videoId) !== undefined || this.#options.stateOf(videoId)?.isPlayable === true
    );
  }

  /** The multivariant playlist; undefined while nothing is playable. `captions` are in it once a list of the video is complete. */
  async multivariant(
    videoId: string,
    captions: readonly VodCaptions[],
    avh?: string,
  ): Promise<RenderedText | undefined> {
    const state = this.#options.stateOf(videoId);
    if (state === undefined) return undefined;
    const growing = this.#options.growing.find(videoId);
    if (!state.isPlayable && growing === undefined) return undefined;
    const language = this.#options.languageOf?.(videoId);
    const render = () =>
      formatVodMultivariant({
        renditions: this.#playable(videoId, state),
        captions: state.isPlayable ? captions : [],
        language,
        ...(avh === undefined ? {} : { avh }),
      });
    // What grows has no final bit rates, and a session's text is of use to one viewer only.
    if (!state.isPlayable || avh !== undefined) return new RenderedText(render());
    const tracks = captions.map(({ language, isDefault }) => (isDefault ? `${language}*` : language));
    return this.#texts.get(`${videoId}/${state.revision}/${language ?? ''}/${tracks.join()}`, async () =>
      render(),
    );
  }

  /** The media playlist of a rung such as `720p`, or of `audio`. */
  async mediaPlaylist(
    videoId: string,
    rendition: string,
    avh?: string,
  ): Promise<PlaylistResponse | undefined> {
    const found = await this.#open(videoId, rendition);
    if (found === undefined) return undefined;
    const { rendition: open, generation, isComplete, targetDurationSeconds } = found;
    const render = async () =>
      formatVodPlaylist({
        rendition: open,
        generation,
        targetDurationSeconds,
        isComplete,
        ...(avh === undefined ? {} : { avh }),
      });
    const text =
      isComplete && avh === undefined
        ? await this.#texts.get(`${videoId}/${rendition}/${generation}/${targetDurationSeconds}`, render)
        : new RenderedText(await render());
    return { status: 200, text, isComplete, targetDurationSeconds };
  }

  /** An init section or a segment by its name in the media playlist. */
  async media(videoId: string, rendition: string, name: string): Promise<MediaResponse | undefined> {
    const [, kind, generationText, indexText, extension] = segmentName.exec(name) ?? [];
    if (kind === undefined || (kind === 'init') !== (indexText === undefined)) return undefined;
    if ((kind === 'init') !== (extension === 'mp4')) return undefined;
    const found = await this.#open(videoId, rendition, Number(generationText));
    if (found === undefined) return undefined;
    const open = found.rendition;
    const contentType = open.facts.kind === 'video' ? 'video/mp4' : 'audio/mp4';
    const etag = `"${found.generation.toString(36)}-${rendition}-${indexText ?? 'init'}"`;
    if (kind === 'init') {
      return {
        parts: [open.init],
        bytes: open.init.length,
        contentType,
        etag,
        lifetimeSeconds: Number.POSITIVE_INFINITY,
      };
    }
    const index = Number(indexText);
    if (kind !== open.facts.kind || index >= open.segmentCount) return undefined;
    const { parts, bytes } = await open.readSegment(index);
    return { parts, bytes, contentType, etag, lifetimeSeconds: Number.POSITIVE_INFINITY };
  }

  /** The mp4, the image that a video shows, or its storyboard. */
  async file(
    videoId: string,
    file: 'mp4' | 'thumbnail' | 'storyboard.jpg' | 'storyboard.vtt',
    quality?: string,
  ): Promise<ResponseBody | undefined> {
    const { files, thumbnailOf } = this.#options;
    if (file === 'thumbnail') {
      const image = thumbnailOf(videoId);
      return image === undefined ? undefined : bodyOfFile(files.video(videoId, image.file), image.type);
    }
    if (file === 'mp4') {
      const mp4 = this.#options.stateOf(videoId)?.renditions.find(({ type, quality: own, status }) => {
        return type === 'mp4' && status === 'encoded' && (quality === undefined || quality === own);
      });
      return mp4?.file === undefined ? undefined : bodyOfFile(files.video(videoId, mp4.file), 'video/mp4');
    }
    // There may be one from before, while it is made anew.
    if (this.#options.stateOf(videoId)?.hasStoryboard !== true) return undefined;
    return bodyOfFile(files.video(videoId, file), fileTypes[file]);
  }

  /** What goes into the multivariant playlist. */
  #playable(videoId: string, state: EncodingState): PlayableRendition[] {
    const playable: PlayableRendition[] = state.renditions
      .filter(({ type, status }) => type !== 'mp4' && status === 'encoded')
      .map(({ quality, facts }) => ({ name: quality, record: facts as RenditionRecord }));
    const growing = state.isPlayable ? undefined : this.#options.growing.find(videoId);
    for (const [name, rendition] of growing?.renditions ?? []) {
      playable.push({ name, record: recordOfGrowing(rendition, growing!) });
    }
    return playable;
  }

  async #open(videoId: string, name: string, generation?: number) {
    if (!renditionNames.has(name)) return undefined;
    const state = this.#options.stateOf(videoId);
    if (state === undefined) return undefined;
    const stored = state.renditions.find(
      ({ type, quality, status }) => type !== 'mp4' && quality === name && status === 'encoded',
    );
    if (stored?.file !== undefined) {
      const record = stored.facts as RenditionRecord;
      if (generation !== undefined && generation !== record.generation) return undefined;
      return {
        rendition: await this.#options.reader.open(this.#options.files.video(videoId, stored.file)),
        generation: record.generation,
        isComplete: true,
        targetDurationSeconds: this.#targetOf(videoId, state),
      };
    }
    const growing = this.#options.growing.find(videoId);
    const rendition = growing?.renditions.get(name);
    if (growing === undefined || rendition === undefined) return undefined;
    if (generation !== undefined && generation !== growing.generation) return undefined;
    return {
      rendition,
      generation: growing.generation,
      isComplete: false,
      targetDurationSeconds: growing.targetDurationSeconds,
    };
  }

  #targetOf(videoId: string, state: EncodingState): number {
    // Of a video of which one rendition is finished and another grows, all have the one that they will have in the end.
    const growing = state.isPlayable ? undefined : this.#options.growing.find(videoId);
    return Math.max(1, state.targetDurationSeconds ?? 0, growing?.targetDurationSeconds ?? 0);
  }
}

/** A whole file; undefined when it is not there. */
async function bodyOfFile(path: string, contentType: string): Promise<ResponseBody | undefined> {
  try {
    const file = await stat(path);
    const { size } = file;
    return { parts: [{ path, start: 0, length: size }], bytes: size, contentType, etag: fileEtag(file) };
  } catch (error) {
    if (systemCodeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
