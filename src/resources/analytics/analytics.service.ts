import type { Caller } from '../../http/routing/caller.ts';
import { parseIsoDate } from '../../http/routing/iso-date.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { dayMs } from '../../shared/day.ts';
import { AppError, errorRegister } from '../../shared/errors.ts';
import { KeyedQueue } from '../../shared/scheduling/keyed-queue.ts';
import { TimeSlice } from '../../shared/scheduling/time-slice.ts';
import type { CommonQuery, FilterBy } from './analytics.schema.ts';
import type { Dimension } from './dimensions.ts';
import { displayName, type MetricPlan, planOf } from './metric-plan.ts';
import type { AnalyticsFilter, AnalyticsFiltersStore } from './queries/analytics-filters.store.ts';
import type { CountsStore, Grouping, Summed } from './queries/counts.store.ts';
import { mapInSlices, sortInSlices } from './queries/map-in-slices.ts';
import type { ViewingIntervalsStore } from './queries/viewing-intervals.store.ts';
import { slotSeconds } from './reports/playback.ts';
import { type Interval, intervals, intervalsOf, minutesOf, type Span } from './timeframe.ts';

interface AnalyticsRequest {
  readonly caller: Pick<Caller, 'projectId' | 'environment'>;
  readonly metric: string;
  readonly aggregation?: string;
  readonly query: CommonQuery;
}

interface AnalyticsOptions {
  readonly filters: AnalyticsFiltersStore;
  readonly counts: CountsStore;
  readonly viewingIntervals: ViewingIntervalsStore;
  readonly clock: Clock;
}

interface ValuesPage<Field extends string> {
  readonly sortBy?: Field | 'metricValue' | undefined;
  readonly sortOrder?: 'asc' | 'desc' | undefined;
  readonly currentPage: number;
  readonly pageSize: number;
}

interface Frame {
  readonly fromMs: number;
  readonly toMs: number;
  readonly nowMs: number;
}

const retentionDays = 30;
const sandboxRetentionDays = 1;
const liveWindowSeconds = 20;
/** Clients' clocks may be ahead when they compute "30 days ago". */
const clockToleranceMs = 60_000;
const maxSliceMs = 3;

/** Runs one query of a project at a time, in time slices. */
export class AnalyticsService {
  readonly #options: AnalyticsOptions;
  readonly #queries = new KeyedQueue();

  constructor(options: AnalyticsOptions) {
    this.#options = options;
  }

