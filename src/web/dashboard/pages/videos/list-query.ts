import { pageOf } from '../../ui/page-of.ts';
import { dateRangeOf, isDateChoice } from './date-range.ts';

export const videoOrders = {
  newest: { sortBy: 'createdAt', sortOrder: 'desc' },
  oldest: { sortBy: 'createdAt', sortOrder: 'asc' },
  changed: { sortBy: 'updatedAt', sortOrder: 'desc' },
  'most-played': { sortBy: 'plays', sortOrder: 'desc' },
  'least-played': { sortBy: 'plays', sortOrder: 'asc' },
  title: { sortBy: 'title', sortOrder: 'asc' },
  'title-back': { sortBy: 'title', sortOrder: 'desc' },
} as const;

export type VideoOrder = keyof typeof videoOrders;

export const statuses = ['ready', 'processing', 'failed', 'empty'] as const;

export const visibilities = ['public', 'private'] as const;

export interface ListChoice {
  readonly search: string;
  readonly tags: readonly string[];
  readonly status: (typeof statuses)[number] | undefined;
  readonly visibility: (typeof visibilities)[number] | undefined;
  /** `upload`, `recording`, or the id of a live stream. */
  readonly source: string | undefined;
  /** A period such as `7d`, or days: `2026-03-01..2026-03-04`. */
  readonly date: string | undefined;
  readonly order: VideoOrder;
  readonly page: number;
}

const pageSize = 24;

export function readChoice(query: Readonly<Record<string, string>>): ListChoice {
  const { search = '', tags, status, visibility, source, date, order } = query;
  return {
    search,
    tags: readTags(tags),
    status: statuses.find(known => known === status),
    visibility: visibilities.find(known => known === visibility),
    source: source === 'upload' || source === 'recording' || source?.startsWith('li') ? source : undefined,
    date: date !== undefined && isDateChoice(date) ? date : undefined,
    order: order !== undefined && Object.hasOwn(videoOrders, order) ? (order as VideoOrder) : 'newest',
    page: pageOf(query),
  };
}

/** Removes all filters, and shows the first page. */
export const noFilters = {
  search: undefined,
  tags: undefined,
  status: undefined,
  visibility: undefined,
  source: undefined,
  date: undefined,
  page: undefined,
} as const;

export function isFiltered({ search, tags, status, visibility, source, date }: ListChoice): boolean {
  const others = [status, visibility, source, date];
  return search.trim() !== '' || tags.length > 0 || others.some(value => value !== undefined);
}

/** Joins tags to one value. Commas inside tags are escaped. */
export function writeTags(tags: readonly string[]): string | undefined {
  return tags.length === 0 ? undefined : tags.map(encodeURIComponent).join(',');
}

/** The filters of the API, without the page and the order. */
export function apiFilterOf(
  { search, tags, status, visibility, source, date }: ListChoice,
  nowMs: number = Date.now(),
) {
  const { from, to } = date === undefined ? {} : dateRangeOf(date, nowMs);
  return {
    title: search.trim() || undefined,
    ...(tags.length === 0 ? {} : { 'tags[]': tags }),
    ...(status === undefined ? {} : { status }),
    ...(visibility === undefined ? {} : { public: visibility === 'public' }),
    ...(source === undefined ? {} : sourceQueryOf(source)),
    ...(from === undefined ? {} : { createdFrom: from }),
    ...(to === undefined ? {} : { createdTo: to }),
  };
}

export function apiQueryOf(choice: ListChoice) {
  const { sortBy, sortOrder } = videoOrders[choice.order];
  return { ...apiFilterOf(choice), sortBy, sortOrder, currentPage: choice.page, pageSize };
}

function sourceQueryOf(source: string) {
  if (source === 'upload') return { sourceType: 'upload' } as const;
  return source === 'recording' ? ({ sourceType: 'liveStream' } as const) : { liveStreamId: source };
}

function readTags(text: string | undefined): string[] {
  try {
    return [...new Set((text ?? '').split(',').map(decodeURIComponent))].filter(tag => tag !== '');
  } catch {
    return [];
  }
}
