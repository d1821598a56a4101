import type { IngestTrack } from '../../../api/api-types.ts';
import { languageName } from '../../../format/languages.ts';
import { withUnit } from '../../../format/with-unit.ts';
import { t } from '../../../texts/live.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Card } from '../../../ui/page.tsx';
import { channelLayout } from '../../video/tracks/channel-layout.ts';

/** The tracks that the encoder sends, and the renditions that viewers get. */
export function IngestTracksCard({ tracks }: { tracks: readonly IngestTrack[] }) {
  return (
    <Card title={t('tracks.title')}>
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
                <span class="hint">{t('tracks.notRecorded', { reason: track.recordingLeftOutReason })}</span>
              )}
            </span>
            {track.leftOutReason !== undefined ? (
              <Badge tone="warning">{t('tracks.leftOut')}</Badge>
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
  return name ?? t(kind === 'video' ? 'tracks.video' : 'tracks.audio', { number: trackId + 1 });
}

function detailsOf({ codec, width, height, channels, language }: IngestTrack): string {
  return [
    codec,
    width === undefined || height === undefined ? undefined : withUnit(width, `× ${height}`),
    channels === undefined ? undefined : channelLayout(channels),
    language === undefined ? undefined : languageName(language),
  ]
    .filter(text => text !== undefined)
    .join(', ');
}
