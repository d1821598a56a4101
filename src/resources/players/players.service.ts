import { rm, rmdir } from 'node:fs/promises';
import { type ImageRules, readUploadedImage } from '../../http/bodies/uploaded-image.ts';
import type { UploadedFile } from '../../http/routing/route.ts';
import { attributeError } from '../../http/routing/validation.ts';
import { type Clock, formatAtom } from '../../shared/clock.ts';
import { AppError } from '../../shared/errors.ts';
import { newId, newUuid } from '../../shared/ids.ts';
import { yieldToEventLoop } from '../../shared/scheduling/yield-to-event-loop.ts';
import type { MediaFiles } from '../../storage/media-files.ts';
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

/** Images that may be logos. */
export const logoImage: ImageRules = {
  types: ['image/jpeg', 'image/png'],
  maxBytes: 100 * 1_024,
  maxSidePixels: 200,
  maxHeightPixels: 100,
  wrongTypeTitle: "Only ['jpg', 'JPG', 'jpeg', 'JPEG', 'png', 'PNG'] extensions are supported.",
};

const maxLinkChars = 2_048;
/** Rows that one {@link PlayersService.detachRemoved} frees at most, in small steps; the rest waits for the next. */
const maxDetachedPerRun = 100_000;

/** What player themes are kept with. */
export interface PlayersOptions {
  readonly store: PlayersStore;
  readonly files: MediaFiles;
  /** Base of asset addresses, without a slash at its end. */
  readonly baseUrl: () => string;
  readonly clock: Clock;
}

/** What a page that plays shows of a theme. `logo`: path of the image, another one with each upload. */
export interface PlayerPageTheme {
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
 * What a caller can do with player themes, and what viewers' pages get of them. A logo's file is in place before its row says so
 * and goes after it; what a crash leaves goes with its theme, or soon after the next start when the theme is gone.
 */
export class PlayersService {
  readonly #options: PlayersOptions;
  readonly #store: PlayersStore;

  constructor(options: PlayersOptions) {
    this.#options = options;
    this.#store = options.store;
  }

  /** A theme of a project. */
  find(projectId: string, playerId: string): Player | undefined {
    return this.#store.find(projectId, playerId);
  }

  /** Whether a project has a theme. */
  exists(projectId: string, playerId: string): boolean {
    return this.find(projectId, playerId) !== undefined;
  }

  /** Whether a theme that a video or live stream names is gone. */
  isRemoved(playerId: string): boolean {
    return this.#store.isRemoved(playerId);
  }

  /** One page of a project's themes, and how many there are on all pages. */
  list(...query: Parameters<PlayersStore['list']>): { views: PlayerView[]; total: number } {
    const { players, total } = this.#store.list(...query);
    return { views: players.map(player => this.view(player)), total };
  }

  /** A theme as its owner sees it. */
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

  /** Makes a theme; what is not given is as usual. */
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

  /** Changes what is given. @throws AppError `resource-not-found` when the theme went while the request came in */
  change({ projectId, playerId }: Player, changes: PlayerChanges): PlayerView {
    const player = this.#requirePlayer(projectId, playerId);
    const name = changes.name === undefined ? player.name : (changes.name ?? undefined);
    const look = applyPlayerChanges(player.look, changes);
    this.#store.change(playerId, { name, look }, this.#options.clock.nowMs());
    return this.view(this.#requirePlayer(projectId, playerId));
  }

  /** Removes a theme; the videos and live streams that named it have none from then on. */
  async remove({ playerId }: Player): Promise<void> {
    const isFree = this.#store.remove(playerId);
    await this.#removeFolder(playerId);
    if (isFree) this.#store.forget(playerId);
  }

  /**
   * Shows a received image in the player, in place of any other; `link` of the form is where it leads.
   *
   * @throws AppError of the `uploaded-file-` codes when it can be no logo; `invalid-attribute` for a link that is too long;
   *   `resource-not-found` when the theme went meanwhile
   */
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
    await files.publish(file.path, files.player(playerId, name));
    let unusedFile: string | undefined = name;
    try {
      const before = this.#requirePlayer(projectId, playerId).logo;
      this.#store.setLogo(playerId, { file: name, bytes: file.bytes, link }, clock.nowMs());
      unusedFile = before?.file;
    } finally {
      if (unusedFile !== undefined) await this.#removeFile(playerId, unusedFile);
    }
    return this.view(this.#requirePlayer(projectId, playerId));
  }

  /** Takes the logo and its link away. */
  async removeLogo({ projectId, playerId }: Player): Promise<void> {
    const { logo } = this.#requirePlayer(projectId, playerId);
    this.#store.setLogo(playerId, undefined, this.#options.clock.nowMs());
    if (logo !== undefined) await this.#removeFile(playerId, logo.file);
  }

  /** What pages show of a theme, whosever it is; undefined when there is none (any more). */
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

  /** The file of a theme's logo, if it is of this format; for delivery. */
  logoFile(
    playerId: string,
    extension: 'png' | 'jpg',
  ): { readonly path: string; readonly bytes: number; readonly name: string } | undefined {
    const logo = this.#store.findAny(playerId)?.logo;
    if (logo === undefined || extensionOf(logo.file) !== `.${extension}`) return undefined;
    return { path: this.#options.files.player(playerId, logo.file), bytes: logo.bytes, name: logo.file };
  }

  /**
   * Takes themes that are gone off what names them still, as far as that was too much at once, and removes files that a crash left.
   * How many rows were changed.
   */
  async detachRemoved(): Promise<number> {
    let count = 0;
    for (const playerId of this.#store.removed()) {
      for (let isDone = false; !isDone; ) {
        if (count >= maxDetachedPerRun) return count;
        const { freed, isFree } = this.#store.detachSome(playerId);
        count += freed;
        isDone = isFree;
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
    throw new AppError('resource-not-found', undefined, { details: { name: 'playerId' } });
  }

  async #removeFolder(playerId: string): Promise<void> {
    await rm(this.#options.files.player(playerId), { recursive: true, force: true });
  }

  async #removeFile(playerId: string, name: string): Promise<void> {
    const { files } = this.#options;
    await rm(files.player(playerId, name), { force: true });
    // Not empty while another logo has taken the place of this one.
    await rmdir(files.player(playerId)).catch(() => {});
  }
}

function extensionOf(file: string): string {
  return file.slice(file.lastIndexOf('.'));
}
