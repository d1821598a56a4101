import { Readable } from 'node:stream';

/** A file that is open for reading, in the data folder or in object storage. `FileHandle` has this shape. */
export interface OpenedFile {
  /** Fewer bytes than asked for do not mean the end; 0 does. */
  read(
    into: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
  /** Ends reads that are under way, or awaits them. Can be called twice. */
  close(): Promise<void>;
}

/** @throws Error with the code `ENOENT` when it is missing */
export type OpenFile = (path: string) => Promise<OpenedFile>;

/** Finished files that many read. */
export interface ReadableFiles {
  readonly open: OpenFile;
  /** Undefined when it is missing. `etag` is quoted and strong. */
  find(path: string): Promise<{ readonly bytes: number; readonly etag: string } | undefined>;
}

/** All bytes of a file, which is closed when the stream is. */
export function streamOf(file: OpenedFile): Readable {
  let position = 0;
  return new Readable({
    read(bytes) {
      const chunk = Buffer.allocUnsafe(bytes);
      file.read(chunk, 0, bytes, position).then(
        ({ bytesRead }) => {
          position += bytesRead;
          this.push(bytesRead === 0 ? null : chunk.subarray(0, bytesRead));
        },
        (error: Error) => this.destroy(error),
      );
    },
    destroy(error, done) {
      file.close().then(
        () => done(error),
        (closeError: Error) => done(error ?? closeError),
      );
    },
  });
}
