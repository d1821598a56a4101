import { notFoundError } from '../../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import { newUuid } from '../../../shared/ids.ts';
import type { ListResult, PageRequest } from '../../../shared/list-page.ts';
import { languageTagProblem, normalizeLanguageTag } from '../../../shared/text/language-tag.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import { removeFileIn, replaceFile } from '../../../storage/replace-file.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { PrivateTokens } from '../../playback/private-sessions/private-tokens.store.ts';
import { maxTextTracks, type TextTrack, type TextTrackKind } from './text-track.ts';
import type { TextTracksStore } from './text-tracks.store.ts';
import { toWebVtt } from './to-web-vtt.ts';

interface TextTrackVideos {
  find(projectId: string, videoId: string): Promise<{ readonly public: boolean } | undefined>;
  /** Returns false when the video is not there; otherwise, others wait with their changes. */
  touch(projectId: string, videoId: string, transaction: Transaction): Promise<boolean>;
}

interface TextTracksOptions {
  readonly database: Database;
  readonly store: TextTracksStore;
  readonly videos: TextTrackVideos;
  readonly files: MediaFiles;
  readonly privateTokens: PrivateTokens;
  /** Base URL without a trailing slash. */
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

  async list(projectId: string, videoId: string, page: PageRequest): Promise<ListResult<TextTrack>> {
    await this.#requireVideo(projectId, videoId);
    const { store } = this.#options;
    const items = await store.list(videoId, this.kind, page);
    return { items, total: await store.count(videoId, this.kind) };
  }

  async hasVideo(projectId: string, videoId: string): Promise<boolean> {
    return (await this.#options.videos.find(projectId, videoId)) !== undefined;
  }

  async keyOf(projectId: string, videoId: string, tag: string): Promise<TextTrackKey> {
    await this.#requireVideo(projectId, videoId);
    const language = normalizeLanguageTag(tag);
    if (language === undefined) throw attributeError('language', languageTagProblem(tag) ?? '');
    return { projectId, videoId, language };
  }

  async find({ projectId, videoId, language }: TextTrackKey): Promise<OwnedTextTrack | undefined> {
    const track = await this.#options.store.find(videoId, this.kind, language);
    return track === undefined ? undefined : { projectId, track };
  }

  /** Undefined for an invalid language tag. */
  async findByTag(projectId: string, videoId: string, tag: string): Promise<OwnedTextTrack | undefined> {
    await this.#requireVideo(projectId, videoId);
    const language = normalizeLanguageTag(tag);
    return language === undefined ? undefined : this.find({ projectId, videoId, language });
  }

  async put({ projectId, videoId, language }: TextTrackKey, uploaded: UploadedFile): Promise<TextTrack> {
    const { kind } = this;
    const { database, store, files, videos } = this.#options;
    const webVtt = await toWebVtt(uploaded, language);
    const file = `${kind}-${language}-${newUuid()}.vtt`;
    const content = { file, bytes: webVtt.bytes, isGenerated: false, warnings: webVtt.warnings };
    const track: TextTrack = { videoId, kind, language, isDefault: false, ...content };
    let isDefault = false;
    await replaceFile(files, { from: webVtt.path, folder: files.video(videoId), name: file }, async () => {
      const replaced = await database.transaction(async transaction => {
        if (!(await videos.touch(projectId, videoId, transaction))) throw notFoundError('videoId');
        const current = await store.find(videoId, kind, language, transaction);
        if (current === undefined) await this.#requireRoom(videoId, transaction);
        await store.put(track, transaction);
        return current;
      });
      isDefault = replaced?.isDefault ?? false;
      return replaced?.file;
    });
    return { ...track, isDefault };
  }

  setDefault({ projectId, track }: OwnedTextTrack, isDefault: boolean | undefined): Promise<TextTrack> {
    const { database, store, videos } = this.#options;
    return database.transaction(async transaction => {
      if (isDefault !== undefined && !(await videos.touch(projectId, track.videoId, transaction))) {
        throw notFoundError('videoId');
      }
      const current = await store.find(track.videoId, this.kind, track.language, transaction);
      if (current === undefined) throw notFoundError('language');
      if (isDefault === undefined) return current;
      await store.setDefault(current, isDefault, transaction);
      return { ...current, isDefault };
    });
  }

  async remove({ projectId, track }: OwnedTextTrack): Promise<void> {
    const { database, store, videos, files } = this.#options;
    const removed = await database.transaction(async transaction => {
      await videos.touch(projectId, track.videoId, transaction);
      const current = await store.find(track.videoId, this.kind, track.language, transaction);
      if (current !== undefined) await store.remove(current, transaction);
      return current;
    });
    if (removed !== undefined) await removeFileIn(files, files.video(removed.videoId), removed.file);
  }

  async baseUrl(projectId: string, videoId: string): Promise<string> {
    const { baseUrl, privateTokens, videos } = this.#options;
    const isPublic = (await videos.find(projectId, videoId))?.public !== false;
    const token = isPublic ? '' : `/token/${privateTokens.mint(videoId)}`;
    return `${baseUrl()}/vod/${videoId}${token}/${this.kind}`;
  }

  ofVideo(videoId: string): Promise<TextTrack[]> {
    return this.#options.store.list(videoId, this.kind);
  }

  async fileOf(
    videoId: string,
    tag: string,
  ): Promise<{ readonly path: string; readonly bytes: number; readonly name: string } | undefined> {
    const { store, files } = this.#options;
    const language = normalizeLanguageTag(tag);
    const track = language === undefined ? undefined : await store.find(videoId, this.kind, language);
    if (track === undefined) return undefined;
    return { path: files.video(videoId, track.file), bytes: track.bytes, name: track.file };
  }

  async #requireVideo(projectId: string, videoId: string): Promise<void> {
    if (!(await this.hasVideo(projectId, videoId))) throw notFoundError('videoId');
  }

  async #requireRoom(videoId: string, transaction: Transaction): Promise<void> {
    if ((await this.#options.store.count(videoId, this.kind, transaction)) < maxTextTracks) return;
    throw attributeError('language', `This collection should contain ${maxTextTracks} elements or less.`);
  }
}
