import { type ImageRules, readUploadedImage } from '../../../http/bodies/uploaded-image.ts';
import { notFoundError } from '../../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../../shared/clock.ts';
import { newId, newUuid } from '../../../shared/ids.ts';
import { type ListResult, mapList } from '../../../shared/list-page.ts';
import { yieldToEventLoop } from '../../../shared/scheduling/yield-to-event-loop.ts';
import type { MediaFiles } from '../../../storage/media-files.ts';
import { removeFileIn, replaceFile } from '../../../storage/replace-file.ts';
import type { Connection, Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import {
  applyPlayerChanges,
  type Player,
  type PlayerChanges,
  type PlayerColor,
  playerColors,
  playerSwitches,
} from './player.ts';
import type { PlayerView } from './players.schema.ts';
import type { PlayersStore } from './players.store.ts';

export const logoImage: ImageRules = {
  types: ['image/jpeg', 'image/png'],
  maxBytes: 100 * 1_024,
  maxSidePixels: 200,
  maxHeightPixels: 100,
  wrongTypeTitle: "Only ['jpg', 'JPG', 'jpeg', 'JPEG', 'png', 'PNG'] extensions are supported.",
};

const maxLinkChars = 2_048;
/** Rows that one run of {@link PlayersService.detachRemoved} changes; the next run continues. */
const maxDetachedPerRun = 100_000;

interface PlayersOptions {
  readonly database: Database;
  readonly store: PlayersStore;
  readonly files: MediaFiles;
  /** Base URL without a trailing slash. */
  readonly baseUrl: () => string;
  readonly clock: Clock;
}

/** `logo` is the path of the image, a new one with each upload. */
interface PlayerPageTheme {
  readonly colors: Readonly<Record<PlayerColor, string>>;
  readonly enableApi: boolean;
  readonly enableControls: boolean;
  readonly forceAutoplay: boolean;
  readonly forceLoop: boolean;
  readonly hideTitle: boolean;
  readonly logo?: string;
  readonly link?: string;
}

/**
 * A logo's file is written before its row and deleted after it. {@link detachRemoved} deletes what a crash
 * leaves.
 */
export class PlayersService {
  readonly #options: PlayersOptions;
  readonly #store: PlayersStore;

  constructor(options: PlayersOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  find(projectId: string, playerId: string): Promise<Player | undefined> {
    return this.#store.find(projectId, playerId);
  }

  /** Keeps the theme until the transaction ends, so that rows may name it. */
  exists(projectId: string, playerId: string, connection?: Connection): Promise<boolean> {
    return this.#store.exists(projectId, playerId, connection);
  }

  /** Returns those that are deleted while rows may still name them. */
  findRemoved(playerIds: readonly string[], connection?: Connection): Promise<ReadonlySet<string>> {
    return this.#store.findRemoved(playerIds, connection);
  }

  async list(...query: Parameters<PlayersStore['list']>): Promise<ListResult<PlayerView>> {
    return mapList(await this.#store.list(...query), player => this.view(player));
  }

  view(player: Player): PlayerView {
    const { playerId, name, look, logo } = player;
    const address = logo && `${this.#options.baseUrl()}/player/${playerId}/logo${extensionOf(logo.file)}`;
    return {
      playerId,
      name,
      ...look,
      createdAt: formatAtom(player.createdAtMs),
      updatedAt: formatAtom(player.updatedAtMs),
      assets: { logo: address ?? null, link: logo?.link ?? null },
    };
  }

  async create(projectId: string, attributes: PlayerChanges): Promise<PlayerView> {
    const nowMs = this.#options.clock.nowMs();
    const player: Player = {
      playerId: newId('pl'),
      projectId,
      name: attributes.name ?? undefined,
      look: applyPlayerChanges({ ...playerColors, ...playerSwitches }, attributes),
      logo: undefined,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    await this.#store.add(player);
    return this.view(player);
  }

  async change(player: Player, changes: PlayerChanges): Promise<PlayerView> {
    const { after } = await this.#update(player, async (current, transaction) => {
      const name = changes.name === undefined ? current.name : (changes.name ?? undefined);
      const look = applyPlayerChanges(current.look, changes);
      await this.#store.change(current.playerId, { name, look }, this.#options.clock.nowMs(), transaction);
    });
    return this.view(after);
  }

  async remove({ playerId }: Player): Promise<void> {
    const isDetached = await this.#store.remove(playerId);
    await this.#removeFolder(playerId);
    if (isDetached) await this.#store.forget(playerId);
  }

  /** `link` is a form field. */
  async setLogo({ projectId, playerId }: Player, file: UploadedFile): Promise<PlayerView> {
    const { files, clock } = this.#options;
    const link = file.fields.get('link');
    if (link !== undefined && link.length > maxLinkChars) {
      throw attributeError('link', `This value should not contain more than ${maxLinkChars} characters.`);
    }
    const { type } = await readUploadedImage(file, logoImage);
    const name = `logo-${newUuid()}.${type === 'image/png' ? 'png' : 'jpg'}`;
    const logo = { file: name, bytes: file.bytes, link };
    let shown: Player | undefined;
    await replaceFile(files, { from: file.path, folder: files.player(playerId), name }, async () => {
      const { before, after } = await this.#update({ projectId, playerId }, (_, transaction) =>
        this.#store.setLogo(playerId, logo, clock.nowMs(), transaction),
      );
      shown = after;
      return before.logo?.file;
    });
    return this.view(shown!);
  }

  async removeLogo({ projectId, playerId }: Player): Promise<void> {
    const { files, clock } = this.#options;
    const { before } = await this.#update({ projectId, playerId }, (_, transaction) =>
      this.#store.setLogo(playerId, undefined, clock.nowMs(), transaction),
    );
    if (before.logo !== undefined) await removeFileIn(files, files.player(playerId), before.logo.file);
  }

  async shown(playerId: string): Promise<PlayerPageTheme | undefined> {
    const player = await this.#store.findAny(playerId);
    if (player === undefined) return undefined;
    const { look, logo } = player;
    const { enableApi, enableControls, forceAutoplay, forceLoop, hideTitle, ...colors } = look;
    return {
      colors,
      enableApi,
      enableControls,
      forceAutoplay,
      forceLoop,
      hideTitle,
      ...(logo && { logo: `/player/${playerId}/logo${extensionOf(logo.file)}?v=${logo.file.slice(5, 13)}` }),
      ...(logo?.link === undefined ? {} : { link: logo.link }),
    };
  }

  async logoFile(
    playerId: string,
    extension: 'png' | 'jpg',
  ): Promise<{ readonly path: string; readonly bytes: number; readonly name: string } | undefined> {
    const logo = (await this.#store.findAny(playerId))?.logo;
    if (logo === undefined || extensionOf(logo.file) !== `.${extension}`) return undefined;
    return { path: this.#options.files.player(playerId, logo.file), bytes: logo.bytes, name: logo.file };
  }

  /** Unsets removed themes on rows that still name them, and deletes files that a crash left. */
  async detachRemoved(): Promise<number> {
    let count = 0;
    for (const playerId of await this.#store.removed()) {
      for (let isDone = false; !isDone; ) {
        if (count >= maxDetachedPerRun) return count;
        const { rows, isDetached } = await this.#store.detachSome(playerId);
        count += rows;
        isDone = isDetached;
        await yieldToEventLoop();
      }
      await this.#removeFolder(playerId);
      await this.#store.forget(playerId);
    }
    return count;
  }

  /** Changes of one theme wait for each other. */
  #update(
    { projectId, playerId }: Pick<Player, 'projectId' | 'playerId'>,
    work: (current: Player, transaction: Transaction) => Promise<void>,
  ): Promise<{ readonly before: Player; readonly after: Player }> {
    return this.#options.database.transaction(async transaction => {
      await transaction.lock('player', playerId);
      const before = await this.#requirePlayer(projectId, playerId, transaction);
      await work(before, transaction);
      return { before, after: await this.#requirePlayer(projectId, playerId, transaction) };
    });
  }

  async #requirePlayer(projectId: string, playerId: string, connection?: Connection): Promise<Player> {
    const player = await this.#store.find(projectId, playerId, connection);
    if (player !== undefined) return player;
    throw notFoundError('playerId');
  }

  async #removeFolder(playerId: string): Promise<void> {
    const { files } = this.#options;
    await files.storage.remove(files.player(playerId));
  }
}

function extensionOf(file: string): string {
  return file.slice(file.lastIndexOf('.'));
}
