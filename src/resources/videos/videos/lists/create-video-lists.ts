import type { Database } from '../../../../store/database.ts';
import { SqliteDatabase } from '../../../../store/sqlite-database.ts';
import { PostgresVideoLists } from './postgres-video-lists.store.ts';
import { SqliteVideoLists } from './sqlite-video-lists.store.ts';
import type { VideoLists } from './video-lists.ts';

export function createVideoLists(database: Database): VideoLists {
  return database instanceof SqliteDatabase
    ? new SqliteVideoLists(database)
    : new PostgresVideoLists(database);
}