  async number(request: AnalyticsRequest) {
    const { caller, query, metric, aggregation = '' } = request;
    const plan = checkedPlan(request);
    const context = { metric: displayName(metric, query), aggregation };
    if (plan.kind === 'total') {
      const { project, ids, type } = await this.#totalsFilter(request);
      const data = project === undefined ? 0 : await this.#options.counts.total(project, ids, type);
      return { context, data };
    }
    const frame = this.#frameOf(caller, query);
    const values = await this.#enqueue(caller.projectId, slice =>
      this.#values(request, plan, frame, { by: 'nothing' }, slice),
    );
    return { context: { ...context, timeframe: timeframeView(frame) }, data: values[0]?.[1] ?? 0 };
  }

  async buckets(request: AnalyticsRequest, dimension: Dimension, page: ValuesPage<'dimensionValue'>) {
    const { caller, query, metric } = request;
    const plan = checkedPlan(request);
    const context = { metric: displayName(metric, query), breakdown: dimension };
    const field = page.sortBy ?? 'metricValue';
    const direction = page.sortOrder ?? (page.sortBy === undefined ? 'desc' : 'asc');
    const offset = (page.currentPage - 1) * page.pageSize;
    if (plan.kind === 'total') {
      const { project, ids: mediaIds, type: mediaType } = await this.#totalsFilter(request);
      if (project === undefined) return { context, data: [], total: 0 };
      const order = { field, direction, limit: page.pageSize, offset };
      const { rows, total } = await this.#options.counts.totals(project, { mediaIds, mediaType }, order);
      return { context, data: rows, total };
    }
    const frame = this.#frameOf(caller, query);
    const { filters } = this.#options;
    return this.#enqueue(caller.projectId, async slice => {
      const values = await this.#values(request, plan, frame, { by: 'dimension', dimension }, slice);
      const found = values.filter(([, value]) => value > 0 || isRate(plan));
      const sign = direction === 'asc' ? 1 : -1;
      let inOrder: readonly (readonly [number, number])[];
      if (field === 'dimensionValue') {
        const texts = await filters.loadValues(
          found.map(([number]) => number),
          slice,
        );
        const textOf = (number: number) => texts.get(number) ?? '';
        inOrder = await sortInSlices(found, slice, ([a], [b]) => sign * compare(textOf(a), textOf(b)));
      } else {
        inOrder = await sortInSlices(
          found,
          slice,
          ([aNumber, a], [bNumber, b]) => sign * (a - b) || aNumber - bNumber,
        );
      }
      const ofPage = inOrder.slice(offset, offset + page.pageSize);
      const texts = await filters.loadValues(
        ofPage.map(([number]) => number),
        slice,
      );
      const data = ofPage.map(([number, value]) => ({
        dimensionValue: texts.get(number) ?? '',
        metricValue: value,
      }));
      return { context: { ...context, timeframe: timeframeView(frame) }, data, total: found.length };
    });
  }

  async timeseries(request: AnalyticsRequest, requested: string | undefined, page: ValuesPage<'emittedAt'>) {
    const { caller, query, metric } = request;
    const plan = checkedPlan(request);
    if (plan.kind === 'total') throw new AppError('unrecognized-request-url');
    const frame = this.#frameOf(caller, query);
    const interval = intervalOf(requested, frame);
    const seconds = intervals[interval];
    const values = new Map(
      await this.#enqueue(caller.projectId, slice =>
        this.#values(request, plan, frame, { by: 'interval', seconds }, slice),
      ),
    );
    const points = intervalsOf(secondsOf(frame), seconds).map(at => ({ at, value: values.get(at) ?? 0 }));
    const field = page.sortBy ?? 'emittedAt';
    const sign = page.sortOrder === 'desc' ? -1 : 1;
    points.sort((a, b) => sign * ((field === 'metricValue' ? a.value - b.value : 0) || a.at - b.at));
    const offset = (page.currentPage - 1) * page.pageSize;
    const data = points.slice(offset, offset + page.pageSize).map(({ at, value }) => ({
      emittedAt: formatAtom(at * 1000),
      metricValue: value,
    }));
    const context = { metric: displayName(metric, query), interval, timeframe: timeframeView(frame) };
    return { context, data, total: points.length };
  }

  #enqueue<Answer>(projectId: string, work: (slice: TimeSlice) => Promise<Answer>): Promise<Answer> {
    return this.#queries.run(projectId, async () => work(await TimeSlice.begin(maxSliceMs)));
  }

  async #values(
    { caller, query }: AnalyticsRequest,
    plan: Exclude<MetricPlan, { kind: 'total' }>,
    frame: Frame,
    grouping: Grouping,
    slice: TimeSlice,
  ): Promise<[number, number][]> {
    const { counts, viewingIntervals, filters } = this.#options;
    const filter = await filters.resolve(caller.projectId, filterOf(query.filterBy ?? {}), slice);
    const { fromMs, toMs, nowMs } = frame;
    if (filter === undefined || fromMs >= toMs) return [];
    if (plan.kind === 'counts') {
      const { measure, unit } = plan;
      const span = minutesOf(fromMs, toMs, nowMs);
      const sums = await counts.sums({ filter, span, measure, grouping, slice });
      const value = ({ of, over }: Summed) =>
        rounded((measure.over === undefined ? of : over === 0 ? 0 : of / over) / unit);
      return mapInSlices(sums, slice, ([group, summed]) => [group, value(summed)]);
    }
    const span = secondsOf(frame);
    const request = { filter, span, grouping, slice };
    if (plan.kind === 'unique-views') return [...(await viewingIntervals.uniqueViews(request, plan.bit))];
    if (plan.value === 'average') {
      const averages = await viewingIntervals.concurrentViewers(request, 'average', plan.isUnique);
      return mapInSlices(averages, slice, ([group, average]) => [group, rounded(average)]);
    }
    const lately = { from: nowMs / 1000 - liveWindowSeconds, to: nowMs / 1000 + slotSeconds };
    const attended = plan.value === 'live' ? { ...request, span: lately } : request;
    return [...(await viewingIntervals.concurrentViewers(attended, 'peak', plan.isUnique))];
  }

  async #totalsFilter({ caller, query }: AnalyticsRequest) {
    const { mediaId: ids, mediaType: type, ...others } = query.filterBy ?? {};
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw queryProblem(
        `filterBy[${other}]`,
        'Only "mediaId" and "mediaType" can be used with this metric.',
      );
    return { project: await this.#options.filters.findProject(caller.projectId), ids, type };
  }

  #frameOf(caller: AnalyticsRequest['caller'], query: CommonQuery): Frame {
    const nowMs = this.#options.clock.nowMs();
    const earliestMs = nowMs - retentionDays * dayMs - clockToleranceMs;
    const toMs = query.to === undefined ? nowMs : parseIsoDate(query.to)!;
    const fromMs = query.from === undefined ? toMs - dayMs : parseIsoDate(query.from)!;
    if (query.from !== undefined && fromMs < earliestMs)
      throw queryProblem('from', 'This value should be at most 30 days ago.');
    if (toMs < earliestMs) throw queryProblem('to', 'This value should be at most 30 days ago.');
    if (fromMs >= toMs) throw queryProblem('from', 'This value should be before "to".');
    if (toMs > nowMs + retentionDays * dayMs)
      throw queryProblem('to', 'This value is too far in the future.');
    const seenFromMs =
      nowMs -
      (caller.environment === 'sandbox' ? sandboxRetentionDays : retentionDays) * dayMs -
      clockToleranceMs;
    return { fromMs: Math.max(fromMs, Math.min(seenFromMs, toMs)), toMs, nowMs };
  }
}

