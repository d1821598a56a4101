import type { SessionCaller } from '../../../http/routing/caller.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { maxProjects } from '../../../shared/limits/resource-limits.ts';
import type { Logger } from '../../../shared/logger.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { AccountsStore } from '../accounts/accounts.store.ts';
import type { ProjectPair } from './project-pair.ts';
import type { RemovedImages } from './project-pairs.store.ts';
import type { ProjectView } from './projects.schema.ts';

export class ProjectsService {
  readonly #accounts: AccountsStore;
  readonly #files: MediaFiles;
  readonly #clock: Clock;
  readonly #log: Logger;

  constructor(options: { accounts: AccountsStore; files: MediaFiles; clock: Clock; log: Logger }) {
    this.#accounts = options.accounts;
    this.#files = options.files;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** The oldest first. */
  list({ accountId }: SessionCaller): Promise<ProjectPair[]> {
    return this.#accounts.projects.list(accountId);
  }

  find({ accountId }: SessionCaller, pairId: string): Promise<ProjectPair | undefined> {
    return this.#accounts.projects.find(accountId, pairId);
  }

  async viewer({ accountId }: SessionCaller): Promise<(pair: ProjectPair) => ProjectView> {
    const isUpgraded = (await this.#accounts.find(accountId))?.isUpgraded === true;
    return pair => projectViewOf(pair, isUpgraded);
  }

  /** Creates it without keys. @throws AppError `project-limit-reached` */
  async create({ accountId }: SessionCaller, name: string): Promise<ProjectPair> {
    const created = await this.#accounts.changeAccess(accountId, async transaction => {
      const existing = await this.#accounts.projects.list(accountId, transaction);
      if (existing.length >= maxProjects) {
        const detail = `An account can have ${maxProjects} projects. Delete one that you no longer use.`;
        throw new AppError('project-limit-reached', undefined, { details: { detail } });
      }
      // Later than the others although the clocks of servers differ: the first one is the default.
      const createdAtMs = Math.max(this.#clock.nowMs(), ...existing.map(pair => pair.createdAtMs + 1));
      return this.#accounts.projects.add({ accountId, name, createdAtMs }, transaction);
    });
    this.#log.info('project-created', { accountId, projectId: created.pairId });
    return created;
  }

  rename({ accountId }: SessionCaller, { pairId }: ProjectPair, name: string): Promise<ProjectPair> {
    return this.#accounts.changeAccess(accountId, async transaction => {
      await this.#accounts.projects.rename(pairId, name, transaction);
      return this.#require(accountId, pairId, transaction);
    });
  }

  /**
   * Removes a project with its keys, webhooks and settings. @throws AppError `last-project` or `project-not-empty`
   */
  async remove({ accountId }: SessionCaller, { pairId }: ProjectPair): Promise<void> {
    const { projects } = this.#accounts;
    const images = await this.#accounts.changeAccess(accountId, async transaction => {
      const pair = await this.#require(accountId, pairId, transaction);
      if ((await projects.list(accountId, transaction)).length === 1) throw new AppError('last-project');
      if (!(await projects.holdIfEmpty(pair, transaction))) throw new AppError('project-not-empty');
      return projects.remove(pair, transaction);
    });
    this.#log.info('project-deleted', { accountId, projectId: pairId });
    await this.#removeFiles(images);
  }

  /** The sweep removes what is left after a failure, unless it is most of all images. */
  async #removeFiles({ playerIds, watermarkIds }: RemovedImages): Promise<void> {
    const files = this.#files;
    try {
      for (const id of playerIds) await files.storage.remove(files.player(id));
      for (const id of watermarkIds) await files.storage.remove(files.watermark(id));
    } catch (error) {
      this.#log.warn('project-files-not-removed', { error });
    }
  }

  async #require(accountId: string, pairId: string, transaction: Transaction): Promise<ProjectPair> {
    const pair = await this.#accounts.projects.find(accountId, pairId, transaction);
    if (pair !== undefined) return pair;
    throw new AppError('resource-not-found', undefined, { details: { name: 'projectId' } });
  }
}

export function projectViewOf(
  { pairId, name, createdAtMs, projectIds: { sandbox, production } }: ProjectPair,
  isUpgraded: boolean,
): ProjectView {
  return {
    projectId: pairId,
    name,
    createdAt: formatAtom(createdAtMs),
    environmentIds: { sandbox, ...(isUpgraded ? { production } : {}) },
  };
}
