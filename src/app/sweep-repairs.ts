import type { SweepRepairs } from '../operations/housekeeping/sweep-repairs.ts';
import { LiveStreamsStore } from '../resources/live/live-streams/live-streams.store.ts';
import { PlayersStore } from '../resources/playback/players/players.store.ts';
import { TextTracksStore } from '../resources/videos/text-tracks/text-tracks.store.ts';
import { EncodingRepairsStore } from '../resources/videos/videos/encodings/encoding-repairs.store.ts';
import { VideoThumbnailsStore } from '../resources/videos/videos/thumbnails/video-thumbnails.store.ts';
import { WatermarksStore } from '../resources/videos/watermarks/watermarks.store.ts';
import type { Database } from '../store/database.ts';

export function createSweepRepairs(database: Database): SweepRepairs {
  const encodings = new EncodingRepairsStore(database);
  const tracks = new TextTracksStore(database);
  const thumbnails = new VideoThumbnailsStore(database);
  const players = new PlayersStore(database, []);
  const liveStreams = new LiveStreamsStore(database);
  const watermarks = new WatermarksStore(database);
  return {
    transaction: work => database.transaction(work),
    repairEncoding: (videoId, repair, transaction) => encodings.repair(videoId, repair, transaction),
    removeTextTrack: async (videoId, track, transaction) => {
      await tracks.remove({ videoId, ...track }, transaction);
    },
    clearVideoThumbnail: (videoId, transaction) => thumbnails.clear(videoId, transaction),
    clearLogo: playerId => players.clearLogo(playerId),
    clearLiveThumbnail: liveStreamId => liveStreams.clearThumbnail(liveStreamId),
    removeWatermark: watermarkId => watermarks.removeLost(watermarkId),
  };
}
