import { rm, rmdir } from 'node:fs/promises';
import type { UploadedFile } from '../../http/routing/route.ts';
import { attributeError } from '../../http/routing/validation.ts';
import { AppError } from '../../shared/errors.ts';
import { newUuid } from '../../shared/ids.ts';
import { languageTagProblem, normalizeLanguageTag } from '../../shared/text/language-tag.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import type { Database } from '../../store/database.ts';
import type { PrivateTokens } from '../private-sessions/private-tokens.store.ts';
import { maxTextTracks, type TextTrack, type TextTrackKind } from './text-track.ts';
import type { TextTracksStore } from './text-tracks.store.ts';
import { toWebVtt } from './to-web-vtt.ts';

/** What is asked of the videos themselves. */
export interface TextTrackVideos {
  /** A video of a project that is not discarded. */
  find(projectId: string, videoId: string): { readonly public: boolean } | undefined;
  /** Notes that a video was changed just now. */
  touched(projectId: string, videoId: string): void;
}

/** What captions and chapters are kept with. */
export interface TextTracksOptions {
  readonly database: Database;
  readonly store: TextTracksStore;
  readonly videos: TextTrackVideos;
  readonly files: MediaFiles;
  readonly privateTokens: PrivateTokens;
  /** Base of asset addresses, without a slash at its end. */
  readonly baseUrl: () => string;
}

/** Where a track is, or will be. */
export interface TextTrackKey {
  readonly projectId: string;
  readonly videoId: string;
  /** A known tag in its usual case. */
  readonly language: string;
}

/** A track that was found, and whose it is. */
export interface OwnedTextTrack {
  readonly projectId: string;
  readonly track: TextTrack;
}

/**
 * The captions of videos, or their chapters. The cues of WebVTT are not validated: what cannot be read does not show. A file is in place
 * before its row says so and goes after it, so that a crash can only leave a file that nobody asks for, which goes with its video.
 */
export class TextTracksService {
  readonly kind: TextTrackKind;
  readonly #options: TextTracksOptions;

  constructor(kind: TextTrackKind, options: TextTracksOptions) {
    this.kind = kind;
    this.#options = options;
  }

  /** One page of a video's tracks, with their addresses, and how many there are on all pages. */
  list(
    projectId: string,
    videoId: string,
    page: { readonly currentPage: number; readonly pageSize: number },
  ): { tracks: TextTrack[]; total: number } {
    this.#checkVideo(projectId, videoId);
    const { store } = this.#options;
    return { tracks: store.list(videoId, this.kind, page), total: store.count(videoId, this.kind) };
  }

  /** Whether a project has a video that is not discarded. */
  hasVideo(projectId: string, videoId: string): boolean {
    return this.#options.videos.find(projectId, videoId) !== undefined;
  }

  /**
   * Where a track of this language is or can be put.
   *
   * @throws AppError `resource-not-found` without the video, `invalid-attribute` for a tag that is none
   */
  keyOf(projectId: string, videoId: string, tag: string): TextTrackKey {
    this.#checkVideo(projectId, videoId);
    const language = normalizeLanguageTag(tag);
    if (language === undefined) throw attributeError('language', languageTagProblem(tag) ?? '');
    return { projectId, videoId, language };
  }

  /** The track of a place, if there is one. */
  find({ projectId, videoId, language }: TextTrackKey): OwnedTextTrack | undefined {
    const track = this.#options.store.find(videoId, this.kind, language);
    return track === undefined ? undefined : { projectId, track };
  }

  /** The same by a tag that may be none, which then names no track. @throws AppError `resource-not-found` without the video */
  findByTag(projectId: string, videoId: string, tag: string): OwnedTextTrack | undefined {
    this.#checkVideo(projectId, videoId);
    const language = normalizeLanguageTag(tag);
    return language === undefined ? undefined : this.find({ projectId, videoId, language });
  }

