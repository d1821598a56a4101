import type { VideoStatus } from '../../api/api-types.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatPercent } from '../../format/size.ts';
import type { AdditionalQuality, Quality } from '../../format/video-state.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { Section } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { renditionName } from './video-activity.ts';

const statusLabels: Readonly<Record<Quality['status'], readonly [text: string, tone: Tone]>> = {
  waiting: ['Waiting', 'neutral'],
  encoding: ['Encoding', 'info'],
  encoded: ['Done', 'good'],
  failed: ['Failed', 'bad'],
};

export function QualitiesCard({ status }: { status: Loaded<VideoStatus> }) {
  return (
    <Section title="Renditions">
      <LoadedContent loaded={status} rows={4}>
        {({ encoding }) =>
          encoding.qualities.length === 0 ? (
            <p class="quiet">
              {encoding.playable
                ? 'Audio-only videos have one rendition.'
                : encoding.failure === undefined
                  ? 'Encoding starts once the file has arrived.'
                  : 'None, because the video failed.'}
            </p>
          ) : (
            <ul class="qualities">
              {encoding.qualities.map(quality => (
                <QualityRow key={`${quality.type} ${quality.quality}`} rendition={quality} />
              ))}
              {encoding.additionalQualities?.map(one => (
                <QualityRow key={`${one.codec} ${one.quality}`} rendition={one} />
              ))}
            </ul>
          )
        }
      </LoadedContent>
    </Section>
  );
}

function QualityRow({ rendition }: { rendition: Quality | AdditionalQuality }) {
  const { quality, status, progress } = rendition;
  const [text, tone] = statusLabels[status];
  const kind =
    'codec' in rendition ? codecName(rendition.codec) : rendition.type === 'mp4' ? 'MP4 download' : undefined;
  const isEncoding = status === 'encoding';
  return (
    <li>
      <span class="quality-name">
        {quality}
        {kind !== undefined && <span class="quiet"> {kind}</span>}
      </span>
      <Badge tone={tone}>{isEncoding ? formatPercent(progress) : text}</Badge>
      {isEncoding && <Progress percent={progress} label={`Encoding ${renditionName(rendition)}`} />}
    </li>
  );
}
