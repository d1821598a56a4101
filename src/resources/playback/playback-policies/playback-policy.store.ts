import type { PlaybackPolicy } from '../../../shared/playback-policy.ts';
import type { Database } from '../../../store/database.ts';

/** The policy of videos and live streams without their own. */
export class PlaybackPolicyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(projectId: string): Promise<PlaybackPolicy | undefined> {
    const row = await this.#database.first(
      this.#database.queries.selectFrom('projects').select('playback_policy').where('id', '=', projectId),
    );
    return policyFrom(row?.playback_policy ?? null);
  }

  async change(projectId: string, policy: PlaybackPolicy | null): Promise<void> {
    await this.#database.run(
      this.#database.queries
        .updateTable('projects')
        .set({ playback_policy: policy && JSON.stringify(policy) })
        .where('id', '=', projectId),
    );
  }
}

export function policyFrom(json: string | null): PlaybackPolicy | undefined {
  return json === null ? undefined : (JSON.parse(json) as PlaybackPolicy);
}
