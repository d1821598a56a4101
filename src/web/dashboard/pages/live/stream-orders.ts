export const streamOrders = {
  newest: { label: 'streams.newest', sortBy: 'createdAt', sortOrder: 'desc' },
  oldest: { label: 'streams.oldest', sortBy: 'createdAt', sortOrder: 'asc' },
  changed: { label: 'streams.changed', sortBy: 'updatedAt', sortOrder: 'desc' },
  name: { label: 'streams.name', sortBy: 'name', sortOrder: 'asc' },
  'name-back': { label: 'streams.nameBack', sortBy: 'name', sortOrder: 'desc' },
} as const;

export type StreamOrder = keyof typeof streamOrders;

export function orderOf(text: string | undefined): StreamOrder {
  return text !== undefined && Object.hasOwn(streamOrders, text) ? (text as StreamOrder) : 'newest';
}
