import { readFile } from 'node:fs/promises';
import { readUploadedImage } from '../../../http/bodies/uploaded-image.ts';
import type { Caller } from '../../../http/routing/caller.ts';
import type { UploadedFile } from '../../../http/routing/route.ts';
import { attributeError } from '../../../http/routing/validation.ts';
import type { Clock } from '../../../shared/clock.ts';
import type { Database } from '../../../store/database.ts';
import { type Channel, type ChannelChanges, channelLogo } from './channel.ts';
import type { ChannelView } from './channels.schema.ts';
import type { ChannelsStore } from './channels.store.ts';

interface ChannelsOptions {
  readonly database: Database;
  readonly store: ChannelsStore;
  /** Base URL without a trailing slash. */
  readonly baseUrl: () => string;
  /** The project whose channel is the front page of the server. */
  readonly frontPage: string | undefined;
  readonly clock: Clock;
}

export class ChannelsService {
  readonly #options: ChannelsOptions;

  constructor(options: ChannelsOptions) {
    this.#options = options;
  }

  async view(projectId: string): Promise<ChannelView> {
    const { store, frontPage } = this.#options;
    const channel = await store.find(projectId);
    const isFrontPage =
      frontPage !== undefined && channel.isEnabled && (await store.isOfPair(projectId, frontPage));
    return this.#viewOf(channel, isFrontPage);
  }

  /** @throws AppError `invalid-attribute` for an address that is taken, and for a channel that cannot be turned on */
  async change({ projectId, environment }: Caller, changes: ChannelChanges): Promise<ChannelView> {
    const { database, store, clock } = this.#options;
    if (environment === 'sandbox') {
      const only = 'Only production has a channel. Use a key of production.';
      if (changes.enabled === true) throw attributeError('enabled', only);
      if (typeof changes.slug === 'string') throw attributeError('slug', only);
    }
    await database.transaction(async transaction => {
      const { slug } = changes;
      if (typeof slug === 'string') {
        await transaction.lock('channel-slug', slug);
        if (await store.isTaken(slug, projectId, transaction))
          throw attributeError(
            'slug',
            'Another channel of this server has this address. Choose another one.',
          );
      }
      await store.change(projectId, changes, clock.nowMs(), transaction);
      const channel = await store.find(projectId, transaction);
      if (!channel.isEnabled) return;
      if (channel.slug === undefined)
        throw attributeError('slug', 'A channel needs an address before it can be turned on.');
      if (channel.name === '')
        throw attributeError('name', 'A channel needs a name before it can be turned on.');
    });
    return this.view(projectId);
  }

  async setLogo(projectId: string, file: UploadedFile): Promise<ChannelView> {
    const { store, clock } = this.#options;
    const { type } = await readUploadedImage(file, channelLogo);
    await store.setLogo(projectId, { body: await readFile(file.path), contentType: type }, clock.nowMs());
    return this.view(projectId);
  }

  removeLogo(projectId: string): Promise<void> {
    return this.#options.store.setLogo(projectId, undefined, this.#options.clock.nowMs());
  }

  #viewOf({ isEnabled, slug, ...channel }: Channel, isFrontPage: boolean): ChannelView {
    const { name, description, accentColor, hasLogo, updatedAtMs } = channel;
    const page = isEnabled && slug !== undefined ? `${this.#options.baseUrl()}/channel/${slug}` : undefined;
    return {
      enabled: isEnabled,
      slug,
      name,
      description,
      accentColor,
      logo: page !== undefined && hasLogo ? `${page}/logo?v=${updatedAtMs}` : undefined,
      hasLogo,
      url: isFrontPage ? `${this.#options.baseUrl()}/` : page,
    };
  }
}
