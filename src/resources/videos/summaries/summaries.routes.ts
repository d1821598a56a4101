import type { Caller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import {
  summariesQuerySchema,
  summaryCreationSchema,
  summaryListSchema,
  summarySchema,
  summarySourceChangesSchema,
  summarySourceSchema,
} from './summaries.schema.ts';
import type { SummariesService } from './summaries.service.ts';

export function summaryRoutes(summaries: SummariesService): Route[] {
  const tag = 'Summaries';
  const one = {
    tag,
    auth: 'key',
    params: { summaryId: 'Id of the summary.' },
    find: ({ params, caller }: { params: { summaryId: string }; caller: Caller }) =>
      summaries.find(caller.projectId, params.summaryId),
  } as const;
  const source = { description: 'The text.', schema: summarySourceSchema };

  return [
    defineRoute({
      method: 'GET',
      path: '/summaries',
      tag,
      summary: 'List summaries',
      description: 'Leaves out summaries of videos in the trash.',
      auth: 'key',
      query: summariesQuerySchema,
      success: { status: 200, description: 'A page of summaries.', schema: summaryListSchema },
      handle: async ({ caller, query, path, queryText }) => {
        const sort = sortOf(query, 'createdAt');
        const { views, total } = await summaries.list(caller.projectId, query, sort, query);
        return pageOf({ path, queryText, query }, { items: views, total });
      },
    }),
    defineRoute({
      method: 'POST',
      scope: 'upload',
      path: '/summaries',
      tag,
      summary: 'Create a summary',
      description:
        'A video has at most one. Its text is `missing` until you send it with `PATCH /summaries/{summaryId}/source`, or generated.',
      auth: 'key',
      body: jsonBody(summaryCreationSchema),
      success: { status: 201, description: 'The summary.', schema: summarySchema },
      errors: ['resource-not-found', 'summary-already-exists'],
      isAtomic: true,
      handle: ({ caller, body }) => summaries.create(caller.projectId, body),
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'upload',
      path: '/summaries/{summaryId}',
      summary: 'Delete a summary',
      ...one,
      success: { status: 204, description: 'Deleted.' },
      isAtomic: true,
      handle: ({ found }) => summaries.remove(found),
    }),
    defineRoute({
      method: 'GET',
      path: '/summaries/{summaryId}/source',
      summary: 'Get the text of a summary',
      description: 'Responds with 404 while there is no text.',
      ...one,
      success: { status: 200, ...source },
      handle: ({ found }) => summaries.source(found),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'upload',
      path: '/summaries/{summaryId}/source',
      summary: 'Write the text of a summary',
      description: 'Keeps fields that you do not send. Responds with 409 while the text is being generated.',
      ...one,
      errors: ['summary-already-exists'],
      body: jsonBody(summarySourceChangesSchema),
      success: { status: 201, ...source },
      isAtomic: true,
      handle: ({ found, body }) => summaries.write(found, body),
    }),
  ];
}
