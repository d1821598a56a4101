import type { UploadCaller } from '../../../http/routing/caller.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import { type ListResult, mapList, type PageRequest, type Sort } from '../../../shared/list-page.ts';
import type { UploadToken } from './upload-token.ts';
import type { UploadTokenView } from './upload-tokens.schema.ts';
import type { UploadTokensStore } from './upload-tokens.store.ts';

export class UploadTokensService {
  readonly #store: UploadTokensStore;
  readonly #clock: Clock;

  constructor(options: { store: UploadTokensStore; clock: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock;
  }

  async authenticate(token: string | undefined): Promise<UploadCaller> {
    if (token === undefined || token === '') throw new AppError('authentication-missing-upload-token');
    const owner = token.includes('\0') ? undefined : await this.#store.findOwner(token, this.#clock.nowMs());
    if (owner === undefined) throw new AppError('authentication-invalid-upload-token');
    if (owner.standing === 'suspended') throw new AppError('authorization-suspended-account');
    if (owner.standing === 'not-upgraded') {
      const detail = 'The account is not upgraded: only tokens of its sandbox can be used.';
      throw new AppError('authentication-invalid-upload-token', undefined, { details: { detail } });
    }
    return { token, projectId: owner.projectId, environment: owner.environment };
  }

  find(projectId: string, token: string): Promise<UploadToken | undefined> {
    return this.#store.find(projectId, token, this.#clock.nowMs());
  }

  async list(
    projectId: string,
    sort: Sort<'createdAt' | 'ttl'>,
    page: PageRequest,
  ): Promise<ListResult<UploadTokenView>> {
    return mapList(await this.#store.list(projectId, sort, page, this.#clock.nowMs()), viewOf);
  }

  view(token: UploadToken): UploadTokenView {
    return viewOf(token);
  }

  /** @param ttl seconds; 0 never expires */
  async create(projectId: string, ttl: number): Promise<UploadTokenView> {
    const nowMs = this.#clock.nowMs();
    const token: UploadToken = {
      token: newId('to'),
      projectId,
      ttl,
      createdAtMs: nowMs,
      expiresAtMs: ttl === 0 ? undefined : nowMs + ttl * 1_000,
    };
    await this.#store.add(token);
    return viewOf(token);
  }

  /** Uploads that were begun with the token are kept. */
  remove({ projectId, token }: UploadToken): Promise<void> {
    return this.#store.remove(projectId, token);
  }
}

function viewOf({ token, ttl, createdAtMs, expiresAtMs }: UploadToken): UploadTokenView {
  return {
    token,
    ttl,
    createdAt: formatAtom(createdAtMs),
    expiresAt: expiresAtMs === undefined ? undefined : formatAtom(expiresAtMs),
  };
}
