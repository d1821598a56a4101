import { useState } from 'preact/hooks';
import { formatTimecode } from '../../../shared/time-text.ts';
import { rich, t } from '../../texts/video.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/form/field.tsx';
import { FramePreview } from '../video/thumbnail/frame-preview.tsx';
import { FrameSlider, FrameStrip } from '../video/thumbnail/frame-slider.tsx';
import { frameSeconds } from '../video/thumbnail/frame-times.ts';
import type { FrameSource } from '../video/thumbnail/use-frame-source.ts';
import type { VideoAssets } from '../video/use-video.ts';
import { type ClipDraft, type ClipEdge, clipFaults, typeTime, withEnd, withStart } from './clip-times.ts';
import { LoopPlayer } from './loop-player.tsx';

const tilesInStrip = 12;

/** Shows the frame of the handle that moved last, or plays the selection over and over. */
export function TrimEditor({
  assets,
  film,
  draft,
  onDraft,
}: {
  assets: VideoAssets;
  film: FrameSource;
  draft: ClipDraft;
  onDraft: (draft: ClipDraft) => void;
}) {
  const { durationSeconds, tiles } = film;
  const { start, end, typed = {}, last: shown = 'start' } = draft;
  const [isPlaying, setPlaying] = useState(false);
  const faults = clipFaults(draft, durationSeconds, shownTime);
  const isWrong = faults.start !== undefined || faults.end !== undefined;
  const moveStart = (seconds: number) =>
    onDraft({ ...withStart({ start, end }, seconds, durationSeconds), last: 'start' });
  const moveEnd = (seconds: number) =>
    onDraft({ ...withEnd({ start, end }, seconds, durationSeconds), last: 'end' });
  const percentOf = (seconds: number) => `${(100 * seconds) / Math.max(durationSeconds, frameSeconds)}%`;
  // The end has no frame.
  const lastSeconds = Math.max(0, durationSeconds - frameSeconds);
  const field = (edge: ClipEdge, label: string) => (
    <TextField
      label={label}
      value={typed[edge] ?? shownTime(draft[edge])}
      onValue={text => onDraft(typeTime(draft, edge, text))}
      error={faults[edge]}
      autocomplete="off"
      spellcheck={false}
    />
  );
  return (
    <div class="frame-picker trim-editor">
      {isPlaying && !isWrong ? (
        <LoopPlayer assets={assets} aspectRatio={film.aspectRatio} start={start} end={end} />
      ) : (
        <FramePreview film={film} seconds={Math.min(lastSeconds, draft[shown])} />
      )}
      <div class="trim-track">
        <div class="trim-strip" aria-hidden="true">
          <FrameStrip tiles={tiles} count={tilesInStrip} />
          {!isWrong && (
            <div class="trim-part" style={{ left: percentOf(start), width: percentOf(end - start) }} />
          )}
        </div>
        <FrameSlider
          label={t('trim.startOf')}
          seconds={start}
          shownTime={shownTime(start)}
          lastSeconds={durationSeconds}
          onSeconds={moveStart}
        />
        <FrameSlider
          label={t('trim.endOf')}
          seconds={end}
          shownTime={shownTime(end)}
          lastSeconds={durationSeconds}
          onSeconds={moveEnd}
        />
      </div>
      <div class="trim-times">
        {field('start', t('trim.start'))}
        {field('end', t('trim.end'))}
        <p role="status">
          {rich(
            'trim.length',
            { length: isWrong ? '–' : shownTime(end - start) },
            { time: text => <output class="number">{text}</output> },
          )}
        </p>
        <Button
          icon={isPlaying ? 'stop' : 'play'}
          disabled={isWrong}
          pressed={isPlaying}
          onClick={() => setPlaying(!isPlaying)}
        >
          {t('trim.loop')}
        </Button>
      </div>
      <p class="hint">{t('trim.keys')}</p>
    </div>
  );
}

export function shownTime(seconds: number): string {
  return formatTimecode(Math.round(seconds * 100) / 100);
}
