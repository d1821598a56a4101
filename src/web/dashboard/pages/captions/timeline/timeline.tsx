import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatTime, formatTimecode } from '../../../../shared/time-text.ts';
import { t } from '../../../texts/video.ts';
import { IconButton } from '../../../ui/button.tsx';
import { positionAfterKey } from '../../video/thumbnail/frame-times.ts';
import type { Cue } from '../caption-file.ts';
import { seekPlayer } from '../move-player.ts';
import { peakColumns } from './peaks.ts';
import { draggedMs, edgeAt, spans, windowStart } from './timeline-window.ts';
import { usePlayerTime } from './use-player-time.ts';
import { useWaveform, type Waveform } from './use-waveform.ts';

const columnCount = 480;

/** The audio around the player's position as a waveform, with the cues over it. Edges of cues can be dragged. */
export function Timeline({
  hls,
  player,
  cues,
  shownId,
  duration,
  isReadOnly,
  onEdge,
}: {
  /** The local address of the multivariant playlist. */
  hls: string;
  player: HTMLVideoElement;
  cues: readonly Cue[];
  shownId: number | undefined;
  /** Seconds. */
  duration: number;
  isReadOnly: boolean;
  /** @param drag number of the drag, of which all moves are one edit */
  onEdge: (cue: Cue, edge: 'start' | 'end', ms: number, drag: number) => void;
}) {
  const seconds = usePlayerTime(player);
  const [zoom, setZoom] = useState(2);
  const span = Math.min(spans[zoom]!, Math.max(1, duration));
  const start = useWindow(span, seconds, duration);
  const waveform = useWaveform(hls, start, span);
  const shown = useMemo(
    () => cues.filter(({ startMs, endMs }) => startMs < (start + span) * 1000 && endMs > start * 1000),
    [cues, start, span],
  );
  const percentOf = (at: number) => `${(100 * (at - start)) / span}%`;
  const pointer = usePointer({ shown, start, span, isReadOnly, player, onEdge });
  return (
    <section class="cue-timeline" dir="ltr" aria-label={t('timeline.title')}>
      <div
        class="cue-timeline-track"
        role="slider"
        tabIndex={0}
        aria-label={t('timeline.position')}
        aria-valuemin={0}
        aria-valuemax={Math.round(duration)}
        aria-valuenow={Math.round(seconds)}
        aria-valuetext={formatTimecode(Math.round(seconds * 100) / 100)}
        onKeyDown={event => {
          if (event.altKey || event.ctrlKey || event.metaKey) return;
          const moved = positionAfterKey(event, seconds, duration);
          if (moved === undefined) return;
          event.preventDefault();
          seekPlayer(player, moved);
        }}
        {...pointer}
      >
        <Bars waveform={waveform} start={start} span={span} />
        {shown.map(({ id, startMs, endMs, text }) => (
          <div
            key={id}
            class={`cue-timeline-cue${id === shownId ? ' shown' : ''}${isReadOnly ? ' fixed' : ''}`}
            style={{ left: percentOf(startMs / 1000), width: `${(endMs - startMs) / 10 / span}%` }}
            dir="auto"
          >
            <span>{text}</span>
          </div>
        ))}
        <div class="cue-timeline-now" style={{ left: percentOf(seconds) }} />
      </div>
      <div class="cue-timeline-foot">
        <span class="number">{formatTime(start)}</span>
        <span class="hint">{waveform.state !== 'ready' && t(`timeline.states.${waveform.state}`)}</span>
        <span class="cue-timeline-zoom">
          <IconButton
            icon="minus"
            label={t('timeline.zoomOut')}
            disabled={zoom === spans.length - 1 || spans[zoom]! >= duration}
            onClick={() => setZoom(zoom + 1)}
          />
          <IconButton
            icon="plus"
            label={t('timeline.zoomIn')}
            disabled={zoom === 0}
            onClick={() => setZoom(zoom - 1)}
          />
        </span>
        <span class="number">{formatTime(start + span)}</span>
      </div>
    </section>
  );
}

function useWindow(span: number, seconds: number, duration: number): number {
  const start = useRef(0);
  start.current = windowStart(start.current, span, seconds, duration);
  return start.current;
}

function Bars({ waveform: { parts }, start, span }: { waveform: Waveform; start: number; span: number }) {
  const path = useMemo(
    () =>
      peakColumns(parts, start, span, columnCount)
        .map((peak, index) => {
          if (peak === undefined) return '';
          // Speech is quiet in comparison with its peaks.
          const height = Math.max(0.01, peak ** 0.6);
          return `M${index + 0.5} ${(1 - height).toFixed(3)}V${(1 + height).toFixed(3)}`;
        })
        .join(''),
    [parts, start, span],
  );
  return (
    <svg viewBox={`0 0 ${columnCount} 2`} preserveAspectRatio="none" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

/** Drags an edge of a cue, or the position of the player. */
function usePointer({
  shown,
  start,
  span,
  isReadOnly,
  player,
  onEdge,
}: {
  shown: readonly Cue[];
  start: number;
  span: number;
  isReadOnly: boolean;
  player: HTMLVideoElement;
  onEdge: Parameters<typeof Timeline>[0]['onEdge'];
}) {
  const dragged = useRef<{ id: number; edge: 'start' | 'end' } | 'position'>(undefined);
  const drags = useRef(0);
  const newest = useRef(shown);
  useLayoutEffect(() => {
    newest.current = shown;
  }, [shown]);
  const placeOf = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = (currentTarget as HTMLElement).getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (clientX - left) / width));
    return { ms: (start + share * span) * 1000, msPerPixel: (span * 1000) / width };
  };
  const move = (event: PointerEvent) => {
    const { current } = dragged;
    if (current === undefined) return;
    const { ms } = placeOf(event);
    if (current === 'position') {
      seekPlayer(player, ms / 1000);
      return;
    }
    const cue = newest.current.find(({ id }) => id === current.id);
    if (cue !== undefined) onEdge(cue, current.edge, draggedMs(cue, current.edge, ms), drags.current);
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return;
      const { ms, msPerPixel } = placeOf(event);
      const found = isReadOnly ? undefined : edgeAt(newest.current, ms, msPerPixel);
      dragged.current = found === undefined ? 'position' : { id: found.cue.id, edge: found.edge };
      drags.current += 1;
      (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      if (found === undefined) move(event);
    },
    onPointerMove: move,
    onPointerUp: () => {
      dragged.current = undefined;
    },
    onPointerCancel: () => {
      dragged.current = undefined;
    },
  };
}
