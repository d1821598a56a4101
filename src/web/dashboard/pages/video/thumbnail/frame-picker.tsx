import { useState } from 'preact/hooks';
import { IconButton } from '../../../ui/button.tsx';
import { FormDialog } from '../../../ui/dialog/dialog.tsx';
import { useSubmit } from '../../../ui/form/use-submit.ts';
import { LoadedContent } from '../../../ui/states.tsx';
import { showToast } from '../../../ui/toast.tsx';
import { formatTimecode } from '../tracks/chapter-rows.ts';
import type { VideoAssets } from '../use-video.ts';
import { FramePreview } from './frame-preview.tsx';
import { formatFrameTimecode, positionAfterKey, sampleTiles, tileStyle } from './frame-times.ts';
import { type FrameSource, useFrameSource } from './use-frame-source.ts';

/** The lowest common frame rate. The server takes the nearest frame. */
const frameSeconds = 1 / 25;
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
    await onPick(formatFrameTimecode(seconds));
    showToast('Frame chosen.');
    onClose();
  });
  return (
    <FormDialog
      title="Pick a frame"
      action="Use this frame"
      wide
      disabled={film.value === undefined}
      submission={submission}
      onClose={onClose}
    >
      <LoadedContent loaded={film} height={420}>
        {value => (
          <div class="frame-picker">
            <FramePreview film={value} seconds={seconds} />
            <FrameSlider film={value} seconds={seconds} onSeconds={setSeconds} />
          </div>
        )}
      </LoadedContent>
    </FormDialog>
  );
}

function FrameSlider({
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
  const range = { lastSeconds, frameSeconds };
  const step = (key: string) =>
    onSeconds(positionAfterKey({ key, shiftKey: true }, seconds, range) ?? seconds);
  return (
    <div class="frame-slider">
      <div class="frame-strip" aria-hidden="true">
        {sampleTiles(tiles, tilesInStrip).map(tile => (
          <div key={tile.startSeconds} style={{ ...tileStyle(tile, tiles) }} />
        ))}
      </div>
      <input
        type="range"
        aria-label="Position in the video"
        aria-valuetext={shownTime(seconds)}
        min={0}
        max={lastSeconds}
        step="any"
        value={seconds}
        onInput={event => onSeconds(event.currentTarget.valueAsNumber)}
        onKeyDown={event => {
          const moved = positionAfterKey(event, seconds, range);
          if (moved === undefined) return;
          event.preventDefault();
          onSeconds(moved);
        }}
      />
      <div class="frame-time">
        <IconButton icon="left" label="Previous frame" onClick={() => step('ArrowLeft')} />
        <output class="number">
          {shownTime(seconds)} of {formatTimecode(Math.floor(durationSeconds))}
        </output>
        <IconButton icon="right" label="Next frame" onClick={() => step('ArrowRight')} />
      </div>
      <p class="hint">Arrow keys move by a second, with Shift by a frame.</p>
    </div>
  );
}

function shownTime(seconds: number): string {
  return formatTimecode(Math.floor(seconds * 100) / 100);
}
