import { useState } from 'preact/hooks';
import { formatTimecode } from '../../../shared/time-text.ts';
import { TextField } from '../../ui/form/field.tsx';
import { FramePreview } from '../video/thumbnail/frame-preview.tsx';
import { FrameSlider, FrameStrip } from '../video/thumbnail/frame-slider.tsx';
import { frameSeconds } from '../video/thumbnail/frame-times.ts';
import type { FrameSource } from '../video/thumbnail/use-frame-source.ts';
import { type ClipTimes, typedTime, withEnd, withStart } from './clip-times.ts';

const tilesInStrip = 12;

/** Shows the frame of the handle that moved last. */
export function TrimEditor({
  film,
  times,
  onTimes,
}: {
  film: FrameSource;
  times: ClipTimes;
  onTimes: (times: ClipTimes) => void;
}) {
  const { durationSeconds, tiles } = film;
  const [shown, setShown] = useState<'start' | 'end'>('start');
  const moveStart = (seconds: number) => {
    setShown('start');
    onTimes(withStart(times, seconds, durationSeconds));
  };
  const moveEnd = (seconds: number) => {
    setShown('end');
    onTimes(withEnd(times, seconds, durationSeconds));
  };
  const percentOf = (seconds: number) => `${(100 * seconds) / Math.max(durationSeconds, frameSeconds)}%`;
  // The end has no frame.
  const lastSeconds = Math.max(0, durationSeconds - frameSeconds);
  return (
    <div class="frame-picker trim-editor">
      <FramePreview film={film} seconds={Math.min(lastSeconds, times[shown])} />
      <div class="trim-track">
        <div class="trim-strip" aria-hidden="true">
          <FrameStrip tiles={tiles} count={tilesInStrip} />
          <div
            class="trim-part"
            style={{ left: percentOf(times.start), width: percentOf(times.end - times.start) }}
          />
        </div>
        <FrameSlider
          label="Start of the clip"
          seconds={times.start}
          shownTime={shownTime(times.start)}
          lastSeconds={durationSeconds}
          onSeconds={moveStart}
        />
        <FrameSlider
          label="End of the clip"
          seconds={times.end}
          shownTime={shownTime(times.end)}
          lastSeconds={durationSeconds}
          onSeconds={moveEnd}
        />
      </div>
      <div class="trim-times">
        <TimeField label="Start" seconds={times.start} onSeconds={moveStart} />
        <TimeField label="End" seconds={times.end} onSeconds={moveEnd} />
        <p role="status">
          Length: <output class="number">{shownTime(times.end - times.start)}</output>
        </p>
      </div>
      <p class="hint">Arrow keys move a handle by a second, with Shift by a frame.</p>
    </div>
  );
}

function TimeField({
  label,
  seconds,
  onSeconds,
}: {
  label: string;
  seconds: number;
  onSeconds: (seconds: number) => void;
}) {
  const [typed, setTyped] = useState<{ readonly text: string; readonly seconds: number }>();
  // A handle that moves replaces what was typed.
  const isTyped = typed !== undefined && Math.abs(typed.seconds - seconds) < frameSeconds / 2;
  return (
    <TextField
      label={label}
      value={isTyped ? typed.text : shownTime(seconds)}
      onValue={text => {
        const wanted = typedTime(text);
        setTyped({ text, seconds: wanted ?? seconds });
        if (wanted !== undefined) onSeconds(wanted);
      }}
      autocomplete="off"
      spellcheck={false}
    />
  );
}

function shownTime(seconds: number): string {
  return formatTimecode(Math.round(seconds * 100) / 100);
}
