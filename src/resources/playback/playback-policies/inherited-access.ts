import { attributeError } from '../../../http/routing/validation.ts';
import type { ViewerLimits } from '../../../shared/playback-policy.ts';
import type { Transaction } from '../../../store/connection.ts';
import { lockForUpdate } from '../../../store/row-locks.ts';

interface SourceAccess {
  readonly isPublic: number;
  readonly policy: string | null;
  readonly limits: string | null;
}

interface AccessChanges {
  readonly is_public?: number;
  readonly playback_policy?: string | null;
  readonly viewer_limits?: null;
}

/**
 * Lets a new video, whose media comes from a video or live stream of the project, be played by whoever may play that one, now
 * and after changes. Attributes that the video `has` itself are kept.
 * @throws AppError `invalid-attribute` when the source was deleted meanwhile
 */
export async function inheritAccess(
  video: { readonly videoId: string; readonly projectId: string },
  source: { readonly id: string; readonly limits: ViewerLimits | undefined },
  has: { readonly public: boolean; readonly policy: boolean },
  transaction: Transaction,
): Promise<void> {
  if (has.public && has.policy) return;
  await holdAccess(video.projectId, transaction);
  const access = await readAccess(video.projectId, source.id, transaction);
  if (access === undefined) throw attributeError('source', 'This was deleted a moment ago.');
  const limits = source.limits === undefined ? access.limits : JSON.stringify(source.limits);
  await transaction.run(
    transaction.queries
      .updateTable('videos')
      .set({
        ...(has.public ? {} : { is_public: access.isPublic, public_from: source.id }),
        ...(has.policy
          ? {}
          : { playback_policy: access.policy, policy_from: source.id, viewer_limits: limits }),
      })
      .where('id', '=', video.videoId),
  );
}

/** Keeps others from changing it until the transaction ends. */
async function readAccess(
  projectId: string,
  id: string,
  transaction: Transaction,
): Promise<SourceAccess | undefined> {
  const { queries } = transaction;
  if (id.startsWith('li')) {
    const stream = queries
      .selectFrom('live_streams')
      .select(['is_public as isPublic', 'playback_policy as policy'])
      .where('id', '=', id)
      .where('project_id', '=', projectId);
    const row = await transaction.first(lockForUpdate(stream, transaction));
    return row && { ...row, limits: null };
  }
  const video = queries
    .selectFrom('videos')
    .select(['is_public as isPublic', 'playback_policy as policy', 'viewer_limits as limits'])
    .where('id', '=', id)
    .where('project_id', '=', projectId);
  return transaction.first(lockForUpdate(video, transaction));
}

/**
 * Keeps others from changing who may play media of the project, or from inheriting it, until the transaction ends. Call it
 * before other changes.
 */
export function holdAccess(projectId: string, transaction: Transaction): Promise<void> {
  return transaction.lock('playback-access', projectId);
}

/** Lets the videos that inherit from a deleted one inherit from where that one did. Call it after the deletion. */
export async function skipDeleted(
  deleted: { readonly id: string } & Record<'public_from' | 'policy_from', string | null>,
  transaction: Transaction,
): Promise<void> {
  for (const column of ['public_from', 'policy_from'] as const) {
    await transaction.run(
      transaction.queries
        .updateTable('videos')
        .set({ [column]: deleted[column] })
        .where(column, '=', deleted.id),
    );
  }
}

/** Changes the videos that inherit from this video or live stream, and those that inherit from them. Call it after its change. */
export async function passOnAccess(
  projectId: string,
  sourceId: string,
  { is_public, ...policy }: AccessChanges,
  transaction: Transaction,
): Promise<void> {
  if (is_public !== undefined) {
    await changeHeirs({ projectId, sourceId, column: 'public_from' }, { is_public }, transaction);
  }
  if (policy.playback_policy !== undefined) {
    await changeHeirs({ projectId, sourceId, column: 'policy_from' }, policy, transaction);
  }
}

async function changeHeirs(
  {
    projectId,
    sourceId,
    column,
  }: Record<'projectId' | 'sourceId', string> & {
    column: 'public_from' | 'policy_from';
  },
  changes: AccessChanges,
  transaction: Transaction,
): Promise<void> {
  const heirs = transaction.queries.withRecursive('heirs', query =>
    query
      .selectFrom('videos')
      .select('id')
      .where(column, '=', sourceId)
      .union(query.selectFrom('videos as v').innerJoin('heirs', `v.${column}`, 'heirs.id').select('v.id')),
  );
  await transaction.run(
    heirs
      .updateTable('videos')
      .set(changes)
      .where('project_id', '=', projectId)
      .where('id', 'in', query => query.selectFrom('heirs').select('heirs.id')),
  );
}
