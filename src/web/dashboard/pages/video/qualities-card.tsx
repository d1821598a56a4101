import type { VideoStatus } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatPercent } from '../../format/size.ts';
import type { AdditionalQuality, Quality } from '../../format/video-state.ts';
import { can } from '../../state/session.ts';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { Card } from '../../ui/page.tsx';
import { Progress } from '../../ui/progress.tsx';
import { LoadedContent } from '../../ui/states.tsx';
import { showError } from '../../ui/toast.tsx';

const statusLabels: Readonly<Record<Quality['status'], readonly [text: string, tone: Tone]>> = {
  waiting: ['Waiting', 'neutral'],
  encoding: ['Encoding', 'info'],
  encoded: ['Done', 'good'],
  failed: ['Failed', 'bad'],
};

export function QualitiesCard({ videoId, status }: { videoId: string; status: Loaded<VideoStatus> }) {
  const hasFailed = status.value !== undefined && canRetry(status.value);
  const retry = () =>
    call('POST /videos/{videoId}/retry', { params: { videoId } }).then(status.reload, showError);
  return (
    <Card
      title="Qualities"
      actions={
        hasFailed && can('upload') ? (
          <Button small icon="refresh" onClick={() => void retry()}>
            Try again
          </Button>
        ) : undefined
      }
    >
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
              {encoding.additionalQualities?.map(one => (
                <QualityRow key={`${one.codec} ${one.quality}`} {...one} />
              ))}
            </ul>
          )
        }
      </LoadedContent>
    </Card>
  );
}

/** Something has failed. */
function canRetry({ encoding }: VideoStatus): boolean {
  const { failure, playable, qualities, additionalQualities = [] } = encoding;
  const hasFailedQuality = [...qualities, ...additionalQualities].some(one => one.status === 'failed');
  return playable ? hasFailedQuality : failure !== undefined;
}

function QualityRow({ quality, status, progress, ...rendition }: Quality | AdditionalQuality) {
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
      {isEncoding && (
        <Progress percent={progress} label={`Encoding ${[quality, kind].filter(Boolean).join(' ')}`} />
      )}
    </li>
  );
}
