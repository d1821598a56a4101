import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

/**
 * Makes the server of a data folder leave out thumbnails and storyboards, which start three programs for each video, or make them again. The
 * folder must have its SQLite database.
 */
export function leaveOutImages(dataDir: string, isLeftOut = true): void {
  const database = new Sqlite(join(dataDir, 'millrace.db'), { timeout: 5000 });
  try {
    database.exec(
      isLeftOut
        ? "CREATE TRIGGER IF NOT EXISTS no_images BEFORE INSERT ON jobs WHEN NEW.kind = 'stills' BEGIN SELECT RAISE(IGNORE); END"
        : 'DROP TRIGGER no_images',
    );
  } finally {
    database.close();
  }
}
