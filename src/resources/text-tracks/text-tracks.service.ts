import { notFoundError } from '../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../http/routing/route.ts';
import { attributeError } from '../../http/routing/validation.ts';
import { newUuid } from '../../shared/ids.ts';
import type { ListResult, PageRequest } from '../../shared/list-page.ts';
import { languageTagProblem, normalizeLanguageTag } from '../../shared/text/language-tag.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import { removeFileIn, replaceFile } from '../../storage/replace-file.ts';
import type { Database } from '../../store/database.ts';
import type { PrivateTokens } from '../private-sessions/private-tokens.store.ts';
import { maxTextTracks, type TextTrack, type TextTrackKind } from './text-track.ts';
import type { TextTracksStore } from './text-tracks.store.ts';
import { toWebVtt } from './to-web-vtt.ts';

interface TextTrackVideos {
  find(projectId: string, videoId: string): { readonly public: boolean } | undefined;
  touch(projectId: string, videoId: string): void;
}

interface TextTracksOptions {
  readonly database: Database;
  readonly store: TextTracksStore;
  readonly videos: TextTrackVideos;
  readonly files: MediaFiles;
  readonly privateTokens: PrivateTokens;
  /** Without a trailing slash. */
  readonly baseUrl: () => string;
}

interface TextTrackKey {
  readonly projectId: string;
  readonly videoId: string;
  readonly language: string;
}

interface OwnedTextTrack {
  readonly projectId: string;
  readonly track: TextTrack;
}

/** A track's file is written before its row and deleted after it. */
export class TextTracksService {
  readonly kind: TextTrackKind;
  readonly #options: TextTracksOptions;

  constructor(kind: TextTrackKind, options: TextTracksOptions) {
    this.kind = kind;
    this.#options = options;
  }

  list(projectId: string, videoId: string, page: PageRequest): ListResult<TextTrack> {
    this.#requireVideo(projectId, videoId);
    const { store } = this.#options;
    return { items: store.list(videoId, this.kind, page), total: store.count(videoId, this.kind) };
  }

  hasVideo(projectId: string, videoId: string): boolean {
    return this.#options.videos.find(projectId, videoId) !== undefined;
  }

  keyOf(projectId: string, videoId: string, tag: string): TextTrackKey {
    this.#requireVideo(projectId, videoId);
    const language = normalizeLanguageTag(tag);
    if (language === undefined) throw attributeError('language', languageTagProblem(tag) ?? '');
    return { projectId, videoId, language };
  }

  find({ projectId, videoId, language }: TextTrackKey): OwnedTextTrack | undefined {
    const track = this.#options.store.find(videoId, this.kind, language);
    return track === undefined ? undefined : { projectId, track };
  }

  /** Undefined for an invalid language tag. */
  findByTag(projectId: string, videoId: string, tag: string): OwnedTextTrack | undefined {
    this.#requireVideo(projectId, videoId);
    const language = normalizeLanguageTag(tag);
    return language === undefined ? undefined : this.find({ projectId, videoId, language });
  }

  async put({ projectId, videoId, language }: TextTrackKey, uploaded: UploadedFile): Promise<TextTrack> {
    const { kind } = this;
    const { database, store, files, videos } = this.#options;
    const webVtt = await toWebVtt(uploaded);
    const file = `${kind}-${language}-${newUuid()}.vtt`;
    let track: TextTrack = { videoId, kind, language, isDefault: false, file, bytes: webVtt.bytes };
    await replaceFile(files, { from: webVtt.path, folder: files.video(videoId), name: file }, () =>
      database.transaction(() => {
        this.#requireVideo(projectId, videoId);
        const replaced = store.find(videoId, kind, language);
        if (replaced === undefined && store.count(videoId, kind) >= maxTextTracks) {
          throw attributeError(
            'language',
            `This collection should contain ${maxTextTracks} elements or less.`,
          );
        }
        store.put(track);
        videos.touch(projectId, videoId);
        if (replaced !== undefined) track = { ...track, isDefault: replaced.isDefault };
        return replaced?.file;
      }),
    );
    return track;
  }

  setDefault({ projectId, track }: OwnedTextTrack, isDefault: boolean | undefined): TextTrack {
    const { database, store, videos } = this.#options;
    return database.transaction(() => {
      this.#requireVideo(projectId, track.videoId);
      const current = store.find(track.videoId, this.kind, track.language);
      if (current === undefined) throw notFoundError('language');
      if (isDefault === undefined) return current;
      store.setDefault(current, isDefault);
      videos.touch(projectId, current.videoId);
      return { ...current, isDefault };
    });
  }

  async remove({ projectId, track }: OwnedTextTrack): Promise<void> {
    const { database, store, videos, files } = this.#options;
    const removed = database.transaction(() => {
      const current = store.find(track.videoId, this.kind, track.language);
      if (current === undefined) return undefined;
      store.remove(current);
      videos.touch(projectId, current.videoId);
      return current;
    });
    if (removed !== undefined) await removeFileIn(files.video(removed.videoId), removed.file);
  }

  baseUrl(projectId: string, videoId: string): string {
    const { baseUrl, privateTokens, videos } = this.#options;
    const isPublic = videos.find(projectId, videoId)?.public !== false;
    const token = isPublic ? '' : `/token/${privateTokens.mint(videoId)}`;
    return `${baseUrl()}/vod/${videoId}${token}/${this.kind}`;
  }

  ofVideo(videoId: string): TextTrack[] {
    return this.#options.store.list(videoId, this.kind);
  }

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

  #requireVideo(projectId: string, videoId: string): void {
    if (!this.hasVideo(projectId, videoId)) throw notFoundError('videoId');
  }
}
