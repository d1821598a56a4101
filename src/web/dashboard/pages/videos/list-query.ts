export const videoOrders = {
  newest: { label: 'Newest first', sortBy: 'createdAt', sortOrder: 'desc' },
  oldest: { label: 'Oldest first', sortBy: 'createdAt', sortOrder: 'asc' },
  changed: { label: 'Recently updated', sortBy: 'updatedAt', sortOrder: 'desc' },
  title: { label: 'Title, A to Z', sortBy: 'title', sortOrder: 'asc' },
  'title-back': { label: 'Title, Z to A', sortBy: 'title', sortOrder: 'desc' },
} as const;

export type VideoOrder = keyof typeof videoOrders;

export interface ListChoice {
  readonly search: string;
  readonly tags: readonly string[];
  readonly order: VideoOrder;
  readonly page: number;
}

const pageSize = 24;

export function readChoice(query: Readonly<Record<string, string>>): ListChoice {
  const { search = '', tags, order = 'newest', page = '1' } = query;
  return {
    search,
    tags: readTags(tags),
    order: Object.hasOwn(videoOrders, order) ? (order as VideoOrder) : 'newest',
    page: /^[1-9]\d{0,5}$/.test(page) ? Number(page) : 1,
  };
}

/** Joins tags to one value. Commas inside tags are escaped. */
export function writeTags(tags: readonly string[]): string | undefined {
  return tags.length === 0 ? undefined : tags.map(encodeURIComponent).join(',');
}

export function apiQueryOf({ search, tags, order, page }: ListChoice) {
  const { sortBy, sortOrder } = videoOrders[order];
  return {
    title: search.trim() || undefined,
    sortBy,
    sortOrder,
    currentPage: page,
    pageSize,
    ...(tags.length === 0 ? {} : { 'tags[]': tags }),
  };
}

function readTags(text: string | undefined): string[] {
  try {
    return [...new Set((text ?? '').split(',').map(decodeURIComponent))].filter(tag => tag !== '');
  } catch {
    return [];
  }
}
