import type { Connection } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';

/** The texts that are generated for new videos of a project. */
interface VideoDefaults {
  readonly transcript: boolean;
  readonly transcriptSummary: boolean;
  /** Applies to recordings, too. */
  readonly recordings: boolean;
}

export class VideoDefaultsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(projectId: string, connection: Connection = this.#database): Promise<VideoDefaults> {
    const row = await connection.first(
      connection.queries
        .selectFrom('projects')
        .select(['has_transcripts', 'has_summaries', 'has_recording_texts'])
        .where('id', '=', projectId),
    );
    return {
      transcript: row?.has_transcripts === 1,
      transcriptSummary: row?.has_summaries === 1,
      recordings: row?.has_recording_texts === 1,
    };
  }

  /** Leaves what is undefined. */
  async change(
    projectId: string,
    { transcript, transcriptSummary, recordings }: { [Name in keyof VideoDefaults]?: boolean | undefined },
  ): Promise<void> {
    const changes = {
      ...(transcript === undefined ? {} : { has_transcripts: Number(transcript) }),
      ...(transcriptSummary === undefined ? {} : { has_summaries: Number(transcriptSummary) }),
      ...(recordings === undefined ? {} : { has_recording_texts: Number(recordings) }),
    };
    if (Object.keys(changes).length === 0) return;
    await this.#database.run(
      this.#database.queries.updateTable('projects').set(changes).where('id', '=', projectId),
    );
  }
}
