import { useState } from 'preact/hooks';
import { formatCueTime } from '../../../../../media/webvtt/cue-times.ts';
import { formatTimecode } from '../../../../shared/time-text.ts';
import { t } from '../../../texts/video.ts';
import { IconButton } from '../../../ui/button.tsx';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { LoadedContent } from '../../../ui/states.tsx';
import { showToast } from '../../../ui/toast.tsx';
import type { VideoAssets } from '../use-video.ts';
import { FramePreview } from './frame-preview.tsx';
import { FrameSlider, FrameStrip } from './frame-slider.tsx';
import { frameSeconds, positionAfterKey } from './frame-times.ts';
import { type FrameSource, useFrameSource } from './use-frame-source.ts';

const tilesInStrip = 10;

export function FramePicker({
  assets,
  onPick,
  onClose,
}: {
  assets: VideoAssets;
  onPick: (timecode: string) => Promise<void>;
  onClose: () => void;
}) {
  const [seconds, setSeconds] = useState(0);
  const film = useFrameSource(assets);
  const submission = useSubmit(async () => {
    await onPick(formatCueTime(1000 * seconds));
    showToast(t('thumbnail.chosen'));
    onClose();
  });
  return (
    <FormDialog
      title={t('thumbnail.pick')}
      action={t('thumbnail.use')}
      wide
      disabled={film.value === undefined}
      submission={submission}
      onClose={onClose}
    >
      <LoadedContent loaded={film} height={420}>
        {value => (
          <div class="frame-picker">
            <FramePreview film={value} seconds={seconds} />
            <FrameChoice film={value} seconds={seconds} onSeconds={setSeconds} />
          </div>
        )}
      </LoadedContent>
    </FormDialog>
  );
}

function FrameChoice({
  film: { durationSeconds, tiles },
  seconds,
  onSeconds,
}: {
  film: FrameSource;
  seconds: number;
  onSeconds: (seconds: number) => void;
}) {
  // The end has no frame.
  const lastSeconds = Math.max(0, durationSeconds - frameSeconds);
  const step = (key: string) =>
    onSeconds(positionAfterKey({ key, shiftKey: true }, seconds, lastSeconds) ?? seconds);
  return (
    <div class="frame-slider">
      <FrameStrip tiles={tiles} count={tilesInStrip} />
      <FrameSlider
        label={t('thumbnail.position')}
        seconds={seconds}
        lastSeconds={lastSeconds}
        onSeconds={onSeconds}
        shownTime={shownTime(seconds)}
      />
      <div class="frame-time" dir="ltr">
        <IconButton icon="left" label={t('thumbnail.previous')} onClick={() => step('ArrowLeft')} />
        <output class="number" dir="auto">
          {t('thumbnail.time', {
            time: shownTime(seconds),
            duration: formatTimecode(Math.floor(durationSeconds)),
          })}
        </output>
        <IconButton icon="right" label={t('thumbnail.next')} onClick={() => step('ArrowRight')} />
      </div>
      <p class="hint">{t('thumbnail.keys')}</p>
    </div>
  );
}

function shownTime(seconds: number): string {
  return formatTimecode(Math.floor(seconds * 100) / 100);
}
