import * as z from 'zod';
import { isoDate } from '../../../http/routing/iso-date.ts';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { actorKinds } from './audit-entry.ts';

const maxIdChars = 100;

export const auditQuerySchema = listQuery(
  {
    actor: z
      .string()
      .max(maxIdChars)
      .optional()
      .describe('Id of the user, API key or shortened upload token.'),
    action: z.string().max(maxIdChars).optional().describe('Such as `video.update`.'),
    targetId: z.string().max(maxIdChars).optional().describe('Id of what was changed.'),
    from: isoDate.optional().describe('Beginning.'),
    to: isoDate.optional().describe('End, not included.'),
  },
  ['createdAt'],
);

const auditEntrySchema = z
  .object({
    number: z.int().describe('Counts the entries of the account, from 1 and without gaps.'),
    createdAt: z.iso.datetime({ offset: true }),
    action: z.string().describe('Stays the same in later versions.'),
    summary: z.string().describe('The action in words.'),
    actor: z.object({
      kind: z.enum(actorKinds),
      id: z.string().optional().describe('Absent for the operator of the server.'),
      name: z
        .string()
        .optional()
        .describe('The email address of a user or the name of a pair of API keys, at that time.'),
    }),
    address: z.string().optional().describe('The network address of the request.'),
    environment: z
      .enum(['sandbox', 'production'])
      .optional()
      .describe('Absent for changes of the account itself.'),
    projectId: z.string().optional().describe('One of `environmentIds` of a project.'),
    target: z
      .object({
        kind: z.string().describe('Such as `video` or `live-stream`.'),
        id: z.string().describe('Upload tokens are shortened.'),
        name: z.string().optional().describe('The name or title at that time.'),
        exists: z
          .boolean()
          .optional()
          .describe('Whether the video or live stream still exists, outside the trash.'),
      })
      .optional(),
    changed: z.array(z.string()).optional().describe('Names of the attributes that an update set.'),
  })
  .meta({
    id: 'AuditEntry',
    examples: [
      {
        number: 1204,
        createdAt: '2026-03-04T05:06:07+00:00',
        action: 'video.update',
        summary: 'Updated a video',
        actor: { kind: 'user', id: 'us4Dk8Fh2Jm6Lp1Qs3Vx5Zb7', name: 'studio@example.org' },
        address: '203.0.113.5',
        environment: 'production',
        projectId: 'pr2Wq8Er5Ty1Ui6Op3As9Df7',
        target: { kind: 'video', id: 'vi4k0jvEUuaTdRAEjQ4Jfrgz', name: 'Harbour', exists: true },
        changed: ['title', 'public'],
      },
    ],
  });

export type AuditEntryView = z.input<typeof auditEntrySchema>;

export const auditListSchema = listSchema(auditEntrySchema);
