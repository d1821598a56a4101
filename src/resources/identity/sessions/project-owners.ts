import type { PeerRequest } from '../../../http/listener/client-address.ts';
import type { Clock } from '../../../shared/clock.ts';
import { RecentLookups } from '../../../shared/recent-lookups.ts';
import type { Database } from '../../../store/database.ts';
import type { SessionGate } from './session-gate.ts';

/** Recognizes those who are signed in to the account of a project, so that its restrictions of viewers do not hold for them. */
export class ProjectOwners {
  readonly #gate: SessionGate;
  readonly #accounts: RecentLookups<{ readonly accountId: string }>;

  constructor({ gate, database, clock }: { gate: SessionGate; database: Database; clock: Clock }) {
    this.#gate = gate;
    this.#accounts = new RecentLookups(
      projectId =>
        database.first(
          database.queries
            .selectFrom('projects')
            .select('account_id as accountId')
            .where('id', '=', projectId),
        ),
      clock,
    );
  }

  /** Answers at once for everybody who is not signed in. */
  isOwner(request: PeerRequest, projectId: string): Promise<boolean> | false {
    return this.#gate.secretOf(request) !== undefined && this.#isOwner(request, projectId);
  }

  async #isOwner(request: PeerRequest, projectId: string): Promise<boolean> {
    const accountId = await this.#gate.accountOf(request);
    if (accountId === undefined) return false;
    const project = this.#accounts.recent(projectId) ?? (await this.#accounts.find(projectId));
    return project?.accountId === accountId;
  }
}
