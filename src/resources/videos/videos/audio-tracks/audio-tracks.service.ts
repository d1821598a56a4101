import { notFoundError } from '../../../../http/routing/project-resource.ts';
import { parseAudioRenditionName } from '../../../../shared/audio-rendition.ts';
import type { ListResult, PageRequest } from '../../../../shared/list-page.ts';
import {
  canonicalLanguageTag,
  nativeLanguageName,
  normalizeLanguageTag,
} from '../../../../shared/text/language-tag.ts';
import { trackTitle } from '../../../../shared/text/track-title.ts';
import type { Connection, Transaction } from '../../../../store/connection.ts';
import type { Database } from '../../../../store/database.ts';
import type { AudioTrack } from '../../../../vod/encoding-repository.ts';
import type { AudioTrackChanges, AudioTrackView } from './audio-tracks.schema.ts';
import type { AudioTracksStore } from './audio-tracks.store.ts';

interface AudioTrackVideos {
  find(projectId: string, videoId: string): Promise<object | undefined>;
  /** Returns false when the video is not there; otherwise, others wait with their changes. */
  touch(projectId: string, videoId: string, transaction: Transaction): Promise<boolean>;
}

interface AudioTracksOptions {
  readonly database: Database;
  readonly store: AudioTracksStore;
  readonly videos: AudioTrackVideos;
}

/** A track and the state of its rendition in stereo. */
type TrackState = AudioTrack & Pick<AudioTrackView, 'status'>;

export class AudioTracksService {
  readonly #options: AudioTracksOptions;

  constructor(options: AudioTracksOptions) {
    this.#options = options;
  }

  async hasVideo(projectId: string, videoId: string): Promise<boolean> {
    return (await this.#options.videos.find(projectId, videoId)) !== undefined;
  }

  async list(videoId: string, { currentPage, pageSize }: PageRequest): Promise<ListResult<AudioTrackView>> {
    const views = await this.#views(videoId);
    const start = (currentPage - 1) * pageSize;
    return { items: views.slice(start, start + pageSize), total: views.length };
  }

  async find(videoId: string, id: string): Promise<AudioTrackView | undefined> {
    return (await this.#views(videoId)).find(({ audioTrackId }) => audioTrackId === id);
  }

  async change(
    projectId: string,
    videoId: string,
    id: string,
    changes: AudioTrackChanges,
  ): Promise<AudioTrackView> {
    const { database, store, videos } = this.#options;
    return database.transaction(async transaction => {
      if (!(await videos.touch(projectId, videoId, transaction))) throw notFoundError('videoId');
      const tracks = await this.#tracks(videoId, transaction);
      const track = tracks.find(one => String(one.track) === id);
      if (track === undefined) throw notFoundError('audioTrackId');
      const changed = moved(
        tracks.map(one => (one === track ? withChanges(one, changes) : withoutDefault(one, changes))),
        track.track,
        changes.position,
      );
      await store.set(videoId, changed.map(stored), transaction);
      return viewsOf(videoId, changed).find(({ audioTrackId }) => audioTrackId === id)!;
    });
  }

  async #views(videoId: string): Promise<AudioTrackView[]> {
    return viewsOf(videoId, await this.#tracks(videoId));
  }

  /** Returns tracks in the order of menus. Sources that an older version prepared have no stored tracks. */
  async #tracks(videoId: string, connection?: Connection): Promise<TrackState[]> {
    const { tracks, renditions } = await this.#options.store.ofVideo(videoId, connection);
    const found = renditions.flatMap(({ quality, status, facts }): TrackState[] => {
      const name = parseAudioRenditionName(quality);
      if (name === undefined || name.isSurround) return [];
      const { language, channels } = (facts === null ? {} : JSON.parse(facts)) as {
        language?: string;
        channels?: number;
      };
      const known = tracks.find(({ track }) => track === name.track);
      const tag = language && canonicalLanguageTag(language);
      const own = known ?? { track: name.track, language: tag, channels, isDefault: name.track === 1 };
      return [{ ...own, status }];
    });
    const placeOf = ({ track }: TrackState) => {
      const place = tracks.findIndex(one => one.track === track);
      return place === -1 ? tracks.length + track : place;
    };
    return found.toSorted((one, other) => placeOf(one) - placeOf(other));
  }
}

function withChanges(
  track: TrackState,
  { name, language, default: isDefault }: AudioTrackChanges,
): TrackState {
  return {
    ...track,
    ...(name === undefined ? {} : { name: trackTitle(name ?? undefined) }),
    ...(language === undefined
      ? {}
      : { language: language === null ? undefined : normalizeLanguageTag(language) }),
    ...(isDefault === true ? { isDefault } : {}),
  };
}

function withoutDefault(track: TrackState, changes: AudioTrackChanges): TrackState {
  return changes.default === true ? { ...track, isDefault: false } : track;
}

function moved(tracks: readonly TrackState[], number: number, position: number | undefined): TrackState[] {
  if (position === undefined) return [...tracks];
  const others = tracks.filter(({ track }) => track !== number);
  return others.toSpliced(position - 1, 0, ...tracks.filter(({ track }) => track === number));
}

function stored({ status: _, ...track }: TrackState): AudioTrack {
  return track;
}

function viewsOf(videoId: string, tracks: readonly TrackState[]): AudioTrackView[] {
  return tracks.map(({ track, name, language, channels, codec, isDefault, status }, index) => ({
    uri: `/videos/${videoId}/audio-tracks/${track}`,
    audioTrackId: String(track),
    name: name ?? (language === undefined ? `Audio ${track}` : nativeLanguageName(language)),
    language: language ?? null,
    channels: channels ?? null,
    codec: codec ?? null,
    default: isDefault,
    position: index + 1,
    status,
  }));
}
