import type { VideoStatus } from '../../api/api-types.ts';
import { formatPercent } from '../../format/size.ts';
import type { Quality } from '../../format/video-state.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { Card } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { LoadedContent } from '../../ui/states.tsx';

const words: Readonly<Record<Quality['status'], readonly [text: string, tone: Tone]>> = {
  waiting: ['Waiting', 'neutral'],
  encoding: ['Encoding', 'info'],
  encoded: ['Done', 'good'],
  failed: ['Failed', 'bad'],
};

export function QualitiesCard({ status }: { status: Loaded<VideoStatus> }) {
  return (
    <Card title="Qualities">
      <LoadedContent loaded={status} rows={4}>
        {({ encoding }) =>
          encoding.qualities.length === 0 ? (
            <p class="quiet">
              {encoding.playable
                ? 'Audio-only videos have one quality.'
                : encoding.failure === undefined
                  ? 'Encoding starts once the file has arrived.'
                  : 'None, because the video failed.'}
            </p>
          ) : (
            <ul class="qualities">
              {encoding.qualities.map(quality => (
                <QualityRow key={`${quality.type} ${quality.quality}`} {...quality} />
              ))}
            </ul>
          )
        }
      </LoadedContent>
    </Card>
  );
}

function QualityRow({ type, quality, status, progress }: Quality) {
  const [text, tone] = words[status];
  const name = type === 'mp4' ? `${quality} mp4` : quality;
  const isEncoding = status === 'encoding';
  return (
    <li>
      <span class="quality-name">
        {quality}
        {type === 'mp4' && <span class="quiet"> MP4 download</span>}
      </span>
      <Badge tone={tone}>{isEncoding ? formatPercent(progress) : text}</Badge>
      {isEncoding && <Progress percent={progress} label={`Encoding ${name}`} />}
    </li>
  );
}
