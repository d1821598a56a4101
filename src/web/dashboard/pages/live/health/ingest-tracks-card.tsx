import type { IngestTrack } from '../../../api/api-types.ts';
import { languageName } from '../../../format/languages.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/page.tsx';
import { channelLayout } from '../../video/tracks/channel-layout.ts';

/** The tracks that the encoder sends, and the renditions that viewers get. */
export function IngestTracksCard({ tracks }: { tracks: readonly IngestTrack[] }) {
  return (
    <Card title="Tracks">
      <ul class="tracks">
        {tracks.map(track => (
          <li key={`${track.kind} ${track.trackId}`}>
            <span class="two-lines">
              <span class="track-name">
                {titleOf(track)}
                <span class="quiet">{detailsOf(track)}</span>
              </span>
              {track.leftOutReason !== undefined && <span class="hint">{track.leftOutReason}</span>}
              {track.recordingLeftOutReason !== undefined && (
                <span class="hint">Not recorded: {track.recordingLeftOutReason}</span>
              )}
            </span>
            {track.leftOutReason !== undefined ? (
              <Badge tone="warning">Left out</Badge>
            ) : (
              track.rendition !== undefined && <Badge>{track.rendition}</Badge>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
}

function titleOf({ kind, trackId, name }: IngestTrack): string {
  return name ?? `${kind === 'video' ? 'Video' : 'Audio'} ${trackId + 1}`;
}

function detailsOf({ codec, width, height, channels, language }: IngestTrack): string {
  return [
    codec,
    width === undefined || height === undefined ? undefined : `${width} × ${height}`,
    channels === undefined ? undefined : channelLayout(channels),
    language === undefined ? undefined : languageName(language),
  ]
    .filter(text => text !== undefined)
    .join(', ');
}