  /**
   * Keeps a received file as WebVTT, in the place of the one that is there.
   *
   * @throws AppError as {@link toWebVtt} does; `invalid-attribute` when the video has too many; `resource-not-found` when it went
   *   meanwhile
   */
  async put({ projectId, videoId, language }: TextTrackKey, uploaded: UploadedFile): Promise<TextTrack> {
    const { database, store, files } = this.#options;
    const file = await toWebVtt(uploaded);
    const name = `${this.kind}-${language}-${newUuid()}.vtt`;
    await files.publish(file.path, files.video(videoId, name));
    let unusedFile: string | undefined = name;
    try {
      const before = database.transaction(() => {
        this.#checkVideo(projectId, videoId);
        const present = store.find(videoId, this.kind, language);
        if (present === undefined && store.count(videoId, this.kind) >= maxTextTracks) {
          throw attributeError(
            'language',
            `This collection should contain ${maxTextTracks} elements or less.`,
          );
        }
        const { kind } = this;
        store.put({ videoId, kind, language, isDefault: false, file: name, bytes: file.bytes });
        this.#options.videos.touched(projectId, videoId);
        return present;
      });
      unusedFile = before?.file;
      return {
        ...(before ?? { videoId, kind: this.kind, language, isDefault: false }),
        file: name,
        bytes: file.bytes,
      };
    } finally {
      if (unusedFile !== undefined) await this.#removeFile(videoId, unusedFile);
    }
  }

  /**
   * Makes captions the default ones of their video, in place of any other, or no longer. Undefined leaves them as they are.
   *
   * @throws AppError `resource-not-found` when they or their video went while the request came in
   */
  setDefault({ projectId, track }: OwnedTextTrack, isDefault: boolean | undefined): TextTrack {
    const { database, store, videos } = this.#options;
    return database.transaction(() => {
      this.#checkVideo(projectId, track.videoId);
      const present = store.find(track.videoId, this.kind, track.language);
      if (present === undefined) {
        throw new AppError('resource-not-found', undefined, { details: { name: 'language' } });
      }
      if (isDefault === undefined) return present;
      store.setDefault(present, isDefault);
      videos.touched(projectId, present.videoId);
      return { ...present, isDefault };
    });
  }

  /** Removes a track and its file. */
  async remove({ projectId, track }: OwnedTextTrack): Promise<void> {
    const { database, store, videos } = this.#options;
    const removed = database.transaction(() => {
      const present = store.find(track.videoId, this.kind, track.language);
      if (present === undefined) return undefined;
      store.remove(present);
      videos.touched(projectId, present.videoId);
      return present;
    });
    if (removed !== undefined) await this.#removeFile(removed.videoId, removed.file);
  }

  /** What the addresses of a video's tracks begin with; of a private one with a new private token. */
  addressBase(projectId: string, videoId: string): string {
    const { baseUrl, privateTokens, videos } = this.#options;
    const isPublic = videos.find(projectId, videoId)?.public !== false;
    const token = isPublic ? '' : `/token/${privateTokens.mint(videoId)}`;
    return `${baseUrl()}/vod/${videoId}${token}/${this.kind}`;
  }

  /** All tracks of a video, whosever it is; for delivery. */
  ofVideo(videoId: string): TextTrack[] {
    return this.#options.store.list(videoId, this.kind);
  }

  /** The file of a track, whosever the video is; for delivery. `tag`: in any case. */
  fileOf(
    videoId: string,
    tag: string,
  ): { readonly path: string; readonly bytes: number; readonly name: string } | undefined {
    const { store, files } = this.#options;
    const language = normalizeLanguageTag(tag);
    const track = language === undefined ? undefined : store.find(videoId, this.kind, language);
    if (track === undefined) return undefined;
    return { path: files.video(videoId, track.file), bytes: track.bytes, name: track.file };
  }

  #checkVideo(projectId: string, videoId: string): void {
    if (this.hasVideo(projectId, videoId)) return;
    throw new AppError('resource-not-found', undefined, { details: { name: 'videoId' } });
  }

  async #removeFile(videoId: string, name: string): Promise<void> {
    const { files } = this.#options;
    await rm(files.video(videoId, name), { force: true });
    // The folder of a video that was deleted meanwhile came back with the file; any other one is not empty.
    await rmdir(files.video(videoId)).catch(() => {});
  }
}
