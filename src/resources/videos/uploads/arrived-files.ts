import type { UploadedFile } from '../../../http/routing/route.ts';
import { AppError, mayBeCommitted } from '../../../shared/errors.ts';
import { newUuid } from '../../../shared/ids.ts';
import type { Transaction } from '../../../store/connection.ts';
import type { Database } from '../../../store/database.ts';
import type { SourceFiles } from './source-files.ts';

export interface StoredUpload {
  readonly videoId: string;
  /** Place of the file below the data folder; undefined when the same bytes are stored already. */
  readonly path: string | undefined;
}

interface Arrival {
  readonly file: UploadedFile;
  /** Number of its first byte or part. */
  readonly first: number;
  /** Video that the file is most likely for. */
  readonly findVideo: () => Promise<string>;
}

/**
 * Stores the rows of an upload in one transaction with its file.
 * @param chunkFile name of the file in object storage; null while it is to be moved below the data folder
 */
type StoreRows = (chunkFile: string | null, transaction: Transaction) => Promise<StoredUpload>;

/** A file is stored before a row names it, so that no acknowledged one can be lost. */
export class ArrivedFiles {
  readonly #database: Database;
  readonly #files: SourceFiles;

  constructor(options: { database: Database; files: SourceFiles }) {
    this.#database = options.database;
    this.#files = options.files;
  }

  /** @returns the video of the file */
  store(arrival: Arrival, storeRows: StoreRows): Promise<string> {
    return this.#files.areLocal ? this.#move(arrival, storeRows) : this.#publish(arrival, storeRows);
  }

  async #move({ file }: Arrival, storeRows: StoreRows): Promise<string> {
    await this.#files.syncToDisk(file);
    let moved: { readonly path: string; readonly inode: number } | undefined;
    const storeAndMove = async (transaction: Transaction) => {
      const stored = await storeRows(null, transaction);
      // Last, because statements can be rolled back and a move cannot. They may run again, after the move.
      if (stored.path !== undefined) {
        const inode = this.#files.move(moved?.path ?? file.path, stored.path);
        moved = { path: stored.path, inode };
      }
      return stored;
    };
    const { videoId, path } = await this.#database.transaction(storeAndMove).catch((error: unknown) => {
      // On a full disk, it must not take the room until the sweep.
      if (moved !== undefined && !mayBeCommitted(error)) this.#files.removeMoved(moved.path, moved.inode);
      throw error;
    });
    if (path !== undefined) await this.#files.syncFolderOf(path);
    return videoId;
  }

  async #publish({ file, first, findVideo }: Arrival, storeRows: StoreRows): Promise<string> {
    const chunk = { first, file: `${first}-${newUuid()}` };
    let folder = await findVideo();
    await this.#files.publishChunk(file.path, folder, chunk);
    const storeRowsOf = (videoId: string) =>
      this.#database.transaction(async transaction => {
        const stored = await storeRows(chunk.file, transaction);
        if (stored.path !== undefined && stored.videoId !== videoId) throw new OtherVideo(stored.videoId);
        return stored;
      });
    try {
      const stored = await storeRowsOf(folder).catch(async (error: unknown) => {
        if (!(error instanceof OtherVideo)) throw error;
        // Chunks of the same file that arrive at once may have created another video.
        await this.#files.moveChunk(folder, error.videoId, chunk);
        folder = error.videoId;
        return storeRowsOf(folder);
      });
      if (stored.path === undefined) await this.#discard(folder, chunk);
      return stored.videoId;
    } catch (error) {
      // Leaves the chunk to the sweep unless the transaction has certainly failed.
      if (!mayBeCommitted(error)) await this.#discard(folder, chunk);
      if (error instanceof OtherVideo)
        throw new AppError('not-ready', 'The upload is changing. Send the chunk again.');
      throw error;
    }
  }

  /** The sweep removes it when this fails. */
  async #discard(videoId: string, chunk: { readonly first: number; readonly file: string }): Promise<void> {
    await this.#files.removeChunk(videoId, chunk).catch(() => {});
  }
}

class OtherVideo extends Error {
  readonly videoId: string;

  constructor(videoId: string) {
    super(`the file belongs to ${videoId}`);
    this.videoId = videoId;
  }
}
