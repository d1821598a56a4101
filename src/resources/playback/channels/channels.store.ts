import type { Connection } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { Row } from '../../../store/tables.ts';
import { type Channel, type ChannelChanges, type ChannelLogo, newChannel } from './channel.ts';

/** Columns without the bytes of the logo. */
const columns = [
  'is_enabled',
  'slug',
  'name',
  'description',
  'accent_color',
  'logo_type',
  'updated_at_ms',
] as const;

export class ChannelsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(projectId: string, connection: Connection = this.#database): Promise<Channel> {
    const row = await connection.first(
      connection.queries.selectFrom('channels').select(columns).where('project_id', '=', projectId),
    );
    return row === undefined ? newChannel : channelFrom(row);
  }

  async isTaken(slug: string, projectId: string, connection: Connection): Promise<boolean> {
    const other = connection.queries
      .selectFrom('channels')
      .select('project_id')
      .where('slug', '=', slug)
      .where('project_id', '!=', projectId);
    return (await connection.first(other)) !== undefined;
  }

  /** True when the project is the production of this pair. */
  async isOfPair(projectId: string, pairId: string): Promise<boolean> {
    const row = await this.#database.first(
      this.#database.queries
        .selectFrom('projects')
        .select('id')
        .where('id', '=', projectId)
        .where('pair_id', '=', pairId)
        .where('environment', '=', 'production'),
    );
    return row !== undefined;
  }

  async change(
    projectId: string,
    { enabled, slug, name, description, accentColor }: ChannelChanges,
    atMs: number,
    connection: Connection,
  ): Promise<void> {
    const changes = {
      ...(enabled === undefined ? {} : { is_enabled: Number(enabled) }),
      ...(slug === undefined ? {} : { slug }),
      ...(name === undefined ? {} : { name }),
      ...(description === undefined ? {} : { description }),
      ...(accentColor === undefined ? {} : { accent_color: accentColor }),
      updated_at_ms: atMs,
    };
    await this.#write(projectId, changes, connection);
  }

  async setLogo(projectId: string, logo: ChannelLogo | undefined, atMs: number): Promise<void> {
    const changes = {
      logo: logo?.body ?? null,
      logo_type: logo?.contentType ?? null,
      updated_at_ms: atMs,
    };
    await this.#write(projectId, changes, this.#database);
  }

  async #write(
    projectId: string,
    changes: Partial<Row<'channels'>> & { updated_at_ms: number },
    connection: Connection,
  ): Promise<void> {
    await connection.run(
      connection.queries
        .insertInto('channels')
        .values({ project_id: projectId, is_enabled: 0, name: '', description: '', ...changes })
        .onConflict(conflict => conflict.column('project_id').doUpdateSet(changes)),
    );
  }
}

function channelFrom(row: Pick<Row<'channels'>, (typeof columns)[number]>): Channel {
  return {
    isEnabled: row.is_enabled === 1,
    slug: row.slug ?? undefined,
    name: row.name,
    description: row.description,
    accentColor: row.accent_color ?? undefined,
    hasLogo: row.logo_type !== null,
    updatedAtMs: row.updated_at_ms,
  };
}
