import { expect, test } from 'vitest';
import { IngestTracks } from '../../../../src/live/health/ingest-tracks.ts';
import type { TrackDescription } from '../../../../src/media/cmaf/movie-box.ts';

test('a track that is converted later keeps what is known of it', () => {
  const tracks = new IngestTracks();
  tracks.arrived('audio', 0, 'AAC');
  tracks.delivered('audio', 0, 'source', { channels: 6 } as TrackDescription);
  tracks.delivered('audio', 0, 'audio', undefined);
  const [track] = tracks.list(() => ({}));
  expect(track).toMatchObject({ codec: 'AAC', channels: 6, rendition: 'audio' });
});
