import { rm } from 'node:fs/promises';
import { type ImageRules, readUploadedImage } from '../../http/bodies/uploaded-image.ts';
import { notFoundError } from '../../http/routing/project-resource.ts';
import type { UploadedFile } from '../../http/routing/route.ts';
import { attributeError } from '../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { newId, newUuid } from '../../shared/ids.ts';
import { type ListResult, mapList } from '../../shared/list-page.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
import { removeFileIn, replaceFile } from '../../storage/replace-file.ts';
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
  readonly store: PlayersStore;
  readonly files: MediaFiles;
  /** Without a trailing slash. */
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

  find(projectId: string, playerId: string): Player | undefined {
    return this.#store.find(projectId, playerId);
  }

  exists(projectId: string, playerId: string): boolean {
    return this.find(projectId, playerId) !== undefined;
  }

  isRemoved(playerId: string): boolean {
    return this.#store.isRemoved(playerId);
  }

  list(...query: Parameters<PlayersStore['list']>): ListResult<PlayerView> {
    return mapList(this.#store.list(...query), player => this.view(player));
  }

  view(player: Player): PlayerView {
    const { playerId, name, look, logo } = player;
    const address = logo && `${this.#options.baseUrl()}/player/${playerId}/logo${extensionOf(logo.file)}`;
    return {
      playerId,
      ...(name === undefined ? {} : { name }),
      ...look,
      createdAt: formatAtom(player.createdAtMs),
      updatedAt: formatAtom(player.updatedAtMs),
      assets: { logo: address ?? null, link: logo?.link ?? null },
    };
  }

  create(projectId: string, attributes: PlayerChanges): PlayerView {
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
    this.#store.add(player);
    return this.view(player);
  }

  change({ projectId, playerId }: Player, changes: PlayerChanges): PlayerView {
    const player = this.#requirePlayer(projectId, playerId);
    const name = changes.name === undefined ? player.name : (changes.name ?? undefined);
    const look = applyPlayerChanges(player.look, changes);
    this.#store.change(playerId, { name, look }, this.#options.clock.nowMs());
    return this.view(this.#requirePlayer(projectId, playerId));
  }

  async remove({ playerId }: Player): Promise<void> {
    const isDetached = this.#store.remove(playerId);
    await this.#removeFolder(playerId);
    if (isDetached) this.#store.forget(playerId);
  }

  /** `link` is a form field. */
  async setLogo({ projectId, playerId }: Player, file: UploadedFile): Promise<PlayerView> {
    const { files, clock } = this.#options;
    const link = file.fields.get('link');
    if (link !== undefined && link.length > maxLinkChars) {
      throw attributeError('link', `This value should not contain more than ${maxLinkChars} characters.`);
    }
    if (link?.includes('\u0000') === true) {
      throw attributeError('link', 'This value should not contain the character U+0000.');
    }
    const { type } = await readUploadedImage(file, logoImage);
    const name = `logo-${newUuid()}.${type === 'image/png' ? 'png' : 'jpg'}`;
    await replaceFile(files, { from: file.path, folder: files.player(playerId), name }, () => {
      const replaced = this.#requirePlayer(projectId, playerId).logo;
      this.#store.setLogo(playerId, { file: name, bytes: file.bytes, link }, clock.nowMs());
      return replaced?.file;
    });
    return this.view(this.#requirePlayer(projectId, playerId));
  }

  async removeLogo({ projectId, playerId }: Player): Promise<void> {
    const { logo } = this.#requirePlayer(projectId, playerId);
    this.#store.setLogo(playerId, undefined, this.#options.clock.nowMs());
    if (logo !== undefined) await removeFileIn(this.#options.files.player(playerId), logo.file);
  }

  shown(playerId: string): PlayerPageTheme | undefined {
    const player = this.#store.findAny(playerId);
    if (player === undefined) return undefined;
    const { look, logo } = player;
    const { enableApi, enableControls, forceAutoplay, forceLoop, hideTitle, ...colors } = look;
    return {
      colors,
      ...{ enableApi, enableControls, forceAutoplay, forceLoop, hideTitle },
      ...(logo && { logo: `/player/${playerId}/logo${extensionOf(logo.file)}?v=${logo.file.slice(5, 13)}` }),
      ...(logo?.link === undefined ? {} : { link: logo.link }),
    };
  }

  logoFile(
    playerId: string,
    extension: 'png' | 'jpg',
  ): { readonly path: string; readonly bytes: number; readonly name: string } | undefined {
    const logo = this.#store.findAny(playerId)?.logo;
    if (logo === undefined || extensionOf(logo.file) !== `.${extension}`) return undefined;
    return { path: this.#options.files.player(playerId, logo.file), bytes: logo.bytes, name: logo.file };
  }

  /** Unsets removed themes on rows that still name them, and deletes files that a crash left. */
  async detachRemoved(): Promise<number> {
    let count = 0;
    for (const playerId of this.#store.removed()) {
      for (let isDone = false; !isDone; ) {
        if (count >= maxDetachedPerRun) return count;
        const { rows, isDetached } = this.#store.detachSome(playerId);
        count += rows;
        isDone = isDetached;
        await yieldToEventLoop();
      }
      await this.#removeFolder(playerId);
      this.#store.forget(playerId);
    }
    return count;
  }

  #requirePlayer(projectId: string, playerId: string): Player {
    const player = this.find(projectId, playerId);
    if (player !== undefined) return player;
    throw notFoundError('playerId');
  }

  async #removeFolder(playerId: string): Promise<void> {
    await rm(this.#options.files.player(playerId), { recursive: true, force: true });
  }
}

function extensionOf(file: string): string {
  return file.slice(file.lastIndexOf('.'));
}
