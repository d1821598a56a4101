import { useState } from 'preact/hooks';
import { formatCueTime } from '../../../../media/webvtt/cue-times.ts';
import type { Video } from '../../api/api-types.ts';
import { call } from '../../api/client.ts';
import { titleOf } from '../../format/video-title.ts';
import { t } from '../../texts/video.ts';
import { FormDialog } from '../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../ui/form/use-submit.ts';
import { LoadedContent } from '../../ui/states.tsx';
import { useFrameSource } from '../video/thumbnail/use-frame-source.ts';
import type { VideoAssets } from '../video/use-video.ts';
import { ClipFields, type ClipOptions } from './clip-fields.tsx';
import { type ClipDraft, clipFaults, minClipSeconds } from './clip-times.ts';
import { shownTime, TrimEditor } from './trim-editor.tsx';

/** Suggested length for a clip of a long video. */
const suggestedSeconds = 30;

export function VideoClipDialog({
  video,
  assets,
  onCreated,
  onClose,
}: {
  video: Video;
  assets: VideoAssets;
  onCreated: (videoId: string) => void;
  onClose: () => void;
}) {
  const film = useFrameSource(assets);
  const [chosen, setChosen] = useState<ClipDraft>();
  const [options, setOptions] = useState<ClipOptions>({
    title: t('trim.titleOf', { title: titleOf(video) }),
    precision: 'frame',
    isPublic: video.public,
  });
  const duration = film.value?.durationSeconds ?? 0;
  const times = chosen ?? { start: 0, end: Math.min(duration, suggestedSeconds) };
  const hasFaults = Object.keys(clipFaults(times, duration, shownTime)).length > 0;
  const submission = useSubmit(async () => {
    const { title, precision, isPublic } = options;
    const created = await call('POST /videos', {
      body: {
        title,
        source: video.videoId,
        public: isPublic,
        clip: {
          precision,
          startTimecode: formatCueTime(1000 * times.start),
          endTimecode: formatCueTime(1000 * times.end),
        },
      },
    });
    onCreated(created.videoId);
  });
  return (
    <FormDialog
      title={t('trim.create')}
      action={t('trim.create')}
      wide
      disabled={duration < minClipSeconds || hasFaults || options.title.trim() === ''}
      submission={submission}
      onClose={onClose}
    >
      <LoadedContent loaded={film} height={420}>
        {value => <TrimEditor assets={assets} film={value} draft={times} onDraft={setChosen} />}
      </LoadedContent>
      <ClipFields options={options} onOptions={setOptions} />
    </FormDialog>
  );
}
