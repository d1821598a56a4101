import type { ComponentChildren } from 'preact';
import { saveFile } from '../../../shared/save-file.ts';
import { formatTime } from '../../../shared/time-text.ts';
import type { Video, VideoStatus } from '../../api/api-types.ts';
import { urlOf } from '../../api/client.ts';
import { codecName } from '../../format/codec-name.ts';
import { formatBitrate, formatBytes, formatNumber } from '../../format/size.ts';
import { formatDateTime } from '../../format/time.ts';
import { withUnit } from '../../format/with-unit.ts';
import { environment, project } from '../../state/session.ts';
import { t } from '../../texts/video.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { copyText } from '../../ui/copy.tsx';
import type { Loaded } from '../../ui/hooks/use-load.ts';
import { DetailList, Section } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/states.tsx';

type Row = readonly [name: string, value: ComponentChildren];

export function FileInfoCard({ video, status }: { video: Video; status: Loaded<VideoStatus> }) {
  const { videoId, source, createdAt, publishedAt, updatedAt } = video;
  const origin: Row[] =
    source.liveStream === undefined
      ? []
      : [
          [
            t('file.recordedFrom'),
            <a key="link" href={`/dashboard/live/${source.liveStream.liveStreamId}`}>
              {t('file.stream')}
            </a>,
          ],
        ];
  return (
    <Section title={t('file.title')}>
      {status.value === undefined ? <Skeleton rows={5} /> : <DetailList rows={fileRows(status.value)} />}
      <DetailList
        rows={[
          ...origin,
          [t('file.created'), formatDateTime(createdAt)],
          ...(publishedAt === createdAt ? [] : [[t('file.published'), formatDateTime(publishedAt)] as const]),
          [t('file.updated'), formatDateTime(updatedAt)],
          [
            t('file.videoId'),
            <span key="id" class="video-id">
              <code>{videoId}</code>
              <IconButton
                icon="copy"
                label={t('file.copyId')}
                onClick={() => void copyText(videoId, t('file.videoId'))}
              />
            </span>,
          ],
        ]}
      />
      <OriginalDownload video={video} status={status.value} />
      {environment.value === 'sandbox' && <p class="hint">{t('file.sandbox')}</p>}
    </Section>
  );
}

function OriginalDownload({
  video: { videoId, source },
  status,
}: {
  video: Video;
  status: VideoStatus | undefined;
}) {
  const { ingest } = status ?? {};
  if (ingest?.filesize == null || (ingest.status !== 'uploaded' && ingest.status !== 'ingested')) return null;
  const size = formatBytes(ingest.filesize);
  const address = urlOf(
    '/videos/{videoId}/source',
    { videoId },
    { environment: environment.value, project: project.value?.projectId },
  );
  return (
    <div>
      <Button icon="download" small onClick={() => saveFile(address, '')}>
        {source.type === 'liveStream'
          ? t('file.downloadRecording', { size })
          : t('file.downloadOriginal', { size })}
      </Button>
    </div>
  );
}

function fileRows({ ingest, encoding }: VideoStatus): Row[] {
  const { duration, width, height, framerate, bitrate, videoCodec, audioCodec, samplerate } =
    encoding.metadata;
  const size = ingest?.filesize ?? null;
  const rows: [string, string | null][] = [
    [t('file.duration'), duration === null ? null : formatTime(duration)],
    [t('file.size'), size === null ? null : formatBytes(size)],
    [t('file.resolution'), width === null || height === null ? null : withUnit(width, `× ${height}`)],
    [t('file.frameRate'), framerate === null ? null : withUnit(formatNumber(framerate), 'fps')],
    [t('file.bitrate'), bitrate === null ? null : formatBitrate(bitrate * 1000)],
    [t('file.videoCodec'), videoCodec === null ? null : codecName(videoCodec)],
    [t('file.audioCodec'), audioFormat(audioCodec, samplerate)],
  ];
  const known = rows.filter((row): row is [string, string] => row[1] !== null);
  return known.length === 0 ? [[t('file.file'), t('file.unknown')]] : known;
}

function audioFormat(codec: string | null, samplerate: number | null): string | null {
  if (codec === null) return null;
  return samplerate === null
    ? codecName(codec)
    : `${codecName(codec)}, ${formatNumber(samplerate / 1000, 1)} kHz`;
}