function checkedPlan({ metric, aggregation, query }: AnalyticsRequest): MetricPlan {
  const isView = metric === 'view';
  if (query.unique === true && !isView && !metric.startsWith('ccv'))
    throw queryProblem('unique', 'This parameter can only be used with the "ccv" and "view" metrics.');
  if (query.viewDuration !== undefined && !isView)
    throw queryProblem('viewDuration', 'This parameter can only be used with the "view" metric.');
  return planOf(metric, aggregation, query);
}

function filterOf(filterBy: FilterBy): AnalyticsFilter {
  const { tag, mediaType, ...lists } = filterBy;
  const values = new Map<Dimension, readonly string[]>();
  if (mediaType !== undefined) values.set('media-type', [mediaType]);
  for (const [key, list] of Object.entries(lists)) {
    if (list === undefined) continue;
    const dimension = key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`) as Dimension;
    values.set(dimension, list);
  }
  return { values, tag };
}

function intervalOf(requested: string | undefined, { fromMs, toMs }: Frame): Interval {
  const spanMs = toMs - fromMs;
  if (requested === undefined) return spanMs <= 2 * dayMs + clockToleranceMs ? 'hour' : 'day';
  if (requested === 'minute' && spanMs >= 3_600_000)
    throw queryProblem('interval', 'This interval cannot be used with a timeframe over 60 minutes.');
  return requested as Interval;
}

function secondsOf({ fromMs, toMs, nowMs }: Frame): Span {
  return { from: fromMs / 1000, to: Math.max(fromMs, Math.min(toMs, nowMs + 1)) / 1000 };
}

function timeframeView({ fromMs, toMs }: Frame): { from: string; to: string } {
  return { from: formatAtom(fromMs), to: formatAtom(toMs) };
}

function queryProblem(name: string, detail: string): AppError {
  const type = 'request-invalid-query-parameter';
  const { title } = errorRegister[type];
  return new AppError('invalid-attribute', undefined, {
    details: { name, problems: [{ type, title, name, detail }] },
  });
}

function isRate(plan: MetricPlan): boolean {
  return plan.kind === 'counts' && plan.measure.over !== undefined;
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
