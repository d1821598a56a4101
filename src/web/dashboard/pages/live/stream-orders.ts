export const streamOrders = {
  newest: { label: 'Newest first', sortBy: 'createdAt', sortOrder: 'desc' },
  oldest: { label: 'Oldest first', sortBy: 'createdAt', sortOrder: 'asc' },
  changed: { label: 'Recently updated', sortBy: 'updatedAt', sortOrder: 'desc' },
  name: { label: 'Name, A to Z', sortBy: 'name', sortOrder: 'asc' },
  'name-back': { label: 'Name, Z to A', sortBy: 'name', sortOrder: 'desc' },
} as const;

export type StreamOrder = keyof typeof streamOrders;

export function orderOf(text: string | undefined): StreamOrder {
  return text !== undefined && Object.hasOwn(streamOrders, text) ? (text as StreamOrder) : 'newest';
}
