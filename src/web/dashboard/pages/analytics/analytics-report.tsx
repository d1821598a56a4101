import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { formatDateTime, formatUtcDay } from '../../format/time.ts';
import { environment } from '../../state/session.ts';
import { t } from '../../texts/server.ts';
import { TextField } from '../../ui/form/field.tsx';
import { SegmentedControl } from '../../ui/form/segmented-control.tsx';
import { useInterval } from '../../ui/hooks/use-interval.ts';
import { type Loaded, useLoad } from '../../ui/hooks/use-load.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Section } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/states.tsx';
import {
  type AnalyticsQuery,
  loadTimeSeries,
  loadTotals,
  type TimeSeries,
  type Totals,
} from './analytics-data.ts';
import {
  dayOf,
  earliestDay,
  parseRange,
  type RangeName,
  resolveRange,
  retentionDays,
  type TimeFrame,
  type TimeRange,
} from './time-range.ts';
import { TimeSeriesCharts } from './time-series-charts.tsx';
import { TotalTiles } from './total-tiles.tsx';

const refreshMs = 30_000;

interface Analytics {
  readonly question: AnalyticsQuery;
  readonly overTime: Loaded<TimeSeries>;
  readonly totals: Loaded<{ readonly now: Totals; readonly before: Totals | undefined }>;
  readonly frame: TimeFrame;
  readonly isSandbox: boolean;
  /** Choice of the period, which is in the address. */
  readonly rangePicker: ComponentChildren;
  refresh(): void;
}

/** Loads what is shown about a video, a live stream, or everything, in the period that the address names. */
export function useAnalytics(mediaId: string | undefined): Analytics {
  const { query, change } = useQuery();
  const [nowMs, setNowMs] = useState(() => Date.now());
  const isSandbox = environment.value === 'sandbox';
  const range = parseRange(query, isSandbox, nowMs);
  const frame = resolveRange(range, isSandbox, nowMs);
  const question: AnalyticsQuery = { fromMs: frame.fromMs, toMs: frame.toMs, mediaId };
  const key = JSON.stringify(question);
  const totals = useLoad(key, async signal => {
    const { before } = frame;
    const [now, then] = await Promise.all([
      loadTotals(question, signal),
      before === undefined ? undefined : loadTotals({ ...before, mediaId }, signal),
    ]);
    return { now, before: then };
  });
  const overTime = useLoad(key, signal => loadTimeSeries(question, frame.interval, signal));
  const refresh = () => setNowMs(Date.now());
  useInterval(frame.toMs === nowMs ? refreshMs : undefined, refresh);
  return {
    question,
    overTime,
    totals,
    frame,
    isSandbox,
    refresh,
    rangePicker: <RangePicker range={range} isSandbox={isSandbox} nowMs={nowMs} onChange={change} />,
  };
}

/** @param children what is shown below the charts, where there were views */
export function AnalyticsReport({
  analytics: { totals, overTime, frame, isSandbox },
  children,
}: {
  analytics: Analytics;
  children: ComponentChildren;
}) {
  const isEmpty = overTime.value !== undefined && !hasAny(overTime.value);
  return (
    <>
      <TotalTiles loaded={totals} />
      <p class="hint">{explain(frame, isSandbox)}</p>
      {isEmpty ? (
        <NoViews />
      ) : (
        <>
          <TimeSeriesCharts loaded={overTime} frame={frame} />
          {children}
        </>
      )}
    </>
  );
}

function NoViews() {
  return (
    <Section>
      <EmptyState icon="chart" title={t('analytics.none')}>
        {t('analytics.noneText')}
      </EmptyState>
    </Section>
  );
}

function hasAny({ impressions, plays, watchSeconds, peakViewers }: TimeSeries): boolean {
  return [impressions, plays, watchSeconds, peakViewers].some(values => values.some(value => value > 0));
}

function explain({ fromMs, toMs, clock, before }: TimeFrame, isSandbox: boolean): string {
  const compared =
    before !== undefined
      ? t('analytics.compared')
      : isSandbox
        ? t('analytics.ofSandbox')
        : t('analytics.kept', { days: retentionDays });
  return `${shownText(fromMs, toMs, clock)} ${compared}`;
}

function shownText(fromMs: number, toMs: number, clock: TimeFrame['clock']): string {
  if (clock !== 'local') {
    return t('analytics.inUtc', { from: formatUtcDay(fromMs), to: formatUtcDay(toMs - 1) });
  }
  const from = formatDateTime(fromMs);
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return timeZone === 'UTC'
    ? t('analytics.sinceInUtc', { from })
    : t('analytics.since', { from, zone: timeZone });
}

const names = ['24h', '7d', '30d', 'custom'] as const satisfies readonly RangeName[];

function RangePicker({
  range,
  isSandbox,
  nowMs,
  onChange,
}: {
  range: TimeRange;
  isSandbox: boolean;
  nowMs: number;
  onChange: (changes: Record<'range' | 'from' | 'to', string | undefined>) => void;
}) {
  const { name, firstDay, lastDay } = range;
  const limits = { min: earliestDay(nowMs), max: dayOf(nowMs) };
  return (
    <>
      <SegmentedControl
        label={t('analytics.period')}
        value={name}
        options={names
          .filter(one => !isSandbox || one === '24h')
          .map(one => [one, t(`analytics.range.${one}`)] as const)}
        onValue={range => onChange({ range, from: undefined, to: undefined })}
      />
      {name === 'custom' && (
        <>
          <TextField
            label={t('analytics.firstDay')}
            type="date"
            value={firstDay ?? ''}
            {...limits}
            onValue={from => onChange({ range: name, from, to: lastDay })}
          />
          <TextField
            label={t('analytics.lastDay')}
            type="date"
            value={lastDay ?? ''}
            {...limits}
            onValue={to => onChange({ range: name, from: firstDay, to })}
          />
        </>
      )}
    </>
  );
}
