import { attributeError } from '../../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { AppError } from '../../../shared/errors.ts';
import { newId } from '../../../shared/ids.ts';
import type { ListResult, PageRequest, Sort } from '../../../shared/list-page.ts';
import { generateKey, readPublicKey } from './key-material.ts';
import { maxSigningKeys, type SigningKey } from './signing-key.ts';
import type { SigningKeyCreation, SigningKeyView } from './signing-keys.schema.ts';
import type { SigningKeysStore } from './signing-keys.store.ts';

export class SigningKeysService {
  readonly #store: SigningKeysStore;
  readonly #clock: Clock;

  constructor(store: SigningKeysStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  find(projectId: string, signingKeyId: string): Promise<SigningKey | undefined> {
    return this.#store.find(projectId, signingKeyId);
  }

  async list(
    projectId: string,
    { direction }: Sort<'createdAt'>,
    { currentPage, pageSize }: PageRequest,
  ): Promise<ListResult<SigningKeyView>> {
    const all = await this.#store.all(projectId, direction);
    const from = (currentPage - 1) * pageSize;
    return { items: all.slice(from, from + pageSize).map(viewOf), total: all.length };
  }

  view(key: SigningKey): SigningKeyView {
    return viewOf(key);
  }

  /** @throws AppError `invalid-attribute`, `signing-key-limit-reached` */
  async create(projectId: string, creation: SigningKeyCreation): Promise<SigningKeyView> {
    const { privateKey, ...material } = await materialOf(creation);
    const key = {
      signingKeyId: newId('sk'),
      projectId,
      name: creation.name,
      createdAtMs: this.#clock.nowMs(),
      ...material,
    };
    if (!(await this.#store.add(key, maxSigningKeys))) {
      const detail = `This environment has ${maxSigningKeys} signing keys, which is the maximum. Delete a key that you no longer use.`;
      throw new AppError('signing-key-limit-reached', undefined, { details: { detail } });
    }
    return { ...viewOf(key), ...(privateKey === undefined ? {} : { privateKey }) };
  }

  /** Tokens that it signed are refused about a second later. */
  remove(key: SigningKey): Promise<void> {
    return this.#store.remove(key);
  }
}

async function materialOf({
  algorithm,
  publicKey,
}: SigningKeyCreation): Promise<Pick<SigningKey, 'algorithm' | 'publicKey'> & { privateKey?: string }> {
  if (publicKey === undefined) {
    const generated = algorithm ?? 'ES256';
    return { algorithm: generated, ...(await generateKey(generated)) };
  }
  const read = readPublicKey(publicKey);
  if (typeof read === 'string') throw attributeError('publicKey', read);
  if (algorithm !== undefined && algorithm !== read.algorithm) {
    throw attributeError('algorithm', `This key is for ${read.algorithm}. Send that, or no algorithm.`);
  }
  return read;
}

function viewOf({ signingKeyId, name, algorithm, publicKey, createdAtMs }: SigningKey): SigningKeyView {
  return { signingKeyId, name, algorithm, publicKey, createdAt: formatAtom(createdAtMs) };
}
