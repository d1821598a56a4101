import type { Caller } from '../../http/caller.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { dayMs } from '../../shared/day.ts';
import { AppError, errorRegister } from '../../shared/errors.ts';
import type { CommonQuery, FilterBy } from './analytics.schema.ts';
import type { AnalyticsFilter, AnalyticsFilters } from './analytics-filters.store.ts';
import { foldedName, type Plan, planOf } from './analytics-metrics.ts';
import type { AnalyticsCounts, Grouping, Summed } from './counts.store.ts';
import type { Dimension } from './dimensions.ts';
import { isoDate } from './iso-date.ts';
import { slotSeconds } from './playback.ts';
import type { Stays } from './stays.store.ts';
import { type Interval, intervals, intervalsOf, minutesOf, type Span } from './timeframe.ts';
import { mapInTurns, sortInTurns, type Turn, Turns } from './turns.ts';

/** What is asked for: the metric as the path names it, its aggregation where it has one, and the query. */
export interface AnalyticsQuestion {
  readonly caller: Pick<Caller, 'projectId' | 'environment'>;
  readonly metric: string;
  readonly aggregation?: string;
  readonly query: CommonQuery;
}

/** What the numbers come from. */
export interface AnalyticsOptions {
  readonly filters: AnalyticsFilters;
  readonly counts: AnalyticsCounts;
  readonly stays: Stays;
  readonly clock: Clock;
}

/** A page of a list of numbers, and how to sort it. */
export interface NumbersPage<Field extends string> {
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

const daysKept = 30;
const sandboxDays = 1;
const liveSeconds = 20;
/** Between a client's clock that says "30 days ago" and ours. */
const leewayMs = 60_000;

/** What is told of viewing. One question of a project is worked on at a time, in turns with those of others and all that the server does. */
export class AnalyticsService {
  readonly #options: AnalyticsOptions;
  readonly #turns = new Turns();
  /** By project, the question that was asked last. */
  readonly #last = new Map<string, Promise<void>>();

  constructor(options: AnalyticsOptions) {
    this.#options = options;
  }

  /** One number. */
  async number(question: AnalyticsQuestion) {
    const { caller, query, metric, aggregation = '' } = question;
    const plan = checkedPlan(question);
    const context = { metric: foldedName(metric, query), aggregation };
    if (plan.kind === 'total') {
      const { project, ids, type } = this.#totalsFilter(question);
      const data = project === undefined ? 0 : this.#options.counts.total(project, ids, type);
      return { context, data };
    }
    const frame = this.#frameOf(caller, query);
    const values = await this.#inTurn(caller.projectId, turn =>
      this.#values(question, plan, frame, { by: 'nothing' }, turn),
    );
    return { context: { ...context, timeframe: shown(frame) }, data: values[0]?.[1] ?? 0 };
  }

