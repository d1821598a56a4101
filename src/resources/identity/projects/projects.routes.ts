import type { SessionCaller } from '../../../http/routing/caller.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, jsonBody, type Route } from '../../../http/routing/route.ts';
import { maxProjects } from '../../../shared/limits/resource-limits.ts';
import { pageItems } from '../members/members.routes.ts';
import {
  projectListSchema,
  projectNameSchema,
  projectSchema,
  projectsQuerySchema,
} from './projects.schema.ts';
import type { ProjectsService } from './projects.service.ts';

export function projectRoutes(projects: ProjectsService): Route[] {
  const tag = 'Projects';
  const path = '/account/projects';
  const one = {
    path: `${path}/{projectId}`,
    tag,
    auth: 'session',
    params: { projectId: 'Id of the project.' },
    find: ({ params, caller }: { params: { projectId: string }; caller: SessionCaller }) =>
      projects.find(caller, params.projectId),
  } as const;
  return [
    defineRoute({
      method: 'GET',
      path,
      tag,
      summary: 'List projects',
      auth: 'session',
      query: projectsQuerySchema,
      success: { status: 200, description: 'A page of projects.', schema: projectListSchema },
      handle: async request => {
        const { caller, query } = request;
        const all = await projects.list(caller);
        if (sortOf(query, 'createdAt').direction === 'desc') all.reverse();
        return pageOf(request, pageItems(all, query, await projects.viewer(caller)));
      },
    }),
    defineRoute({
      method: 'POST',
      path,
      tag,
      summary: 'Create a project',
      description: `It has no API keys yet. An account can have ${maxProjects} projects.`,
      auth: 'session',
      scope: 'admin',
      body: jsonBody(projectNameSchema),
      success: { status: 201, description: 'The project.', schema: projectSchema },
      errors: ['project-limit-reached'],
      handle: async ({ caller, body }) => {
        const created = await projects.create(caller, body.name);
        return (await projects.viewer(caller))(created);
      },
    }),
    defineRoute({
      method: 'GET',
      summary: 'Get a project',
      ...one,
      success: { status: 200, description: 'The project.', schema: projectSchema },
      handle: async ({ caller, found }) => (await projects.viewer(caller))(found),
    }),
    defineRoute({
      method: 'PATCH',
      scope: 'admin',
      summary: 'Rename a project',
      ...one,
      body: jsonBody(projectNameSchema),
      success: { status: 200, description: 'The project.', schema: projectSchema },
      handle: async ({ caller, found, body }) => {
        const renamed = await projects.rename(caller, found, body.name);
        return (await projects.viewer(caller))(renamed);
      },
    }),
    defineRoute({
      method: 'DELETE',
      scope: 'admin',
      summary: 'Delete a project',
      description:
        'Also deletes its API keys, webhooks, hooks, player themes, watermarks, signing keys and analytics. A project with videos, also in the trash, or with live streams cannot be deleted, and neither can the last one.',
      ...one,
      success: { status: 204, description: 'The project is deleted.' },
      errors: ['last-project', 'project-not-empty'],
      handle: ({ caller, found }) => projects.remove(caller, found),
    }),
  ];
}
