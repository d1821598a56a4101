import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { IngestLogEntry, LiveStream } from '../../../api/api-types.ts';
import { call } from '../../../api/client.ts';
import type { BroadcastStats } from '../../../broadcasts/broadcast-stats.ts';
import type { StreamState } from '../../../broadcasts/stream-state.ts';
import { formatClock } from '../../../format/time.ts';
import { t } from '../../../texts/live.ts';
import { useInterval } from '../../../ui/hooks/use-interval.ts';
import { useLoad } from '../../../ui/hooks/use-load.ts';
import { Icon, type IconName } from '../../../ui/icon.tsx';
import { Card } from '../../../ui/page.tsx';
import { groupMoments, type IngestTimeline, type TimelineMoment, timelineOf } from './ingest-timeline.ts';

const refreshMs = 5_000;
const markerPixels = 26;
const defaultWidth = 800;
const maxClips = 25;
const icons: Readonly<Record<TimelineMoment['kind'], IconName>> = {
  start: 'play',
  lost: 'warning',
  back: 'restore',
  encoder: 'settings',
  alarm: 'warning',
  cleared: 'check',
  refused: 'lock',
  clip: 'clip',
  end: 'stop',
};
/** Kinds of a group, the one that it is shown as first. */
const weights: readonly TimelineMoment['kind'][] = [
  'alarm',
  'lost',
  'refused',
  'encoder',
  'end',
  'clip',
  'back',
  'start',
  'cleared',
];

/** The last hour while live, else the last broadcast. @param onJump shows the moment in the preview; undefined where there is nothing to go back to */
export function TimelineCard({
  stream: { liveStreamId },
  entries,
  state,
  stats,
  onJump,
}: {
  stream: LiveStream;
  entries: readonly IngestLogEntry[];
  state: StreamState;
  stats: BroadcastStats | undefined;
  onJump: ((time: number) => void) | undefined;
}) {
  const clips = useClips(liveStreamId, state);
  const [now, setNow] = useState(() => Date.now() / 1000);
  useInterval(state === 'off' ? undefined : refreshMs, () => setNow(Date.now() / 1000));
  const timeline = timelineOf({
    entries,
    clips,
    liveSince: state === 'off' ? undefined : now - (stats?.durationSeconds ?? 0),
    now: Math.max(now, ...entries.slice(-1).map(({ happenedAt }) => Date.parse(happenedAt) / 1000)),
  });
  if (timeline === undefined) return null;
  return (
    <Card title={titleOf(entries, state)}>
      <Timeline timeline={timeline} isLive={state !== 'off'} onJump={onJump} />
    </Card>
  );
}

function titleOf(entries: readonly IngestLogEntry[], state: StreamState): string {
  if (state !== 'off') return t('timeline.hour');
  const hasBroadcast = entries.some(({ type }) => type !== 'refused');
  return hasBroadcast || entries.length === 0 ? t('timeline.last') : t('timeline.refusals');
}

function useClips(liveStreamId: string, state: StreamState) {
  const videos = useLoad(`${liveStreamId} ${state === 'off'}`, signal =>
    call('GET /videos', {
      query: { liveStreamId, sortBy: 'createdAt', sortOrder: 'desc', pageSize: maxClips },
      signal,
    }),
  );
  return (videos.value?.data ?? []).filter(({ source }) => source.clippedFrom !== undefined);
}

function Timeline({
  timeline,
  isLive,
  onJump,
}: {
  timeline: IngestTimeline;
  isLive: boolean;
  onJump: ((time: number) => void) | undefined;
}) {
  const { from, to, spans } = timeline;
  const track = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(defaultWidth);
  const [pointed, setPointed] = useState<number>();
  const [focused, setFocused] = useState<number>();
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(track.current?.clientWidth || defaultWidth));
    observer.observe(track.current!);
    return () => observer.disconnect();
  }, []);
  const groups = groupMoments(timeline, markerPixels / width);
  const last = groups.length - 1;
  const reachable = Math.min(focused ?? last, last);
  const shown = groups[pointed ?? focused ?? last] ?? groups[last];
  const percent = (time: number) => `${(100 * (time - from)) / (to - from)}%`;
  const onKeyDown = (event: KeyboardEvent) => {
    const next = { ArrowLeft: reachable - 1, ArrowRight: reachable + 1, Home: 0, End: last }[event.key];
    const marker = track.current?.querySelectorAll<HTMLElement>('button')[next ?? -1];
    if (next === undefined || marker === undefined) return;
    event.preventDefault();
    marker.focus();
  };
  return (
    <div class="timeline">
      <div class="timeline-track" ref={track}>
        <ol class="timeline-markers" onKeyDown={onKeyDown}>
          {groups.map((group, index) => (
            <Marker
              key={`${group[0]!.time} ${group[0]!.kind}`}
              group={group}
              left={percent(group[0]!.time)}
              isReachable={index === reachable}
              onPoint={isPointed => setPointed(isPointed ? index : undefined)}
              onFocus={isFocused => setFocused(isFocused ? index : undefined)}
              onJump={onJump}
            />
          ))}
        </ol>
        <div class="timeline-bar" aria-hidden="true">
          {spans.map(span => (
            <span
              key={`${span.kind} ${span.from}`}
              class={span.kind}
              style={{ left: percent(span.from), width: `${(100 * (span.to - span.from)) / (to - from)}%` }}
            />
          ))}
        </div>
      </div>
      <div class="timeline-ends" aria-hidden="true">
        <time>{formatClock(from * 1000)}</time>
        <time>{isLive ? t('streams.now') : formatClock(to * 1000)}</time>
      </div>
      <ul class="timeline-readout">
        {(shown ?? []).slice(-4).map(({ time, kind, text }) => (
          <li key={`${time} ${text}`}>
            <time class="number">{formatClock(time * 1000)}</time>
            <span class={`timeline-kind ${kind}`}>
              <Icon name={icons[kind]} size={16} />
            </span>
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Marker({
  group,
  left,
  isReachable,
  onPoint,
  onFocus,
  onJump,
}: {
  group: readonly TimelineMoment[];
  left: string;
  isReachable: boolean;
  onPoint: (isPointed: boolean) => void;
  onFocus: (isFocused: boolean) => void;
  onJump: ((time: number) => void) | undefined;
}) {
  const kind = weights.find(one => group.some(moment => moment.kind === one)) ?? 'start';
  const { time } = group.find(moment => moment.kind === kind) ?? group[0]!;
  const said = group.map(moment => `${formatClock(moment.time * 1000)}: ${moment.text}`).join('. ');
  return (
    <li style={{ left }}>
      <button
        type="button"
        class={`timeline-marker ${kind}`}
        tabIndex={isReachable ? 0 : -1}
        aria-label={said}
        title={onJump === undefined ? undefined : t('timeline.show')}
        onPointerEnter={() => onPoint(true)}
        onPointerLeave={() => onPoint(false)}
        onFocus={() => onFocus(true)}
        onBlur={() => onFocus(false)}
        onClick={() => onJump?.(time)}
      >
        {group.length > 1 ? (
          <span class="timeline-count">{group.length}</span>
        ) : (
          <Icon name={icons[kind]} size={14} />
        )}
      </button>
    </li>
  );
}
