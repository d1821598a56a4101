import * as z from 'zod';
import { listQuery, listSchema } from '../../../http/routing/pagination.ts';
import { maxProjectNameLength } from '../../../shared/limits/resource-limits.ts';

const name = z.string().trim().min(1).max(maxProjectNameLength);

export const projectSchema = z
  .object({
    projectId: z.string().describe('The value of `Millrace-Project`.'),
    name: z.string(),
    createdAt: z.iso.datetime({ offset: true }),
    environmentIds: z
      .object({
        sandbox: z.string(),
        production: z.string().optional().describe('Absent until the account is upgraded.'),
      })
      .describe(
        'Ids of its sandbox and its production, which the account and the audit log name as `projectId`.',
      ),
  })
  .meta({
    id: 'Project',
    examples: [
      {
        projectId: 'pp5Tg2Hn8Jm4Kw7Lq1Pz3Xc6',
        name: 'Web shop',
        createdAt: '2026-03-04T05:06:07+00:00',
        environmentIds: { sandbox: 'pr9Bv4Nc2Mx7Za1Sd6Fg8Hj3', production: 'pr2Wq8Er5Ty1Ui6Op3As9Df7' },
      },
    ],
  });

export type ProjectView = z.input<typeof projectSchema>;

export const projectNameSchema = z.strictObject({ name }).meta({ examples: [{ name: 'Web shop' }] });

export const projectsQuerySchema = listQuery({}, ['createdAt']);

export const projectListSchema = listSchema(projectSchema);
