import type { Caller } from '../../../http/routing/caller.ts';
import { parseIsoDate } from '../../../http/routing/iso-date.ts';
import { pageOf, sortOf } from '../../../http/routing/pagination.ts';
import { defineRoute, type Route } from '../../../http/routing/route.ts';
import { formatAtom } from '../../../shared/clock.ts';
import { mapList } from '../../../shared/list-page.ts';
import type { ProjectPairsStore } from '../projects/project-pairs.store.ts';
import { type AuditEntryView, auditListSchema, auditQuerySchema } from './audit.schema.ts';
import { type AuditStore, maxSearchedEntries } from './audit.store.ts';
import type { AuditEntry, AuditFilter, AuditTarget } from './audit-entry.ts';
import { pastTense } from './past-tense.ts';

export function auditRoutes(store: AuditStore, projects: ProjectPairsStore): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/account/audit-log',
      tag: 'Account',
      summary: 'List the audit log',
      description:
        `Successful changes, sign-ins and refused sign-ins, for as long as the setting \`audit.keepDays\` says. An API key of the sandbox lists only changes of its ` +
        `sandbox, one of production those of its project and of the account itself. With several of \`actor\`, \`action\` and \`targetId\`, or with ` +
        `an API key that does not list all entries, the newest ${maxSearchedEntries} ` +
        'entries that match one of them are searched.',
      auth: 'key',
      scope: 'admin',
      query: auditQuerySchema,
      success: { status: 200, description: 'A page of entries.', schema: auditListSchema },
      handle: async request => {
        const { caller, query } = request;
        const { actor, action, targetId, from, to } = query;
        const filter = {
          actor,
          action,
          targetId,
          projects: await accessibleProjects(caller, projects, store),
          fromMs: from === undefined ? undefined : parseIsoDate(from),
          toMs: to === undefined ? undefined : parseIsoDate(to),
        };
        const { direction } = sortOf(query, 'createdAt');
        const list = await store.list(caller.accountId, filter, direction, query);
        const targets = new Set(list.items.flatMap(({ target }) => target?.id ?? []));
        const existing = await store.findExisting(caller.accountId, [...targets]);
        return pageOf(
          request,
          mapList(list, entry => viewOf(entry, existing)),
        );
      },
    }),
  ];
}

/** Undefined for all: signed-in users see the whole account. */
async function accessibleProjects(
  { actor, environment, projectId, accountId }: Caller,
  projects: ProjectPairsStore,
  store: AuditStore,
): Promise<AuditFilter['projects']> {
  if (actor.kind === 'user') return undefined;
  if (environment === 'sandbox') return { ids: [projectId], withAccount: false };
  const pairs = await projects.list(accountId);
  if (pairs.length === 1 && !(await hasDeletedProjects(accountId, store))) return undefined;
  const own = pairs.find(({ projectIds }) => projectIds.production === projectId);
  return { ids: Object.values(own?.projectIds ?? {}), withAccount: true };
}

/**
 * Tells whether the account had projects that were deleted. Their entries are kept, and are older than that of the
 * deletion.
 */
async function hasDeletedProjects(accountId: string, store: AuditStore): Promise<boolean> {
  const page = { currentPage: 1, pageSize: 1 };
  return (await store.list(accountId, { action: 'project.delete' }, 'desc', page)).total > 0;
}

function viewOf(entry: AuditEntry, existing: ReadonlySet<string>): AuditEntryView {
  const { number, atMs, project, actor, address, action, summary, target, changed } = entry;
  return {
    number,
    createdAt: formatAtom(atMs),
    action,
    summary: pastTense(summary),
    actor: {
      kind: actor.kind,
      id: actor.id,
      name: actor.name,
    },
    address,
    ...project,
    ...(target === undefined ? {} : { target: targetView(target, existing) }),
    ...(changed === undefined ? {} : { changed: [...changed] }),
  };
}

function targetView(
  { kind, id, name }: AuditTarget,
  existing: ReadonlySet<string>,
): NonNullable<AuditEntryView['target']> {
  const isMedia = kind === 'video' || kind === 'live-stream';
  return {
    kind,
    id,
    name,
    ...(isMedia ? { exists: existing.has(id) } : {}),
  };
}
