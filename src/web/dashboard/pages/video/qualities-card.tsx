import type { VideoStatus } from '../../api/api-types.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatPercent } from '../../format/size.ts';
import type { AdditionalQuality, Quality } from '../../format/video-state.ts';
import { t } from '../../texts/video.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { Section } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { renditionName } from './video-activity.ts';

const tones: Readonly<Record<Quality['status'], Tone>> = {
  waiting: 'neutral',
  encoding: 'info',
  encoded: 'good',
  failed: 'bad',
};

export function QualitiesCard({ status }: { status: Loaded<VideoStatus> }) {
  return (
    <Section title={t('renditions.title')}>
      <LoadedContent loaded={status} rows={4}>
        {({ encoding }) =>
          encoding.qualities.length === 0 ? (
            <p class="quiet">
              {encoding.playable
                ? t('renditions.audioOnly')
                : encoding.failure === undefined
                  ? t('renditions.notStarted')
                  : t('renditions.none')}
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

  const kind =
    'codec' in rendition
      ? codecName(rendition.codec)
      : rendition.type === 'mp4'
        ? t('renditions.mp4')
        : undefined;
  const isEncoding = status === 'encoding';
  return (
    <li>
      <span class="quality-name">
        {quality}
        {kind !== undefined && <span class="quiet"> {kind}</span>}
      </span>
      <Badge tone={tones[status]}>
        {isEncoding ? formatPercent(progress) : t(`renditions.statuses.${status}`)}
      </Badge>
      {isEncoding && (
        <Progress
          percent={progress}
          label={t('renditions.encoding', { rendition: renditionName(rendition) })}
        />
      )}
    </li>
  );
}