  /** A number for each value of a dimension that has one, the highest first unless sorted otherwise. */
  async buckets(question: AnalyticsQuestion, dimension: Dimension, page: NumbersPage<'dimensionValue'>) {
    const { caller, query, metric } = question;
    const plan = checkedPlan(question);
    const context = { metric: foldedName(metric, query), breakdown: dimension };
    const field = page.sortBy ?? 'metricValue';
    const direction = page.sortOrder ?? (page.sortBy === undefined ? 'desc' : 'asc');
    const offset = (page.currentPage - 1) * page.pageSize;
    if (plan.kind === 'total') {
      const { project, ids: mediaIds, type: mediaType } = this.#totalsFilter(question);
      if (project === undefined) return { context, data: [], total: 0 };
      const order = { field, direction, limit: page.pageSize, offset };
      const { rows, total } = this.#options.counts.totals(project, { mediaIds, mediaType }, order);
      return { context, data: rows, total };
    }
    const frame = this.#frameOf(caller, query);
    const { filters } = this.#options;
    return this.#inTurn(caller.projectId, async turn => {
      const values = await this.#values(question, plan, frame, { by: 'dimension', dimension }, turn);
      const found = values.filter(([, value]) => value > 0 || isRate(plan));
      const sign = direction === 'asc' ? 1 : -1;
      let inOrder: readonly (readonly [number, number])[];
      if (field === 'dimensionValue') {
        const texts = await filters.textsOf(
          found.map(([number]) => number),
          turn,
        );
        const textOf = (number: number) => texts.get(number) ?? '';
        inOrder = await sortInTurns(found, turn, ([a], [b]) => sign * compare(textOf(a), textOf(b)));
      } else {
        inOrder = await sortInTurns(
          found,
          turn,
          ([aNumber, a], [bNumber, b]) => sign * (a - b) || aNumber - bNumber,
        );
      }
      const ofPage = inOrder.slice(offset, offset + page.pageSize);
      const texts = await filters.textsOf(
        ofPage.map(([number]) => number),
        turn,
      );
      const data = ofPage.map(([number, value]) => ({
        dimensionValue: texts.get(number) ?? '',
        metricValue: value,
      }));
      return { context: { ...context, timeframe: shown(frame) }, data, total: found.length };
    });
  }

  /** A number for each interval of the timeframe, also where nothing was; the oldest first unless sorted otherwise. */
  async timeseries(question: AnalyticsQuestion, asked: string | undefined, page: NumbersPage<'emittedAt'>) {
    const { caller, query, metric } = question;
    const plan = checkedPlan(question);
    if (plan.kind === 'total') throw new AppError('unrecognized-request-url');
    const frame = this.#frameOf(caller, query);
    const interval = intervalOf(asked, frame);
    const seconds = intervals[interval];
    const values = new Map(
      await this.#inTurn(caller.projectId, turn =>
        this.#values(question, plan, frame, { by: 'interval', seconds }, turn),
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
    const context = { metric: foldedName(metric, query), interval, timeframe: shown(frame) };
    return { context, data, total: points.length };
  }

  /** Works on a question of a project when those that it asked before are answered. */
  async #inTurn<Answer>(projectId: string, work: (turn: Turn) => Promise<Answer>): Promise<Answer> {
    const before = this.#last.get(projectId) ?? Promise.resolve();
    const answer = before.then(async () => work(await this.#turns.begin()));
    const ended = answer.then(
      () => {},
      () => {},
    );
    this.#last.set(projectId, ended);
    try {
      return await answer;
    } finally {
      if (this.#last.get(projectId) === ended) this.#last.delete(projectId);
    }
  }

  /** The numbers by group. */
  async #values(
    { caller, query }: AnalyticsQuestion,
    plan: Exclude<Plan, { kind: 'total' }>,
    frame: Frame,
    grouping: Grouping,
    turn: Turn,
  ): Promise<[number, number][]> {
    const { counts, stays, filters } = this.#options;
    const filter = await filters.numbered(caller.projectId, filterOf(query.filterBy ?? {}), turn);
    const { fromMs, toMs, nowMs } = frame;
    if (filter === undefined || fromMs >= toMs) return [];
    if (plan.kind === 'counts') {
      const { measure, unit } = plan;
      const span = minutesOf(fromMs, toMs, nowMs);
      const sums = await counts.sums({ filter, span, measure, grouping, turn });
      const value = ({ of, over }: Summed) =>
        rounded((measure.over === undefined ? of : over === 0 ? 0 : of / over) / unit);
      return mapInTurns(sums, turn, ([group, summed]) => [group, value(summed)]);
    }
    const span = secondsOf(frame);
    const question = { filter, span, grouping, turn };
    if (plan.kind === 'unique-views') return [...(await stays.uniqueViews(question, plan.bit))];
    if (plan.value === 'average') {
      const averages = await stays.attendance(question, 'average', plan.isUnique);
      return mapInTurns(averages, turn, ([group, average]) => [group, rounded(average)]);
    }
    // The slot that is running, and those before it.
    const lately = { from: nowMs / 1000 - liveSeconds, to: nowMs / 1000 + slotSeconds };
    const attended = plan.value === 'live' ? { ...question, span: lately } : question;
    return [...(await stays.attendance(attended, 'peak', plan.isUnique))];
  }

  #totalsFilter({ caller, query }: AnalyticsQuestion) {
    const { mediaId: ids, mediaType: type, ...others } = query.filterBy ?? {};
    const [other] = Object.keys(others);
    if (other !== undefined)
      throw refused(`filterBy[${other}]`, 'Only "mediaId" and "mediaType" can be used with this metric.');
    return { project: this.#options.filters.projectOf(caller.projectId), ids, type };
  }

  #frameOf(caller: AnalyticsQuestion['caller'], query: CommonQuery): Frame {
    const nowMs = this.#options.clock.nowMs();
    const earliestMs = nowMs - daysKept * dayMs - leewayMs;
    const toMs = query.to === undefined ? nowMs : isoDate(query.to)!;
    const fromMs = query.from === undefined ? toMs - dayMs : isoDate(query.from)!;
    if (query.from !== undefined && fromMs < earliestMs)
      throw refused('from', 'This value should be at most 30 days ago.');
    if (toMs < earliestMs) throw refused('to', 'This value should be at most 30 days ago.');
    if (fromMs >= toMs) throw refused('from', 'This value should be before "to".');
    if (toMs > nowMs + daysKept * dayMs) throw refused('to', 'This value is too far in the future.');
    const seenFromMs = nowMs - (caller.environment === 'sandbox' ? sandboxDays : daysKept) * dayMs - leewayMs;
    return { fromMs: Math.max(fromMs, Math.min(seenFromMs, toMs)), toMs, nowMs };
  }
}

function checkedPlan({ metric, aggregation, query }: AnalyticsQuestion): Plan {
  const isView = metric === 'view';
  if (query.unique === true && !isView && !metric.startsWith('ccv'))
    throw refused('unique', 'This parameter can only be used with the "ccv" and "view" metrics.');
  if (query.viewDuration !== undefined && !isView)
    throw refused('viewDuration', 'This parameter can only be used with the "view" metric.');
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

function intervalOf(asked: string | undefined, { fromMs, toMs }: Frame): Interval {
  const spanMs = toMs - fromMs;
  if (asked === undefined) return spanMs <= 2 * dayMs + leewayMs ? 'hour' : 'day';
  if (asked === 'minute' && spanMs >= 3_600_000)
    throw refused('interval', 'This interval cannot be used with a timeframe over 60 minutes.');
  return asked as Interval;
}

/** What a frame covers until now. */
function secondsOf({ fromMs, toMs, nowMs }: Frame): Span {
  return { from: fromMs / 1000, to: Math.max(fromMs, Math.min(toMs, nowMs + 1)) / 1000 };
}

function shown({ fromMs, toMs }: Frame): { from: string; to: string } {
  return { from: formatAtom(fromMs), to: formatAtom(toMs) };
}

function refused(name: string, detail: string): AppError {
  const type = 'request-invalid-query-parameter';
  const { title } = errorRegister[type];
  return new AppError('invalid-attribute', undefined, {
    details: { name, problems: [{ type, title, name, detail }] },
  });
}

function isRate(plan: Plan): boolean {
  return plan.kind === 'counts' && plan.measure.over !== undefined;
}

function rounded(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
