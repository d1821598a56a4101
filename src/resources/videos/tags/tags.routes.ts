import { pageOf } from '../../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../../http/routing/route.ts';
import { tagListSchema, tagsQuerySchema } from './tags.schema.ts';
import type { TagsStore } from './tags.store.ts';

export function tagRoutes(tags: TagsStore): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/tags',
      tag: 'Tags',
      summary: 'List tags',
      description: 'Tags of your videos, with the number of videos that have them.',
      auth: 'key',
      query: tagsQuerySchema,
      success: { status: 200, description: 'A page of tags.', schema: tagListSchema },
      handle: async ({ caller, query, path, queryText }) => {
        const sort = { field: query.sortBy, direction: query.sortOrder ?? 'asc' };
        const { tags: views, total } = await tags.list(caller.projectId, query.value, sort, query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
  ];
}
